use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::runner::{BotMoveError, GameRunner, Player};
use crate::rules::{Ending, EpisodeSeed, Variant};

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

/// Games that a thread takes from the queue at a time.
const CHUNK: u64 = 64;

/// Plays episode 0 of these games of a seed, dealt as in a batch of that seed. `players[seat]`
/// plays in all of them. The outcomes are in the order of the games.
///
/// # Errors
/// A [`BotMoveError`] if a bot chose an illegal move.
///
/// # Panics
/// If a player is [`Player::External`].
pub fn play_games(
    variant: &Arc<Variant>,
    players: &[Player],
    seed: u64,
    games: Range<u64>,
    threads: usize,
) -> Result<Vec<Outcome>, BotMoveError> {
    let outcomes =
        play_games_until(&AtomicBool::new(false), variant, players, seed, games, threads);
    Ok(outcomes?.expect("nothing stops the games"))
}

/// As [`play_games`], but `None` if `stop` was set before the last game began.
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
    games: Range<u64>,
    threads: usize,
) -> Result<Option<Vec<Outcome>>, BotMoveError> {
    let next = AtomicU64::new(games.start);
    let play = || {
        let seed = |game| EpisodeSeed { seed, game, episode: 0 };
        let mut runner = GameRunner::new(variant.clone(), players.to_vec(), seed(games.start));
        let mut chunks = Vec::new();
        loop {
            let first = next.fetch_add(CHUNK, Ordering::Relaxed);
            if first >= games.end {
                return Ok(Some(chunks));
            }
            let mut outcomes = Vec::with_capacity(CHUNK as usize);
            for game in first..games.end.min(first + CHUNK) {
                if stop.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                runner.start(seed(game));
                runner.run()?;
                outcomes.push(Outcome::of(&runner).expect("no player is external"));
            }
            chunks.push((first, outcomes));
        }
    };
    let threads = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(play)).collect();
        let own = play();
        let others = others.into_iter().map(|other| other.join().expect("bots do not panic"));
        [own].into_iter().chain(others).collect::<Result<Vec<_>, BotMoveError>>()
    })?;
    let Some(chunks) = threads.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    let mut chunks = chunks.concat();
    chunks.sort_unstable_by_key(|&(first, _)| first);
    Ok(Some(chunks.into_iter().flat_map(|(_, outcomes)| outcomes).collect()))
}
