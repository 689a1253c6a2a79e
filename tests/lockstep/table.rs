//! The reference for batches: a single state for each game.

use std::sync::Arc;

use starmine::batch::{AutoresetMode, IllegalAction, Observers, Options, Seeds};
use starmine::bots::{GameRunner, Player};
use starmine::rules::{
    ActionId, ActionSet, Ending, EpisodeSeed, Offset, Seat, SeerView, Slot, Variant, View,
};

use super::buffers::Buffers;

/// A single game, and whether an illegal action ended it.
pub struct Game {
    table: GameRunner,
    forfeited: bool,
}

impl Game {
    fn new(variant: &Arc<Variant>, seed: EpisodeSeed) -> Game {
        let players = vec![Player::External; variant.players().into()];
        Game { table: GameRunner::new(variant.clone(), players, seed).unwrap(), forfeited: false }
    }

    pub fn variant(&self) -> &Variant {
        self.table.variant()
    }

    pub fn seed(&self) -> EpisodeSeed {
        self.table.seed()
    }

    /// The view of the seat to act.
    pub fn view(&self) -> View<'_> {
        self.table.view(self.table.current_player())
    }

    pub fn is_over(&self) -> bool {
        self.table.ending().is_some()
    }

    pub fn legal(&self) -> ActionSet {
        self.view().legal_actions()
    }

    pub fn is_legal(&self, action: i64) -> bool {
        let action = usize::try_from(action).ok().and_then(ActionId::new);
        action.is_some_and(|action| self.legal().contains(action))
    }

    fn score(&self) -> i32 {
        self.view().score().into()
    }

    /// Turns played, the illegal one included.
    fn length(&self) -> usize {
        self.table.length() + usize::from(self.forfeited)
    }

    /// The oldest playable card of the player to act.
    pub fn playable_slot(&self) -> Option<Slot> {
        let fireworks = self.view().fireworks();
        let mut hand = self.seer_view(self.table.current_player()).hand(Offset::OWN);
        let fits =
            hand.position(|card| usize::from(fireworks[card.suit.index()]) == card.rank.index());
        fits.map(|slot| Slot::ALL[slot])
    }

    /// Plays the action; an illegal one ends the game as lost, with the same player to act.
    fn play(&mut self, action: i64) {
        if self.is_legal(action) {
            let variant = self.variant();
            let action = variant.action_id(action).expect("it is legal");
            let played = variant.action_to_move(action).expect("it is legal");
            self.table.play(played).expect("it is legal");
        } else {
            self.table.forfeit();
            self.forfeited = true;
        }
    }

    pub fn seer_view(&self, seat: Seat) -> SeerView<'_> {
        self.table.seer_view(seat)
    }
}

/// All games of a batch.
pub struct Table {
    pub options: Options,
    pub games: Vec<Game>,
    /// The expected outputs of the last call.
    pub buffers: Buffers<u8>,
    /// The games that the last step finished and reset, and their last rows.
    pub finished: Vec<usize>,
    pub last_rows: Vec<u8>,
    /// The endings of all games so far.
    pub endings: Vec<Ending>,
    variant: Arc<Variant>,
    words: Vec<u64>,
    fresh: bool,
}

impl Table {
    /// The games of a batch of this seed, with buffers for its outputs.
    pub fn new(variant: Arc<Variant>, seed: u64, options: Options, buffers: Buffers<u8>) -> Table {
        let num_envs = buffers.reward.len() as u64;
        let games = (0..num_envs).map(|game| EpisodeSeed { seed, game, episode: 0 });
        let words = vec![0; options.encoder.layout(&variant).words()];
        Table {
            games: games.map(|seed| Game::new(&variant, seed)).collect(),
            buffers,
            finished: vec![],
            last_rows: vec![],
            endings: vec![],
            variant,
            words,
            options,
            fresh: true,
        }
    }

    /// The games for which these actions are refused.
    pub fn refused(&self, actions: &[i64]) -> Vec<usize> {
        let is_refused = |&game: &usize| {
            let (game, action) = (&self.games[game], actions[game]);
            if game.is_over() {
                self.options.autoreset_mode == AutoresetMode::Disabled
            } else {
                self.options.illegal_action == IllegalAction::Raise && !game.is_legal(action)
            }
        };
        (0..actions.len()).filter(is_refused).collect()
    }

