//! One turn: a move and what it revealed.

use serde::{Deserialize, Serialize};

use crate::rules::cards::card::Card;
use crate::rules::cards::slot_set::SlotSet;
use crate::rules::small_index::Seat;
use crate::rules::turns::moves::Move;

/// A turn: the move and what it revealed to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The seat that moved.
    pub seat: Seat,
    /// Its move.
    pub played: Move,
    /// The slots that a hint pointed out, in the hand as it was then. Empty for other moves.
    pub touched: SlotSet,
    /// The card that was played or discarded. `None` for a hint.
    pub card: Option<Card>,
    /// Whether a played card was added to its firework.
    pub added: bool,
    /// Information tokens regained by the move.
    pub regained: u8,
    /// The card that the seat drew afterwards, which that seat cannot see. `None` after a hint, when the
    /// deck was empty, and where the observer may not see it ([`Event::seen_by`]).
    pub drawn: Option<Card>,
}

impl Event {
    /// Whether the move was a misplay: a played card that did not fit, which cost a life token.
    #[must_use]
    pub fn is_misplay(&self) -> bool {
        matches!(self.played, Move::Play { .. } | Move::AnnouncedPlay { .. }) && !self.added
    }

    /// The event as this observer sees it: its own draw stays hidden.
    #[must_use]
    #[inline]
    pub fn seen_by(mut self, observer: Seat) -> Event {
        if self.seat == observer {
            self.drawn = None;
        }
        self
    }
}
