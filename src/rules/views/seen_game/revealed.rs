//! What a turn reveals to one seat, and what no game can show to it.

use thiserror::Error;

use crate::rules::cards::card::Card;
use crate::rules::cards::slot_set::SlotSet;
use crate::rules::small_index::{Offset, Seat};
use crate::rules::turns::ending::Ending;
use crate::rules::turns::event::Event;
use crate::rules::turns::moves::Move;
use crate::rules::variants::variant::Variant;

/// What a turn reveals to one seat apart from the move itself. [`SeenGame::play`](super::SeenGame::play) takes it, and
/// [`Event::revealed_to`] gives it where the whole game is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revealed {
    /// Nothing: a hint to a teammate, or a teammate's play or discard when the deck was empty.
    Nothing,
    /// The card that the observer itself has played or discarded.
    OwnCard(Card),
    /// The card that a teammate has drawn after its play or discard.
    Drawn(Card),
    /// The slots of the observer's hand that a hint to it points out.
    Touched(SlotSet),
}

impl Event {
    /// What this turn reveals to a seat besides the move. The observer's own draw stays hidden.
    ///
    /// # Panics
    /// If the variant has no seat as the teammate of a hint.
    #[must_use]
    pub fn revealed_to(&self, variant: &Variant, observer: Seat) -> Revealed {
        match (self.played, self.card, self.drawn) {
            (Move::Hint { offset, .. }, ..)
                if variant.seat_after(self.seat, offset) == observer =>
            {
                Revealed::Touched(self.touched)
            }
            (_, Some(card), _) if self.seat == observer => Revealed::OwnCard(card),
            (_, _, Some(card)) => Revealed::Drawn(card),
            _ => Revealed::Nothing,
        }
    }
}

/// What no game of the variant can show to the observer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SeenGameError {
    /// The variant has no such seat.
    #[error("seat {seat} is not allowed: expected 0 to {}", players - 1)]
    Seat {
        /// The seat that was given.
        seat: Seat,
        /// The number of seats.
        players: u8,
    },
    /// More or fewer hands than teammates.
    #[error("hands has {found} entries: expected {expected}, one for each teammate")]
    Hands {
        /// The number of hands.
        found: usize,
        /// The number of teammates.
        expected: usize,
    },
    /// A first hand of another size than the variant's.
    #[error("the hand at offset {offset} has {found} cards: expected {expected}")]
    HandSize {
        /// The teammate.
        offset: Offset,
        /// The number of cards given.
        found: usize,
        /// The variant's hand size.
        expected: u8,
    },
    /// The variant has no such card.
    #[error("{0} is not a card of this variant")]
    Card(Card),
    /// The observer sees all copies of the card elsewhere.
    #[error("{0} is not left: the observer sees all its copies")]
    Copies(Card),
    /// The game is over.
    #[error("the game is over ({0}): expected one that goes on")]
    GameOver(Ending),
    /// The move is not legal.
    #[error("the move of seat {seat} is not legal: {meaning}")]
    Move {
        /// The seat to act.
        seat: Seat,
        /// The move.
        played: Move,
        /// The move in words.
        meaning: String,
    },
    /// The turn reveals something else.
    #[error("revealed={found:?} does not fit the turn: expected {expected}")]
    Revealed {
        /// What was given.
        found: Revealed,
        /// What the turn reveals.
        expected: &'static str,
    },
    /// The observer can hold no cards that fit.
    #[error("the observer can hold no cards that fit the hints and all cards that it has seen")]
    OwnHand,
}
