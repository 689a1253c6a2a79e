//! Batches against single states: the same games on every instruction set of the processor. Positions, all
//! outputs and the observations of one seat or of all are compared after every call.
//!
//! `LOCKSTEP_GAMES` and `LOCKSTEP_SEED` choose how many games are played, and which. A million of them:
//! `LOCKSTEP_GAMES=1000000 cargo test --release --test lockstep -- --nocapture`

#[path = "../helpers/buffers.rs"]
mod buffers;
mod random;
#[path = "../../src/rules/variants/random_variant.rs"]
mod random_variant;
mod table;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use buffers::Buffers;
use random::Random;
use starmine::batch::{
    AutoresetMode, Batch, BatchError, Dtype, IllegalAction, ObservationBuffer, Observers, Options,
    Seeds,
};
use starmine::buffers::{InstructionSet, WriteOnly};
use starmine::encode::Encoder;
use starmine::rules::{Ending, Seat};
use table::{Table, compare_game};

/// Enough games for every ending in every mode.
const GAMES: usize = 4000;
/// Games that end in each row of a batch before the next round begins.
const GAMES_OF_A_PLACE: usize = 2;

/// Counts of what was played.
#[derive(Default)]
struct Count {
    games: usize,
    steps: usize,
    endings: BTreeMap<(&'static str, &'static str), usize>,
}

/// A table of single states, and a batch on each instruction set, of one variant with one setting.
struct Round {
    name: String,
    random: Random,
    table: Table,
    batches: Vec<(Batch, Buffers<u8>)>,
    /// How often a player with a playable card plays it, in percent; high values make long games.
    peeking: usize,
}

impl Round {
    fn new(seed: u64, index: u64) -> Round {
        let mut random = Random::new(seed, index);
        let variant = Arc::new(random.variant(index));
        let num_envs = random.num_envs();
        let options = Options {
            encoder: Encoder::ALL[index as usize % Encoder::ALL.len()],
            dtype: Dtype::Bits,
            observers: [Observers::All, Observers::Current][index as usize % 2],
            autoreset_mode: *random.one_of(AutoresetMode::ALL),
            illegal_action: *random.one_of(IllegalAction::ALL),
            num_threads: *random.one_of(&[1, 1, 1, 1, 1, 1, 1, 3]),
            ..Options::default()
        };
        let name = format!("LOCKSTEP_SEED={seed}, round {index}: {num_envs} games, {options:?}");
        let name = format!("{name}, {:?}", variant.parameters());
        let batch_seed = random.next();
        let batches = InstructionSet::available().map(|simd| {
            let options = Options { simd: Some(simd), ..options.clone() };
            let batch = Batch::new(variant.clone(), num_envs, batch_seed, options);
            let batch = batch.expect("the settings are possible");
            assert_eq!(batch.simd(), simd);
            let buffers = Buffers::new(&batch);
            (batch, buffers)
        });
        let batches: Vec<_> = batches.collect();
        let table = Table::new(variant, batch_seed, options, batches[0].1.clone());
        let peeking = *random.one_of(&[0, 50, 90, 100]);
        Round { name, random, table, batches, peeking }
    }

    fn play(mut self, count: &mut Count) {
        let wanted = GAMES_OF_A_PLACE * self.table.games.len();
        if self.random.is_one_in(2) {
            self.reset(None);
        }
        while self.table.endings.len() < wanted {
            if self.random.is_one_in(60) {
                let mask = self.random.mask(self.table.games.len());
                self.reset(mask);
            }
            if self.random.is_one_in(60) {
                for (batch, _) in &mut self.batches {
                    *batch = batch.try_clone().expect("there is memory for two");
                }
            }
            self.try_refused_actions();
            self.reset_finished_games();
            self.step();
            count.steps += self.table.games.len();
        }
        count.games += self.table.endings.len();
        let mode = self.table.options.autoreset_mode.name();
        for ending in self.table.endings {
            *count.endings.entry((mode, ending.name())).or_default() += 1;
        }
    }

    fn step(&mut self) {
        let actions = self.choose_actions();
        self.table.step(&actions);
        for (batch, buffers) in &mut self.batches {
            batch.step(&actions, buffers.outputs()).expect(&self.name);
        }
        self.compare();
    }