    pub fn reset(&mut self, seeds: Seeds<'_>, mask: Option<&[bool]>) {
        // The first reset without a seed keeps the games.
        let keep = self.fresh && matches!(seeds, Seeds::Continue);
        for (index, game) in self.games.iter_mut().enumerate() {
            if keep || mask.is_some_and(|mask| !mask[index]) {
                continue;
            }
            let seed = match seeds {
                Seeds::Continue => game.seed().next(),
                Seeds::Batch(seed) => EpisodeSeed { seed, game: index as u64, episode: 0 },
                Seeds::Each(seeds) => EpisodeSeed { seed: seeds[index], game: 0, episode: 0 },
            };
            *game = Game::new(&self.variant, seed);
        }
        self.start_call();
        self.write();
    }

    pub fn step(&mut self, actions: &[i64]) {
        self.start_call();
        for (index, &action) in actions.iter().enumerate() {
            self.step_game(index, action);
        }
        self.write();
    }

    fn start_call(&mut self) {
        self.fresh = false;
        self.finished.clear();
        self.last_rows.clear();
        let Buffers { reward, terminated, truncated, illegal_action, .. } = &mut self.buffers;
        reward.fill(0.0);
        [terminated, truncated, illegal_action].into_iter().for_each(|flags| flags.fill(false));
        let Buffers { final_score, final_length, final_ending, .. } = &mut self.buffers;
        [final_score, final_length].into_iter().for_each(|numbers| numbers.fill(0));
        final_ending.fill(0);
    }

    fn step_game(&mut self, index: usize, action: i64) {
        let game = &mut self.games[index];
        if game.is_over() {
            // The action of the step after the end is ignored.
            *game = Game::new(&self.variant, game.seed().next());
            return;
        }
        let before = game.score();
        game.play(action);
        let buffers = &mut self.buffers;
        buffers.reward[index] = (game.score() - before) as f32;
        let Some(ending) = game.table.ending() else {
            return;
        };
        buffers.terminated[index] = true;
        buffers.illegal_action[index] = game.forfeited;
        buffers.final_score[index] = game.score();
        buffers.final_length[index] = game.length() as i32;
        buffers.final_ending[index] = ending.code();
        self.endings.push(ending);
        if self.options.autoreset_mode == AutoresetMode::SameStep {
            self.finished.push(index);
            let start = self.last_rows.len();
            self.last_rows.resize(start + self.buffers.obs.len() / self.games.len(), 0);
            let mut rows = std::mem::take(&mut self.last_rows);
            self.write_rows(index, &mut rows[start..]);
            self.last_rows = rows;
            let seed = self.games[index].seed().next();
            self.games[index] = Game::new(&self.variant, seed);
        }
    }

    /// Writes the outputs that describe the current positions.
    fn write(&mut self) {
        let width = self.buffers.obs.len() / self.games.len();
        let mut obs = std::mem::take(&mut self.buffers.obs);
        for (index, rows) in obs.chunks_mut(width).enumerate() {
            self.write_rows(index, rows);
        }
        self.buffers.obs = obs;
        let num_actions = self.variant.num_actions();
        for (index, game) in self.games.iter().enumerate() {
            let legal = game.legal();
            let mask = &mut self.buffers.action_mask[index * num_actions..][..num_actions];
            mask.iter_mut()
                .enumerate()
                .for_each(|(action, bit)| *bit = legal.bits() >> action & 1 == 1);
            self.buffers.current_player[index] = u8::from(game.table.current_player()).into();
            self.buffers.score[index] = game.score();
        }
    }

    /// Writes the observations of all seats, or of the seat to act.
    fn write_rows(&mut self, index: usize, rows: &mut [u8]) {
        let Table { games, words, options, .. } = self;
        let first = match options.observers {
            Observers::Current => games[index].table.current_player().index(),
            Observers::All => 0,
        };
        for (offset, row) in rows.chunks_mut(8 * words.len()).enumerate() {
            options.encoder.encode_into(&games[index].seer_view(Seat::ALL[first + offset]), words);
            for (bytes, word) in row.chunks_mut(8).zip(words.iter()) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
    }
}

/// Panics where an output of this game is not the expected one.
pub fn compare_game(written: &Buffers<u8>, expected: &Buffers<u8>, game: usize, place: &str) {
    let num_envs = expected.reward.len();
    macro_rules! compare {
        ($($name:ident)+) => {
            $({
                let width = expected.$name.len() / num_envs;
                let range = game * width..(game + 1) * width;
                let (found, expected) = (&written.$name[range.clone()], &expected.$name[range]);
                let name = stringify!($name);
                if let Some(index) = (0..width).find(|&at| found[at] != expected[at]) {
                    let (found, expected) = (&found[index], &expected[index]);
                    panic!("{place}, game {game}, {name}[{index}]: {found:?} for {expected:?}");
                }
            })+
        };
    }
    compare!(reward terminated truncated illegal_action current_player score final_score);
    compare!(final_length final_ending action_mask obs);
}
