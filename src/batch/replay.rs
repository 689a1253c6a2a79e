//! Recorded games, played again in the rows of a batch.

use std::sync::atomic::AtomicUsize;

use crate::batch::kernel::lanes::LANES;
use crate::batch::options::{AutoresetMode, IllegalAction, Options};
use crate::batch::outputs::Outputs;
use crate::batch::step::Request;
use crate::batch::step::next_games::{NONE, NextGames};
use crate::batch::{Batch, BatchError, Games, reserve};
use crate::rules::{BitIndices, Recording};

/// A replay of recorded games. Row `i` of `n` plays games `i`, `i + n`, `i + 2n` and so on, each
/// from its deal to its last recorded action; games without an action are left out. What a row
/// shows depends on the games and on `n` alone, not on the number of threads.
///
/// ```
/// use starmine::batch::{Options, Outputs, Replay};
/// use starmine::bots::{GamesOptions, play_games};
/// use starmine::players::PlayerSpec;
/// use starmine::rules::Variant;
///
/// let variant = Variant::default();
/// let smart: PlayerSpec = "smart".parse()?;
/// let players = [smart.player(&variant)?, smart.player(&variant)?];
/// let played = play_games(variant, &players, 0..100, GamesOptions::seeded(1))?;
/// let num_turns: usize = played.outcomes.iter().map(|outcome| outcome.length).sum();
///
/// let mut replay = Replay::new(played.recording, 16, Options::default())?;
/// let mut obs = vec![0.0; 16 * replay.batch().row_length()];
/// let mut shown = 0;
/// loop {
///     let obs = Some(obs.as_mut_slice().into());
///     replay.step(Outputs { obs, ..Outputs::default() })?;
///     if replay.num_live() == 0 {
///         break;
///     }
///     shown += replay.num_live();
/// }
/// assert_eq!(shown, num_turns);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Replay {
    batch: Batch,
    games: Recording,
    /// This and the next two have the types of Python's arrays.
    current_games: Vec<i64>,
    turns: Vec<i32>,
    actions: Vec<i64>,
    places: Vec<ActionRange>,
    /// For each block the rows whose games leave in the next step, one bit each.
    leaving: Vec<u8>,
    /// For each row the game that follows, or [`NONE`].
    next: Vec<usize>,
    /// The number of rows in a game.
    num_live: usize,
    is_broken: bool,
}

/// Where the actions of a row's game are.
#[derive(Clone, Copy, Debug)]
struct ActionRange {
    /// The index of the next action.
    next: usize,
    /// The index of the last one, or [`NONE`] in a row without a game.
    last: usize,
}

impl Replay {
    /// A replay of these games in this number of rows, or in fewer if there are fewer games.
    ///
    /// # Errors
    /// [`BatchError::Recorded`] for a deck or a start player that does not fit the variant,
    /// [`BatchError::ReplayOption`] for an autoreset mode, a mode of illegal actions or partners, and
    /// others for no row, too many, or no memory.
    pub fn new(games: Recording, num_rows: usize, options: Options) -> Result<Replay, BatchError> {
        check_unused(&options)?;
        for game in 0..games.len() {
            if game.is_multiple_of(1 << 12) {
                BatchError::check_stop()?;
            }
            let checked = games.game(game).check_deal();
            checked.map_err(|source| BatchError::Recorded { game, source: source.into() })?;
        }
        let options = Options {
            autoreset_mode: AutoresetMode::Disabled,
            illegal_action: IllegalAction::Terminate,
            ..options
        };
        let rows = num_rows.min(games.len().max(1));
        let mut batch = Batch::without_games(games.variant().clone(), rows, 0, options)?;
        if let Games::Blocks(blocks) = &mut batch.games {
            blocks.decks = copies(None, rows)?;
        }
        let mut replay = Replay {
            batch,
            current_games: copies(-1, rows)?,
            turns: copies(0, rows)?,
            actions: copies(0, rows)?,
            places: copies(ActionRange { next: 0, last: NONE }, rows)?,
            leaving: copies(u8::MAX, rows.div_ceil(LANES))?,
            next: copies(NONE, rows)?,
            games,
            num_live: 0,
            is_broken: false,
        };
        for row in 0..rows {
            replay.next[row] = replay.playable_game(row);
        }
        Ok(replay)
    }

    /// The first game with an action among this one and those that follow it in its row.
    fn playable_game(&self, first: usize) -> usize {
        let mut games = (first..self.games.len()).step_by(self.current_games.len());
        games.find(|&game| !self.games.turns(game).is_empty()).unwrap_or(NONE)
    }

    /// Plays the recorded actions. Where a game has played its last action, the next game begins.
    /// Then it writes the outputs: those of a turn describe the rows before the actions, those of a
    /// position describe the rows after them. The first step deals the first games.
    ///
    /// # Errors
    /// [`BatchError::Recorded`] if an action is not legal; the replay cannot go on then.
    /// [`BatchError::Buffer`] for buffers of a wrong length; nothing has changed.
    pub fn step(&mut self, outputs: Outputs<'_>) -> Result<(), BatchError> {
        if self.is_broken {
            return Err(BatchError::ReplayEnded);
        }
        self.batch.check_whole()?;
        outputs.check(&self.batch.config, self.batch.num_envs())?;
        let wrong = AtomicUsize::new(NONE);
        let Replay { batch, games, leaving, next, actions, .. } = self;
        let next_games = NextGames { games, leaving, next, wrong: &wrong };
        batch.run(Request::Replay { actions, next_games }, outputs);
        batch.count_step();
        let wrong = wrong.into_inner();
        if wrong != NONE {
            self.is_broken = true;
            return Err(self.error_in(wrong));
        }
        self.advance();
        Ok(())
    }

