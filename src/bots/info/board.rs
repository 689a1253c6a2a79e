use super::copies::Copies;
use crate::rules::{Card, Hint, Rank};

/// What the fireworks and the discard pile make of the copies of each card.
#[derive(Clone, Copy, Debug)]
pub(super) struct Board {
    heights: [u8; 5],
    /// Neither played nor discarded.
    pub left: Copies,
    /// Next on their stacks.
    pub playable: Copies,
    /// Those that can never be played.
    pub dead: Copies,
}

impl Board {
    /// Of a game that begins.
    pub const fn new() -> Board {
        Board {
            heights: [0; 5],
            left: Copies::ALL,
            playable: Copies::of_hint(Hint::Rank(Rank::ALL[0])),
            dead: Copies::NONE,
        }
    }

    /// A card was added to its firework, or came to the discard pile.
    pub fn reveal(&mut self, card: Card, added: bool) {
        self.left = self.left.without_one(Copies::of_card(card));
        let suit = card.suit.index();
        self.heights[suit] += u8::from(added);
        let height = usize::from(self.heights[suit]);
        let cards = Copies::of_suit(suit);
        let played = Copies::of_stack(suit, height);
        let next = Copies::of_stack(suit, (height + 1).min(5)) - played;
        // Kinds that are all discarded: every copy from the lowest of them on is dead.
        let exhausted = (cards - played).kinds() - self.left;
        let blocked = Copies(exhausted.0 | exhausted.0.wrapping_neg()) & cards;
        self.dead = (self.dead - cards) | played | blocked;
        self.playable = (self.playable - cards) | next;
    }

    /// The kinds that are still needed and have one copy left.
    pub fn critical(&self) -> Copies {
        self.left.lonely() - self.dead
    }
}
