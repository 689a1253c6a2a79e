//! Random variants, sizes and actions.

use starmine::rules::{PRESETS, Parameters, Variant};

use super::random_variant::random_variant;
use super::table::Game;

/// The random number generator SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64, round: u64) -> Random {
        let mut random = Random(seed);
        Random(random.next() ^ round)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 32) as usize % bound
    }

    pub fn is_one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }

    pub fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    fn flag(&mut self) -> bool {
        self.is_one_in(2)
    }

    /// A base game, a preset, or any other variant. Every tenth round has a rare ending.
    pub fn variant(&mut self, round: u64) -> Variant {
        if round % 10 == 9 {
            return no_legal_action(self.between(3, 5) as u8);
        }
        if self.is_one_in(2) {
            return random_variant(|bound| self.below(bound as usize) as u32);
        }
        let players = self.between(2, 5) as u8;
        let base = if self.is_one_in(2) {
            Parameters::default()
        } else {
            self.one_of(PRESETS).parameters()
        };
        let variant = Variant::new(Parameters { players: players.into(), ..base });
        variant.expect("every preset has two to five players")
    }

    /// Less than a block of eight, a few blocks, or more than one group.
    pub fn num_envs(&mut self) -> usize {
        let (low, high) = *self.one_of(&[(1, 7), (8, 23), (24, 72), (73, 140)]);
        self.between(low, high) as usize
    }

    /// A mask of some games, or `None` for all.
    pub fn mask(&mut self, games: usize) -> Option<Vec<bool>> {
        let mask: Vec<bool> = (0..games).map(|_| self.is_one_in(4)).collect();
        mask.contains(&true).then_some(mask)
    }

    pub fn any_action(&mut self) -> i64 {
        let edges = [i64::MIN, -1, 0, 31, 63, 64, 127, 128, 191, 192, i64::MAX, 1 << 32];
        if self.flag() { *self.one_of(&edges) } else { self.between(-2, 200) }
    }

    pub fn illegal_action(&mut self, game: &Game) -> i64 {
        loop {
            let action = self.any_action();
            if !game.is_legal(action) {
                return action;
            }
        }
    }

    /// A legal action; in `peeking` percent of cases a play of a playable card, if there is one.
    pub fn legal_action(&mut self, game: &Game, peeking: usize) -> i64 {
        if self.below(100) < peeking
            && let Some(slot) = game.playable_slot()
        {
            return (game.variant().hand_size() + u8::from(slot)).into();
        }
        let legal = game.legal();
        let chosen = self.below(legal.len());
        u8::from(legal.iter().nth(chosen).expect("a game that goes on has a legal action")).into()
    }
}

/// A variant whose games often end without a legal action: a hand is empty and hints have used up
/// the tokens.
fn no_legal_action(players: u8) -> Variant {
    let parameters = Parameters {
        players: players.into(),
        colors: 3,
        ranks: 1,
        copies: Some(vec![vec![2]; 3]),
        hand_size: Some(1),
        max_information_tokens: 2,
        max_life_tokens: 8,
        crowning_piece: true,
        ..Parameters::default()
    };
    Variant::new(parameters).expect("six cards are enough for five hands of one card")
}