    /// What is wrong with the game of a row.
    fn error_in(&self, row: usize) -> BatchError {
        let game = self.current_games[row] as usize;
        let source = self.games.game(game).state();
        let source = source.expect_err("the kernel refuses what the rules refuse");
        BatchError::Recorded { game, source }
    }

    /// Moves every row to its next action, or to the first one of the game that was dealt in it.
    fn advance(&mut self) {
        for block in 0..self.leaving.len() {
            let first = block * LANES;
            let rows = first..(first + LANES).min(self.current_games.len());
            let all = &self.games.arrays().actions;
            let places = self.places[rows.clone()].iter_mut();
            let shown = self.turns[rows.clone()].iter_mut().zip(&mut self.actions[rows.clone()]);
            for (place, (turn, action)) in places.zip(shown) {
                if place.last == NONE {
                    continue;
                }
                place.next += 1;
                *turn += 1;
                *action = all.get(place.next).copied().unwrap_or_default().into();
            }
            for lane in BitIndices(self.leaving[block].into()).take_while(|&lane| lane < rows.len())
            {
                self.begin_game(first + lane);
            }
            let places = self.places[rows].iter().enumerate();
            let is_last =
                |(lane, place): (usize, &ActionRange)| u8::from(place.next == place.last) << lane;
            self.leaving[block] = places.map(is_last).fold(0, |bits, bit| bits | bit);
        }
    }

    /// Begins the next game of a row, which was dealt.
    fn begin_game(&mut self, row: usize) {
        let was_live = self.current_games[row] >= 0;
        let game = self.next[row];
        self.num_live -= usize::from(was_live);
        if game == NONE {
            self.current_games[row] = -1;
            self.turns[row] = 0;
            self.actions[row] = 0;
            self.places[row] = ActionRange { next: 0, last: NONE };
            return;
        }
        self.num_live += 1;
        let turns = self.games.turns(game);
        self.current_games[row] = game as i64;
        self.turns[row] = 0;
        self.actions[row] = self.games.arrays().actions[turns.start].into();
        self.places[row] = ActionRange { next: turns.start, last: turns.end - 1 };
        self.next[row] = self.playable_game(game + self.current_games.len());
    }

    /// For each row the index of its game in the recording, or -1 for a row without a game.
    #[must_use]
    pub fn current_games(&self) -> &[i64] {
        &self.current_games
    }

    /// For each row the number of turns that it has played of its game; 0 for a row without a game.
    #[must_use]
    pub fn turns(&self) -> &[i32] {
        &self.turns
    }

    /// For each row the recorded action that the next step plays; 0 for a row without a game.
    #[must_use]
    pub fn actions(&self) -> &[i64] {
        &self.actions
    }

    /// The number of rows that are in a game.
    #[must_use]
    pub const fn num_live(&self) -> usize {
        self.num_live
    }

    /// The batch whose games the rows are, with the layout of the observations.
    #[must_use]
    pub const fn batch(&self) -> &Batch {
        &self.batch
    }
}

/// Checks that the options which have no effect in a replay are the defaults.
fn check_unused(options: &Options) -> Result<(), BatchError> {
    let defaults = Options::default();
    let unused = [
        ("autoreset_mode", options.autoreset_mode != defaults.autoreset_mode),
        ("illegal_action", options.illegal_action != defaults.illegal_action),
        ("partners", !options.partners.is_empty()),
    ];
    let given = unused.into_iter().find(|&(_, is_given)| is_given);
    given.map_or(Ok(()), |(name, _)| Err(BatchError::ReplayOption(name)))
}

/// A list of this length with copies of a value.
fn copies<T: Clone>(value: T, length: usize) -> Result<Vec<T>, BatchError> {
    let mut all = reserve(length, length)?;
    all.resize(length, value);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Partners;
    use crate::bots::{GamesOptions, play_games};
    use crate::players::PlayerSpec;
    use crate::rules::{Seat, Variant};

    #[test]
    fn rows_show_their_next_action_and_idle_rows_show_zeros() {
        let variant = Variant::default();
        let bot = "random".parse::<PlayerSpec>().unwrap().player(&variant).unwrap();
        let players = [bot.clone(), bot];
        let played = play_games(variant, &players, 0..7, GamesOptions::seeded(1)).unwrap();
        let games = played.recording;
        let mut replay = Replay::new(games.clone(), 3, Options::default()).unwrap();
        let mut idle_rows = 0;
        loop {
            replay.step(Outputs::default()).unwrap();
            for row in 0..3 {
                let (turn, action) = (replay.turns()[row], replay.actions()[row]);
                if let Ok(game) = usize::try_from(replay.current_games()[row]) {
                    let index = games.turns(game).start + turn as usize;
                    assert_eq!(action, i64::from(games.arrays().actions[index]));
                } else {
                    assert_eq!((turn, action), (0, 0), "row {row}");
                    idle_rows += 1;
                }
            }
            if replay.num_live() == 0 {
                break;
            }
        }
        assert!(idle_rows > 10, "{idle_rows}");
    }

    #[test]
    fn options_without_effect_are_refused() {
        let partners = Partners::default().with(Seat::ALL[1], vec!["smart".parse().unwrap()]);
        let autoreset_mode = AutoresetMode::NextStep;
        let illegal_action = IllegalAction::Terminate;
        for (name, options) in [
            ("autoreset_mode", Options { autoreset_mode, ..Options::default() }),
            ("illegal_action", Options { illegal_action, ..Options::default() }),
            ("partners", Options { partners: partners.unwrap(), ..Options::default() }),
        ] {
            let refused = Replay::new(Recording::new(Variant::default()), 1, options);
            assert!(matches!(refused, Err(BatchError::ReplayOption(found)) if found == name));
        }
    }
}
