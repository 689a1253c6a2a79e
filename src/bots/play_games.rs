//! Many games on several threads.

use std::collections::TryReserveError;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use thiserror::Error;

use super::memory::{check_headroom, start_scoped, with_room};
use super::policy::{PolicyBot, PolicyRows, run_together};
use super::runner::{BotMoveError, GameRunner, Player};
use super::stop::is_set;
use super::turn_values::TurnValues;
use crate::rules::{Ending, EpisodeSeed, Recording, Variant};

/// The result of one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The score by the variant's rules.
    pub score: u8,
    /// The sum of the fireworks' heights, of a lost game too.
    pub fireworks: u8,
    /// Number of turns.
    pub length: usize,
    /// How it ended.
    pub ending: Ending,
}

impl Outcome {
    /// The outcome of the runner's game, or `None` before its end.
    #[must_use]
    pub fn of(runner: &GameRunner) -> Option<Outcome> {
        let position = runner.position();
        Some(Outcome {
            score: position.score(runner.variant()),
            fireworks: position.fireworks_sum(),
            length: runner.length(),
            ending: position.ending()?,
        })
    }
}

/// The most games that a thread takes from the queue at a time. It takes fewer if there are few games, so that all threads
/// get some: a bot may need seconds for a game.
const CHUNK: usize = 64;

/// The results of games, in their order.
#[derive(Clone, Debug, Default)]
pub struct PlayedGames {
    /// The outcomes.
    pub outcomes: Vec<Outcome>,
    /// The same games as decks and actions; empty unless they were asked for.
    pub recording: Recording,
    /// What bots that value the legal moves found out; `None` unless the games were recorded and there is such a bot.
    pub values: Option<TurnValues>,
}

impl PlayedGames {
    /// Adds the runner's game to those that are recorded.
    fn record(&mut self, runner: &GameRunner) -> Result<(), TryReserveError> {
        self.recording.add(runner)?;
        match runner.values() {
            Some(turns) => self.values.get_or_insert_default().add(runner.variant(), turns),
            None => Ok(()),
        }
    }

    /// Adds games behind these.
    fn append(&mut self, other: &PlayedGames) -> Result<(), TryReserveError> {
        self.outcomes.extend(&other.outcomes);
        self.recording.append(&other.recording)?;
        if let Some(found) = &other.values {
            self.values.get_or_insert_default().append(found)?;
        }
        Ok(())
    }
}

/// Neighbouring games of a list, with the place of the first.
type Chunk = (usize, PlayedGames);

/// Why games have no outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlayError {
    /// A bot chose an illegal move.
    #[error(transparent)]
    Move(#[from] BotMoveError),
    /// Memory that cannot be allocated.
    #[error("there is no memory for so many games: {0}")]
    Memory(#[from] TryReserveError),
}

/// Plays episode 0 of these games of a seed, dealt as in a batch of that seed. `players[seat]`
/// plays in all of them. The outcomes are in the order of the games. If a thread cannot be started,
/// the others play its games.
///
/// # Errors
/// [`PlayError`] if a bot chose an illegal move, or if there is no memory for the outcomes.
///
/// # Panics
/// If a player is [`Player::External`].
pub fn play_games(
    variant: &Arc<Variant>,
    players: &[Player],
    seed: u64,
    games: Range<u64>,
    threads: usize,
) -> Result<Vec<Outcome>, PlayError> {
    let stop = &AtomicBool::new(false);
    let mut list = with_room(usize::try_from(games.end - games.start).unwrap_or(usize::MAX))?;
    list.extend(games);
    let played = play_games_until(stop, variant, players, seed, &list, threads, false);
    Ok(played?.expect("nothing stops the games").outcomes)
}

/// As [`play_games`], for a list of games in any order; `None` if `stop` was set before the last game
/// ended. With `records` set, the games are recorded too.
///
/// # Errors
/// As [`play_games`].
///
/// # Panics
/// As [`play_games`].
pub fn play_games_until(
    stop: &AtomicBool,
    variant: &Arc<Variant>,
    players: &[Player],
    seed: u64,
    games: &[u64],
    threads: usize,
    records: bool,
) -> Result<Option<PlayedGames>, PlayError> {
    let outcomes = with_room(games.len())?;
    let mut played = PlayedGames { outcomes, ..PlayedGames::default() };
    let (next, gate) = (AtomicUsize::new(0), Mutex::new(()));
    let chunk = (games.len() / (8 * threads.max(1))).clamp(1, CHUNK);
    let play = || {
        drop(gate.lock());
        play_chunks(stop, variant, players, seed, games, &next, chunk, records)
    };
    let threads = thread::scope(|scope| {
        // The threads allocate nothing until the last one has started.
        let closed = gate.lock();
        let others = (1..threads).map_while(|_| start_scoped(scope, play).ok());
        let others: Vec<_> = others.collect();
        drop(closed);
        let own = play();
        let others = others.into_iter().map(|other| other.join().expect("bots do not panic"));
        [own].into_iter().chain(others).collect::<Result<Vec<_>, PlayError>>()
    })?;
    let Some(chunks) = threads.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    let mut chunks: Vec<Chunk> = chunks.into_iter().flatten().collect();
    chunks.sort_unstable_by_key(|&(first, _)| first);
    for (_, chunk) in chunks {
        played.append(&chunk)?;
    }
    Ok(Some(played))
}

/// Takes so many games at a time from the queue until none is left, or `None` if `stop` is set.
#[expect(
    clippy::too_many_arguments,
    reason = "the arguments of the call, and how its threads share the games"
)]
fn play_chunks(
    stop: &AtomicBool,
    variant: &Arc<Variant>,
    players: &[Player],
    seed: u64,
    games: &[u64],
    next: &AtomicUsize,
    size: usize,
    records: bool,
) -> Result<Option<Vec<Chunk>>, PlayError> {
    check_headroom()?;
    let seed = |game| EpisodeSeed { seed, game, episode: 0 };
    let mut chunks = Vec::new();
    let Some(&any_game) = games.first() else { return Ok(Some(chunks)) };
    let runner = GameRunner::new(variant.clone(), players.to_vec(), seed(any_game));
    // Games with policies are played side by side.
    let together = if runner.has_bot::<PolicyBot>() { size } else { 1 };
    let mut runners = vec![runner; together];
    let mut rows = PolicyRows::default();
    loop {
        let first = next.fetch_add(size, Ordering::Relaxed);
        if first >= games.len() {
            return Ok(Some(chunks));
        }
        let mut chunk = PlayedGames::default();
        chunk.outcomes.try_reserve_exact(size)?;
        for games in games[first..games.len().min(first + size)].chunks(runners.len()) {
            let mut started: Vec<&mut GameRunner> = runners.iter_mut().take(games.len()).collect();
            started.iter_mut().zip(games).for_each(|(runner, &game)| runner.start(seed(game)));
            let mut failure = None;
            run_together(&mut started, &mut rows, stop, |_, error| {
                failure = failure.take().or(Some(error))
            });
            failure.map_or(Ok(()), Err)?;
            if is_set(stop) {
                return Ok(None);
            }
            for runner in &started {
                chunk.outcomes.push(Outcome::of(runner).expect("no player is external"));
                if records {
                    chunk.record(runner)?;
                }
            }
        }
        chunks.try_reserve(1)?;
        chunks.push((first, chunk));
    }
}
