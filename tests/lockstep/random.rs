//! Random variants, sizes and actions.

use starmine::rules::{Edition, LostGameScore, PRESETS, Parameters, Variant, preset};

use super::table::Game;

/// Random numbers that are the same everywhere: SplitMix64.
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

    /// A base game, a preset, or anything that is allowed.
    pub fn variant(&mut self) -> Variant {
        let players = self.between(2, 5);
        if self.is_one_in(5) {
            return Variant::new(Parameters { players, ..Parameters::default() }).expect("allowed");
        }
        loop {
            let parameters = if self.is_one_in(3) {
                let row = self.one_of(PRESETS);
                Parameters { players, ..preset(row.name).expect("it is in the table") }
            } else {
                self.parameters(players)
            };
            if let Ok(variant) = Variant::new(parameters) {
                return variant;
            }
        }
    }

    fn parameters(&mut self, players: i64) -> Parameters {
        let (colors, ranks) = (self.between(1, 6), self.between(1, 5));
        let mut row = || (0..ranks).map(|_| self.between(1, 3)).collect();
        let copies = (0..colors).map(|_| row()).collect();
        Parameters {
            players,
            colors,
            ranks,
            copies: self.flag().then_some(copies),
            hand_size: if self.is_one_in(3) { None } else { Some(self.between(1, 6)) },
            // Without any, a crowning piece may leave a player without an action.
            max_information_tokens: if self.is_one_in(3) { 0 } else { self.between(0, 16) },
            max_life_tokens: self.between(1, 8),
            random_start_player: self.flag(),
            empty_hints: self.flag(),
            crowning_piece: self.flag(),
            timed_display: self.flag(),
            lost_game_score: *self.one_of(&[LostGameScore::Zero, LostGameScore::Fireworks]),
            edition: *self.one_of(&[Edition::Standard, Edition::Ikebana, Edition::Traditional]),
        }
    }

    /// Less than a block of eight, some blocks, or more than are played together.
    pub fn num_envs(&mut self) -> usize {
        let (low, high) = *self.one_of(&[(1, 7), (8, 23), (24, 72), (73, 140)]);
        self.between(low, high) as usize
    }

    /// Some of the games, or all.
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
            if !usize::try_from(action).is_ok_and(|action| game.legal().contains(action)) {
                return action;
            }
        }
    }

    /// A legal action; so often in a hundred times, it peeks for a card that fits.
    pub fn legal_action(&mut self, game: &Game, peeking: usize) -> i64 {
        if self.below(100) < peeking
            && let Some(slot) = game.playable_slot()
        {
            return (game.variant().hand_size() + slot).into();
        }
        let legal = game.legal();
        let chosen = self.below(legal.len());
        legal.iter().nth(chosen).expect("a game that goes on has a legal action") as i64
    }
}
