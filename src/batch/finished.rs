//! Games that ended in the last step and were dealt anew in the same step.

use std::collections::TryReserveError;

use super::kernel::lanes::Word;

/// Where such a game is: in order of the games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FinishedGame {
    pub game: usize,
    /// Whose [`Finished`] has it, and where there.
    pub thread: usize,
    pub index: usize,
}

/// The last words of each such game, for its last observation.
#[derive(Debug, Default)]
pub(super) struct Finished {
    /// The number of the call that they ended in.
    call: u64,
    games: Vec<usize>,
    words: Vec<u64>,
}

impl Finished {
    /// Room for so many games of so many words each.
    pub fn with_room(games: usize, words: usize) -> Result<Finished, TryReserveError> {
        Finished::reserve(games, games.saturating_mul(words))
    }

    /// The same games, and as much room.
    pub fn duplicate(&self) -> Result<Finished, TryReserveError> {
        let mut copy = Finished::reserve(self.games.capacity(), self.words.capacity())?;
        copy.call = self.call;
        copy.games.extend_from_slice(&self.games);
        copy.words.extend_from_slice(&self.words);
        Ok(copy)
    }

    fn reserve(games: usize, words: usize) -> Result<Finished, TryReserveError> {
        let mut finished = Finished::default();
        finished.games.try_reserve_exact(games)?;
        finished.words.try_reserve_exact(words)?;
        Ok(finished)
    }

    /// Forgets what ended before the call of this number.
    #[inline(always)]
    pub fn begin(&mut self, call: u64) {
        if self.call != call {
            self.call = call;
            self.games.clear();
            self.words.clear();
        }
    }

    #[inline(always)]
    pub fn push(&mut self, game: usize, block: &[Word], lane: usize) {
        self.games.push(game);
        self.words.extend(block.iter().map(|word| word.0[lane]));
    }

    /// The games that ended in the call of this number, in the order in which they were played.
    pub fn games(&self, call: u64) -> &[usize] {
        if self.call == call { &self.games } else { &[] }
    }

    /// Puts the words of a game into a lane of a block.
    pub fn restore(&self, index: usize, block: &mut [Word], lane: usize) {
        let words = self.words[index * block.len()..].iter();
        for (word, &value) in block.iter_mut().zip(words) {
            word.0[lane] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_same_room() {
        let copy = Finished::with_room(3, 5).unwrap().duplicate().unwrap();
        assert!(copy.games.capacity() >= 3 && copy.words.capacity() >= 15);
    }
}
