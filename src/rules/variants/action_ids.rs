//! The numbering of moves: action ids in the order of HLE.

use crate::rules::cards::card::{Rank, Suit};
use crate::rules::small_index::{Offset, Slot};
use crate::rules::turns::hint::Hint;
use crate::rules::turns::moves::{ActionId, ActionSet, Move, MoveError};
use crate::rules::variants::variant::Variant;

impl Variant {
    /// Computes the number of action ids, which [`Variant::num_actions`] stores.
    pub(in crate::rules) const fn count_actions(&self) -> usize {
        let others = self.players() as usize - 1;
        let hints = others * (self.colors() as usize + self.ranks() as usize);
        2 * self.hand_size() as usize + hints + self.num_announced_plays()
    }

    /// Number of announced plays: one for each slot and colour.
    const fn num_announced_plays(&self) -> usize {
        if self.timed_display() { self.hand_size() as usize * self.colors() as usize } else { 0 }
    }

    /// The first id of the announced plays.
    pub(crate) const fn announced_play_base(&self) -> usize {
        self.num_actions() - self.num_announced_plays()
    }

    /// The first id of the colour hints.
    pub(crate) const fn color_hint_base(&self) -> usize {
        2 * self.hand_size() as usize
    }

    /// The first id of the rank hints.
    pub(crate) const fn rank_hint_base(&self) -> usize {
        self.color_hint_base() + (self.players() as usize - 1) * self.colors() as usize
    }

    /// The id with this number.
    ///
    /// # Errors
    /// [`MoveError::OutOfRange`] for a number that is not an id of the variant.
    pub fn action_id(&self, number: i64) -> Result<ActionId, MoveError> {
        let num_actions = self.num_actions();
        let index = usize::try_from(number).ok().filter(|&index| index < num_actions);
        index.and_then(ActionId::new).ok_or(MoveError::OutOfRange { action: number, num_actions })
    }

    /// The ids of the variant, in ascending order.
    pub fn action_ids(&self) -> impl Iterator<Item = ActionId> + use<> {
        (0..self.num_actions()).filter_map(ActionId::new)
    }

    /// The move with this id. The order is HLE's: discards, plays, colour hints, rank
    /// hints; announced plays come after them.
    ///
    /// # Errors
    /// [`MoveError::OutOfRange`] for an id that the variant does not have.
    pub fn action_to_move(&self, action: ActionId) -> Result<Move, MoveError> {
        let error = MoveError::OutOfRange {
            action: u8::from(action).into(),
            num_actions: self.num_actions(),
        };
        self.tables().moves.get(action.index()).copied().ok_or(error)
    }

    /// Actions with their moves in words, such as `5 (play slot 0), 6 (play slot 1)`. An id that the
    /// variant does not have stands without a move.
    #[must_use]
    pub fn actions_text(&self, actions: ActionSet) -> String {
        let words = actions.iter().map(|action| {
            self.action_to_move(action).map_or_else(
                |_| action.to_string(),
                |played| format!("{action} ({})", self.edition().meaning(played)),
            )
        });
        words.collect::<Vec<String>>().join(", ")
    }

    /// Computes the move of an id below [`Variant::num_actions`].
    pub(crate) fn decode(&self, action: usize) -> Move {
        let hand_size = usize::from(self.hand_size());
        if action < hand_size {
            Move::Discard { slot: Slot::new_unchecked(action) }
        } else if action < 2 * hand_size {
            Move::Play { slot: Slot::new_unchecked(action - hand_size) }
        } else if action < self.rank_hint_base() {
            let (other, suit) = divide(action - self.color_hint_base(), self.colors());
            Move::Hint {
                offset: Offset::new_unchecked(other + 1),
                hint: Hint::Color(Suit::ALL[suit]),
            }
        } else if action < self.announced_play_base() {
            let (other, rank) = divide(action - self.rank_hint_base(), self.ranks());
            Move::Hint {
                offset: Offset::new_unchecked(other + 1),
                hint: Hint::Rank(Rank::ALL[rank]),
            }
        } else {
            let (slot, suit) = divide(action - self.announced_play_base(), self.colors());
            Move::AnnouncedPlay { slot: Slot::new_unchecked(slot), suit: Suit::ALL[suit] }
        }
    }

    /// The id of a move, or `None` if the variant has no such move.
    #[must_use]
    pub fn move_to_action(&self, played: Move) -> Option<ActionId> {
        self.index_of(played).and_then(ActionId::new)
    }

    fn index_of(&self, played: Move) -> Option<usize> {
        let (players, hand_size) = (usize::from(self.players()), usize::from(self.hand_size()));
        match played {
            Move::Discard { slot } | Move::Play { slot } if slot.index() >= hand_size => None,
            Move::Discard { slot } => Some(slot.index()),
            Move::Play { slot } => Some(hand_size + slot.index()),
            Move::AnnouncedPlay { slot, suit } => {
                let known = self.timed_display()
                    && slot.index() < hand_size
                    && suit.index() < self.colors().into();
                let order = slot.index() * usize::from(self.colors()) + suit.index();
                known.then_some(self.announced_play_base() + order)
            }
            Move::Hint { offset, .. } if offset == Offset::OWN || offset.index() >= players => None,
            Move::Hint { offset, hint } => {
                let other = offset.index() - 1;
                match hint {
                    Hint::Color(suit) if suit.index() < self.colors().into() => Some(
                        self.color_hint_base() + other * usize::from(self.colors()) + suit.index(),
                    ),
                    Hint::Rank(rank) if rank.index() < self.ranks().into() => Some(
                        self.rank_hint_base() + other * usize::from(self.ranks()) + rank.index(),
                    ),
                    _ => None,
                }
            }
        }
    }
}

fn divide(number: usize, by: u8) -> (usize, usize) {
    (number / usize::from(by), number % usize::from(by))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Parameters;

    #[test]
    fn an_action_that_the_variant_lacks_has_no_words() {
        let small = Variant::new(Parameters { colors: 1, ..Parameters::default() }).unwrap();
        let foreign = ActionSet(0b11 << 15);
        assert_eq!(small.actions_text(foreign), "15 (hint +1 rank 5), 16");
    }
}
