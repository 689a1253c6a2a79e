//! Many games on several threads.

use std::collections::TryReserveError;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use thiserror::Error;

use super::policy::{PolicyBot, PolicyRows, run_together};
use super::runner::{BotMoveError, GameRunner, Player};
use super::turn_values::TurnValues;
use crate::buffers::try_with_capacity;
use crate::rules::{Ending, EpisodeSeed, Recording, Variant};
use crate::threads::{is_set, share};

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
            ending: position.ending?,
        })
    }
}

/// The most games that a thread takes at a time. It takes fewer if there are few games, so that all
/// threads get some: a bot may need seconds for a game.
const PIECE: usize = 64;

/// The results of games, in their order.
#[derive(Clone, Debug, Default)]
pub struct PlayedGames {
    /// The outcomes.
    pub outcomes: Vec<Outcome>,
    /// The same games as decks and actions; empty unless they were asked for.
    pub recording: Recording,
    /// What bots that value the legal moves found out; `None` unless the games were recorded and
    /// there is such a bot.
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

/// Why games have no outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GamesError {
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
/// [`GamesError`] if a bot chose an illegal move, or if there is no memory for the outcomes.
///
/// # Panics
/// If a player is [`Player::External`].
pub fn play_games(
    variant: &Arc<Variant>,
    players: &[Player],
    seed: u64,
    games: Range<u64>,
    threads: usize,
) -> Result<Vec<Outcome>, GamesError> {
    let stop = &AtomicBool::new(false);
    let mut list =
        try_with_capacity(usize::try_from(games.end - games.start).unwrap_or(usize::MAX))?;
    list.extend(games);
    let played = play_games_until(stop, variant, players, seed, &list, threads, false);
    Ok(played?.expect("nothing stops the games").outcomes)
}

/// As [`play_games`], for a list of games in any order; `None` if `stop` was set before the last
/// game ended. With `records` set, the games are recorded too.
///
/// # Errors
/// As [`play_games`].
///
/// # Panics
/// If a player is [`Player::External`].
pub fn play_games_until(
    stop: &AtomicBool,
    variant: &Arc<Variant>,
    players: &[Player],
    seed: u64,
    games: &[u64],
    threads: usize,
    records: bool,
) -> Result<Option<PlayedGames>, GamesError> {
    let outcomes = try_with_capacity(games.len())?;
    let size = (games.len() / (8 * threads.max(1))).clamp(1, PIECE);
    let pieces = games.len().div_ceil(size);
    let mut found = try_with_capacity(pieces)?;
    found.resize_with(pieces, || Ok(None));
    let mut workers: Vec<Option<Worker>> =
        std::iter::repeat_with(|| None).take(threads.min(pieces).max(1)).collect();
    share(games.chunks(size).zip(&mut found), &mut workers, |worker, (games, found)| {
        let worker = worker.get_or_insert_with(|| Worker::new(variant, players, size));
        *found = worker.play(stop, seed, games, records);
        matches!(found, Ok(Some(_)))
    });
    let mut played = PlayedGames { outcomes, ..PlayedGames::default() };
    for piece in found {
        let Some(piece) = piece? else { return Ok(None) };
        played.append(&piece)?;
    }
    Ok(Some(played))
}

/// What a thread needs to play games.
struct Worker {
    /// Games with policies are played side by side.
    runners: Vec<GameRunner>,
    rows: PolicyRows,
}

impl Worker {
    /// For pieces of so many games.
    fn new(variant: &Arc<Variant>, players: &[Player], size: usize) -> Worker {
        let runner = GameRunner::new(variant.clone(), players.to_vec(), EpisodeSeed::default());
        let together = if runner.has_bot::<PolicyBot>() { size } else { 1 };
        Worker { runners: vec![runner; together], rows: PolicyRows::default() }
    }

    /// Plays some games; `None` if `stop` was set before the last one ended.
    fn play(
        &mut self,
        stop: &AtomicBool,
        seed: u64,
        games: &[u64],
        records: bool,
    ) -> Result<Option<PlayedGames>, GamesError> {
        let mut played = PlayedGames::default();
        played.outcomes.try_reserve_exact(games.len())?;
        for games in games.chunks(self.runners.len()) {
            let mut started: Vec<&mut GameRunner> =
                self.runners.iter_mut().take(games.len()).collect();
            for (runner, &game) in started.iter_mut().zip(games) {
                runner.start(EpisodeSeed { seed, game, episode: 0 });
            }
            let mut failure = None;
            run_together(&mut started, &mut self.rows, stop, |_, error| {
                failure = failure.take().or(Some(error))
            });
            failure.map_or(Ok(()), Err)?;
            if is_set(stop) {
                return Ok(None);
            }
            for runner in &started {
                played.outcomes.push(Outcome::of(runner).expect("no player is external"));
                if records {
                    played.record(runner)?;
                }
            }
        }
        Ok(Some(played))
    }
}
