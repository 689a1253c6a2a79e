//! A set of the turns of one game.

/// A set of turns of a game. No game has more turns than a `u8` can count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TurnSet([u64; 4]);

impl TurnSet {
    pub const fn insert(&mut self, turn: usize) {
        self.0[turn / 64] |= 1 << (turn % 64);
    }

    pub const fn contains(&self, turn: usize) -> bool {
        self.0[turn / 64] >> (turn % 64) & 1 != 0
    }

    /// The number of turns.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}
