//! Many games on several threads.

use std::collections::TryReserveError;
use std::sync::Arc;

use super::advance::{AdvanceScratch, advance};
use super::player::{GamesError, Player, check_players};
use super::runner::{BotTurns, GameRunner, Outcome};
use super::turn_values::TurnValues;
use crate::buffers::try_with_capacity;
use crate::rules::{EpisodeSeed, Recording, Variant};
use crate::threads::{MAX_THREADS, for_each_piece, is_stopped};

/// The most games that a thread takes at a time. It takes fewer if there are few games, so that all
/// threads get some: a bot may need seconds for a game.
const GAMES_PER_PIECE: usize = 64;

/// Games that were played, in their order.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlayedGames {
    /// The results.
    pub outcomes: Vec<Outcome>,
    /// The same games as decks and actions.
    pub recording: Recording,
    /// `None` unless a bot values the legal moves.
    pub(crate) turn_values: Option<TurnValues>,
}

impl PlayedGames {
    fn new(variant: Arc<Variant>) -> PlayedGames {
        PlayedGames { outcomes: Vec::new(), recording: Recording::new(variant), turn_values: None }
    }

    /// Records the runner's game.
    fn record(&mut self, runner: &GameRunner) -> Result<(), TryReserveError> {
        runner.record(&mut self.recording)?;
        match runner.values() {
            Some(turns) => self.turn_values.get_or_insert_default().append(turns),
            None => Ok(()),
        }
    }

    /// Adds games behind these.
    fn append(&mut self, other: &PlayedGames) -> Result<(), TryReserveError> {
        self.outcomes.extend(&other.outcomes);
        self.recording.append(&other.recording)?;
        if let Some(values) = &other.turn_values {
            self.turn_values.get_or_insert_default().append(values)?;
        }
        Ok(())
    }
}

/// How [`play_games`] deals and plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GamesOptions {
    /// The seed of all games.
    pub seed: u64,
    /// The number of threads that play the games; see [`MAX_THREADS`](crate::batch::MAX_THREADS). If a
    /// thread cannot be started, the others play its games.
    pub num_threads: usize,
}

impl GamesOptions {
    /// The games of this seed on one thread.
    #[must_use]
    pub const fn seeded(seed: u64) -> GamesOptions {
        GamesOptions { seed, num_threads: 1 }
    }
}

impl Default for GamesOptions {
    /// Seed 0 and one thread.
    fn default() -> GamesOptions {
        GamesOptions::seeded(0)
    }
}

/// Plays episode 0 of these games of a seed, dealt as in a batch of that seed. `players[seat]`
/// plays in all of them. The games may have any numbers, such as `0..1000` or `[3, 8]`; the results are
/// in the same order.
///
/// # Errors
/// [`GamesError`] if there are more or fewer players than seats, if one does not support the variant
/// or is [`Player::External`], if a bot chose an illegal move, or if there is no memory for the
/// games.
///
/// # Panics
/// If the blueprint of a [`Searcher`](crate::search::Searcher) chooses an illegal move in an imagined
/// game.
pub fn play_games(
    variant: impl Into<Arc<Variant>>,
    players: &[Player],
    games: impl IntoIterator<Item = u64>,
    options: GamesOptions,
) -> Result<PlayedGames, GamesError> {
    let games = games.into_iter();
    let mut numbers = try_with_capacity(games.size_hint().0)?;
    numbers.extend(games);
    play_listed_games(&variant.into(), players, &numbers, options)
}

/// As [`play_games`], without a copy of the numbers.
pub(crate) fn play_listed_games(
    variant: &Arc<Variant>,
    players: &[Player],
    games: &[u64],
    options: GamesOptions,
) -> Result<PlayedGames, GamesError> {
    let GamesOptions { seed, num_threads } = options;
    check_players(variant, players)?;
    if players.iter().any(|player| matches!(player, Player::External)) {
        return Err(GamesError::External);
    }
    let outcomes = try_with_capacity(games.len())?;
    let size = (games.len() / num_threads.max(1).saturating_mul(8)).clamp(1, GAMES_PER_PIECE);
    let number = games.len().div_ceil(size);
    let mut pieces = try_with_capacity(number)?;
    pieces.resize_with(number, || Err(GamesError::Stopped));
    let mut workers: Vec<Option<Worker>> = std::iter::repeat_with(|| None)
        .take(num_threads.min(number).clamp(1, MAX_THREADS))
        .collect();
    for_each_piece(games.chunks(size).zip(&mut pieces), &mut workers, |worker, (games, piece)| {
        let worker = worker.get_or_insert_with(|| Worker::new(variant, players, size));
        *piece = worker.play(seed, games);
        piece.is_ok()
    });
    let mut played = PlayedGames { outcomes, ..PlayedGames::new(variant.clone()) };
    for piece in pieces {
        played.append(&piece?)?;
    }
    Ok(played)
}

/// What a thread needs to play games.
struct Worker {
    /// Games with policies are played side by side.
    runners: Vec<GameRunner>,
    scratch: AdvanceScratch,
}

impl Worker {
    /// For pieces of this number of games.
    fn new(variant: &Arc<Variant>, players: &[Player], size: usize) -> Worker {
        let runner = GameRunner::new(variant.clone(), players.to_vec(), EpisodeSeed::default())
            .expect("the players were checked");
        let together = if runner.has_policy() { size } else { 1 };
        Worker { runners: vec![runner; together], scratch: AdvanceScratch::default() }
    }

    fn play(&mut self, seed: u64, games: &[u64]) -> Result<PlayedGames, GamesError> {
        let mut played = PlayedGames::new(self.runners[0].variant().clone());
        played.outcomes.try_reserve_exact(games.len())?;
        let Worker { runners, scratch } = self;
        for games in games.chunks(runners.len()) {
            let started = &mut runners[..games.len()];
            for (runner, &game) in started.iter_mut().zip(games) {
                runner.start(EpisodeSeed { seed, game, episode: 0 });
            }
            let mut failure = None;
            scratch.open.extend(0..games.len());
            advance(started, BotTurns::UntilExternal, scratch, |index, _, source| {
                failure = failure.take().or(Some(GamesError::Game { game: games[index], source }));
            });
            failure.map_or(Ok(()), Err)?;
            if is_stopped() {
                return Err(GamesError::Stopped);
            }
            for runner in &*started {
                played.outcomes.push(runner.outcome().expect("no player is external"));
                played.record(runner)?;
            }
        }
        Ok(played)
    }
}