    fn reset(&mut self, mask: Option<Vec<bool>>) {
        let each: Vec<u64> = self.table.games.iter().map(|_| self.random.next()).collect();
        let seeds = match self.random.below(3) {
            0 => Seeds::Continue,
            1 => Seeds::Batch(each[0]),
            _ => Seeds::Each(&each),
        };
        self.table.reset(seeds, mask.as_deref());
        for (batch, buffers) in &mut self.batches {
            batch.reset(seeds, mask.as_deref(), buffers.outputs()).expect(&self.name);
        }
        self.compare();
    }

    /// Resets finished games where the batch does not.
    fn reset_finished_games(&mut self) {
        let over: Vec<bool> = self.table.games.iter().map(|game| game.is_over()).collect();
        if self.table.options.autoreset_mode == AutoresetMode::Disabled && over.contains(&true) {
            self.reset(Some(over));
        }
    }

    /// A refused step changes nothing; the next comparison would notice it.
    fn try_refused_actions(&mut self) {
        let mut actions = self.choose_actions();
        if self.random.is_one_in(2) {
            let game = self.random.below(actions.len());
            actions[game] = self.random.illegal_action(&self.table.games[game]);
        }
        let refused = self.table.refused(&actions);
        if refused.is_empty() {
            return;
        }
        for (batch, buffers) in &mut self.batches {
            match batch.step(&actions, buffers.outputs()) {
                Err(BatchError::IllegalActions(error)) => {
                    assert_eq!(error.count, refused.len(), "{}", self.name);
                    let listed = error.listed.iter().map(|it| (it.game, it.action, it.legal));
                    let expected = refused
                        .iter()
                        .map(|&game| (game, actions[game], self.table.games[game].legal()));
                    assert!(listed.eq(expected), "{}: {error:?}", self.name);
                }
                other => panic!("{}: {actions:?}: {other:?}", self.name),
            }
            assert!(*buffers == self.table.buffers, "{}: a refused step has written", self.name);
        }
    }

    fn choose_actions(&mut self) -> Vec<i64> {
        let terminates = self.table.options.illegal_action == IllegalAction::Terminate;
        let games = self.table.games.iter();
        games
            .map(|game| {
                if game.is_over() {
                    self.random.any_action()
                } else if terminates && self.random.is_one_in(60) {
                    self.random.illegal_action(game)
                } else {
                    self.random.legal_action(game, self.peeking)
                }
            })
            .collect()
    }

    fn compare(&mut self) {
        let Round { table, batches, name, .. } = self;
        for (batch, buffers) in batches {
            let place = || format!("{name}, on {}", batch.simd());
            for (index, game) in table.games.iter().enumerate() {
                let expected = game.seer_view(Seat::FIRST);
                let is_same = batch.look_as_seer(index, Seat::FIRST, |view| *view == expected);
                assert!(is_same, "{}, game {index}", place());
                if *buffers != table.buffers {
                    compare_game(buffers, &table.buffers, index, &place());
                }
            }
            assert!(*buffers == table.buffers, "{}: the outputs differ", place());
            assert!(batch.episodes().eq(table.games.iter().map(|game| game.seed())));
            let finished: Vec<usize> = batch.finished().unwrap();
            assert_eq!(finished, table.finished, "{}: finished games", place());
            if !finished.is_empty() {
                let place = place();
                let mut rows = vec![0; table.last_rows.len()];
                batch
                    .write_final_observations(ObservationBuffer::Bits(WriteOnly::new(&mut rows)))
                    .expect(&place);
                assert!(rows == table.last_rows, "{place}: the last observations differ");
            }
        }
    }
}

fn number(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text}: not a number")),
        Err(_) => default,
    }
}

#[test]
fn batches_play_the_games_of_single_states() {
    let (games, seed) = (number("LOCKSTEP_GAMES", GAMES as u64), number("LOCKSTEP_SEED", 0));
    let (start, mut count) = (Instant::now(), Count::default());
    for index in 0.. {
        if count.games as u64 >= games {
            break;
        }
        Round::new(seed, index).play(&mut count);
    }
    let sets: Vec<&str> = InstructionSet::available().map(InstructionSet::name).collect();
    let Count { games, steps, endings } = count;
    let seconds = start.elapsed().as_secs();
    println!("{games} games, {steps} steps, {seconds} s, {}: {endings:?}", sets.join(", "));
    if seed != 0 || games < GAMES {
        // Other games may lack a rare ending.
        return;
    }
    let modes = |ending: Ending| endings.keys().filter(move |(_, name)| *name == ending.name());
    for &ending in Ending::ALL {
        // The last one is rare.
        let enough = if ending == Ending::NoLegalAction { 1 } else { AutoresetMode::ALL.len() };
        assert!(modes(ending).count() >= enough, "{ending}");
    }
}
