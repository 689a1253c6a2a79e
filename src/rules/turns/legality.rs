//! Which moves are legal.

use crate::rules::game::position::Position;
use crate::rules::small_index::Offset;
use crate::rules::turns::hint::Hint;
use crate::rules::turns::moves::{ActionId, ActionSet, Move, MoveError};
use crate::rules::variants::variant::Variant;

impl Position {
    /// Whether an information token is left for a hint.
    #[must_use]
    pub const fn may_hint(&self) -> bool {
        self.information_tokens > 0
    }

    /// Whether an information token is missing, so that a discard is legal.
    #[must_use]
    pub const fn may_discard(&self, variant: &Variant) -> bool {
        self.information_tokens < variant.max_information_tokens()
    }

    /// The legal actions, none once the game is over.
    #[must_use]
    pub fn legal_actions(&self, variant: &Variant) -> ActionSet {
        if self.ending.is_some() { ActionSet::default() } else { self.legal_moves(variant) }
    }

    /// Whether this move is legal now: [`Position::legal_actions`] for a single action.
    #[must_use]
    pub fn is_legal(&self, variant: &Variant, played: Move) -> bool {
        let size = usize::from(self.hands[self.current_player.index()].size);
        self.ending.is_none()
            && match played {
                Move::Discard { slot } => slot.index() < size && self.may_discard(variant),
                Move::Play { slot } => slot.index() < size,
                Move::AnnouncedPlay { slot, suit } => {
                    slot.index() < size
                        && variant.timed_display()
                        && suit.index() < variant.colors().into()
                }
                Move::Hint { offset, hint } => {
                    self.may_hint()
                        && (1..usize::from(variant.players())).contains(&offset.index())
                        && self.is_legal_hint(variant, offset, hint)
                }
            }
    }

    /// The move of a legal action.
    ///
    /// # Errors
    /// [`MoveError`] if the game is over or the action is not legal.
    pub fn check_action(&self, variant: &Variant, action: i64) -> Result<Move, MoveError> {
        if let Some(ending) = self.ending {
            return Err(MoveError::GameOver { action, ending });
        }
        let action = variant.action_id(action)?;
        let played = variant.action_to_move(action)?;
        if self.is_legal(variant, played) {
            return Ok(played);
        }
        Err(self.refuse(variant, action, played))
    }

    /// Checks that a move is legal now.
    pub fn check_move(&self, variant: &Variant, played: Move) -> Result<(), MoveError> {
        let action = variant.move_to_action(played);
        let unknown = || MoveError::NoMove { played, meaning: variant.edition().meaning(played) };
        self.check_action(variant, u8::from(action.ok_or_else(unknown)?).into()).map(|_| ())
    }

    /// The error for a move that is not legal now.
    fn refuse(&self, variant: &Variant, action: ActionId, played: Move) -> MoveError {
        let legal = self.legal_actions(variant);
        MoveError::Illegal {
            action,
            played,
            meaning: variant.edition().meaning(played),
            legal,
            expected: variant.actions_text(legal),
        }
    }

    fn is_legal_hint(&self, variant: &Variant, offset: Offset, hint: Hint) -> bool {
        let target = variant.seat_after_unchecked(self.current_player, offset);
        let hand = self.hands[target.index()].cards();
        let exists = match hint {
            Hint::Color(suit) => suit.index() < variant.colors().into(),
            Hint::Rank(rank) => rank.index() < variant.ranks().into(),
        };
        let matches = |&card: &u8| hint.matches(variant.card_unchecked(card));
        let may_be_empty = variant.empty_hints() && !hand.is_empty();
        exists && (may_be_empty || hand.iter().any(matches))
    }

    /// The legal actions, whether or not the game is over.
    pub(in crate::rules) fn legal_moves(&self, variant: &Variant) -> ActionSet {
        let hand = &self.hands[self.current_player.index()];
        let slots = (1u128 << hand.size) - 1;
        let mut legal = slots << variant.hand_size();
        if variant.timed_display() {
            let all = (1u128 << (hand.size * variant.colors())) - 1;
            legal |= all << variant.announced_play_base();
        }
        if self.may_discard(variant) {
            legal |= slots;
        }
        if self.may_hint() {
            legal |= self.legal_hints(variant);
        }
        ActionSet(legal)
    }

    fn legal_hints(&self, variant: &Variant) -> u128 {
        let (mut colors, mut ranks) = (0u64, 0u64);
        let players = usize::from(variant.players());
        let mut seat = self.current_player;
        for other in 0..players - 1 {
            seat = variant.seat_after_unchecked(seat, Offset::NEXT);
            let color_shift = other * usize::from(variant.colors());
            let rank_shift = other * usize::from(variant.ranks());
            let hand = self.hands[seat.index()].cards();
            if variant.empty_hints() && !hand.is_empty() {
                colors |= ((1 << variant.colors()) - 1) << color_shift;
                ranks |= ((1 << variant.ranks()) - 1) << rank_shift;
            }
            for &index in hand {
                let card = variant.card_unchecked(index);
                colors |= 1 << (color_shift + card.suit.index());
                ranks |= 1 << (rank_shift + card.rank.index());
            }
        }
        u128::from(colors) << variant.color_hint_base()
            | u128::from(ranks) << variant.rank_hint_base()
    }
}
