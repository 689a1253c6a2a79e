//! Games that ended in the last step and were dealt anew in the same step.

use std::collections::TryReserveError;

use crate::batch::kernel::lanes::{LANES, Word};

/// Where the last words of a finished game are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::batch) struct FinishedGame {
    /// The game's index in the batch.
    pub game: usize,
    /// The thread whose [`FinishedGames`] has it.
    pub thread: usize,
    /// Its index there.
    pub index: usize,
}

/// The finished games of one thread, with the words of each as the game ended: its last observation
/// is encoded from them on request.
#[derive(Debug, Default)]
pub(in crate::batch) struct FinishedGames {
    /// The number of the call that the games ended in.
    call: u64,
    games: Vec<usize>,
    /// The words of each game, and after them those of games of earlier calls.
    words: Vec<u64>,
}

impl FinishedGames {
    /// Allocates memory for `games` games; `words` are the words of one game.
    pub fn with_capacity(games: usize, words: usize) -> Result<FinishedGames, TryReserveError> {
        FinishedGames::reserve(games, games.saturating_mul(words))
    }

    /// A copy with the same capacity.
    pub fn try_clone(&self) -> Result<FinishedGames, TryReserveError> {
        let mut copy = FinishedGames::reserve(self.games.capacity(), self.words.capacity())?;
        copy.call = self.call;
        copy.games.extend_from_slice(&self.games);
        copy.words.extend_from_slice(&self.words);
        Ok(copy)
    }

    fn reserve(games: usize, words: usize) -> Result<FinishedGames, TryReserveError> {
        let mut finished = FinishedGames::default();
        finished.games.try_reserve_exact(games)?;
        finished.words.try_reserve_exact(words)?;
        Ok(finished)
    }

    /// Reserves memory for `games` more games, of `words` words each. Returns whether there was
    /// enough.
    pub fn reserve_more(&mut self, games: usize, words: usize) -> bool {
        self.games.try_reserve(games).is_ok()
            && self.words.try_reserve(games.saturating_mul(words)).is_ok()
    }

    /// Starts the call of this number: games of earlier calls are removed.
    #[inline(always)]
    pub fn start_call(&mut self, call: u64) {
        if self.call != call {
            self.call = call;
            self.games.clear();
        }
    }

    /// Adds the game in a lane of a block.
    #[inline(always)]
    pub fn push(&mut self, game: usize, block: &[Word], lane: usize) {
        let words = self.games.len() * block.len()..(self.games.len() + 1) * block.len();
        self.games.push(game);
        if self.words.len() < words.end {
            self.words.resize(words.end, 0);
        }
        for (to, word) in self.words[words].iter_mut().zip(block) {
            *to = word.0[lane % LANES];
        }
    }

    /// The games that ended in the call of this number, in the order of their turns.
    pub fn games(&self, call: u64) -> &[usize] {
        if self.call == call { &self.games } else { &[] }
    }

    /// Writes a game into a lane of a block.
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
    fn a_copy_has_the_same_capacity() {
        let copy = FinishedGames::with_capacity(3, 5).unwrap().try_clone().unwrap();
        assert!(copy.games.capacity() >= 3 && copy.words.capacity() >= 15);
    }

    #[test]
    fn memory_that_cannot_be_allocated_is_reported() {
        let mut finished = FinishedGames::default();
        assert!(finished.reserve_more(3, 5) && finished.words.capacity() >= 15);
        assert!(!finished.reserve_more(usize::MAX, 1) && !finished.reserve_more(1, usize::MAX));
    }
}
