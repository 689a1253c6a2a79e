//! Games that ended in the last step and were dealt anew in the same step.

use super::lanes::Word;

/// The last words of each such game, for its last observation.
#[derive(Clone, Debug, Default)]
pub(super) struct Finished {
    games: Vec<usize>,
    words: Vec<u64>,
}

impl Finished {
    /// Room for so many games of so many words each.
    pub fn with_capacity(games: usize, words: usize) -> Finished {
        Finished { games: Vec::with_capacity(games), words: Vec::with_capacity(games * words) }
    }

    pub fn clear(&mut self) {
        self.games.clear();
        self.words.clear();
    }

    #[inline(always)]
    pub fn push(&mut self, game: usize, block: &[Word], lane: usize) {
        self.games.push(game);
        self.words.extend(block.iter().map(|word| word.0[lane]));
    }

    pub fn len(&self) -> usize {
        self.games.len()
    }

    /// The games, in ascending order.
    pub fn games(&self) -> &[usize] {
        &self.games
    }

    /// Puts the words of a game into a lane of a block.
    pub fn restore(&self, index: usize, block: &mut [Word], lane: usize) {
        let words = self.words[index * block.len()..].iter();
        for (word, &value) in block.iter_mut().zip(words) {
            word.0[lane] = value;
        }
    }
}
