use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::table::{BotMoveError, Player, Table};
use crate::rules::{Ending, EpisodeSeed, Variant};

/// What came of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The score by the variant's rules.
    pub score: u8,
    /// The sum of the fireworks' heights, whatever the ending.
    pub fireworks: u8,
    /// Turns played.
    pub length: usize,
    /// How it ended.
    pub ending: Ending,
}

impl Outcome {
    /// Of the table's game, or `None` while it goes on.
    #[must_use]
    pub fn of(table: &Table) -> Option<Outcome> {
        let position = table.position();
        Some(Outcome {
            score: position.score(table.variant()),
            fireworks: position.fireworks_sum(),
            length: table.length(),
            ending: position.ending()?,
        })
    }
}

/// Games that a thread plays before it asks for more.
const SHARE: u64 = 64;

/// Plays episode 0 of these games of a seed, each as a batch of that seed would deal it. Who sits
/// in which seat is the same in all of them, and nobody is outside. The outcomes are in order.
///
/// # Errors
/// The first [`BotMoveError`] of a game.
///
/// # Panics
/// When a player is outside.
pub fn play_games(
    variant: &Arc<Variant>,
    players: &[Player],
    seed: u64,
    games: Range<u64>,
    threads: usize,
) -> Result<Vec<Outcome>, BotMoveError> {
    let next = AtomicU64::new(games.start);
    let play = || {
        let seed = |game| EpisodeSeed { seed, game, episode: 0 };
        let mut table = Table::new(variant.clone(), players.to_vec(), seed(games.start));
        let mut shares = Vec::new();
        loop {
            let first = next.fetch_add(SHARE, Ordering::Relaxed);
            if first >= games.end {
                return Ok(shares);
            }
            let mut outcomes = Vec::with_capacity(SHARE as usize);
            for game in first..games.end.min(first + SHARE) {
                table.start(seed(game));
                table.run()?;
                outcomes.push(Outcome::of(&table).expect("nobody is outside"));
            }
            shares.push((first, outcomes));
        }
    };
    let mut shares = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(play)).collect();
        let mut shares = play()?;
        for other in others {
            shares.extend(other.join().expect("bots do not panic")?);
        }
        Ok(shares)
    })?;
    shares.sort_unstable_by_key(|&(first, _)| first);
    Ok(shares.into_iter().flat_map(|(_, outcomes)| outcomes).collect())
}
