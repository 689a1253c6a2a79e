//! `cheater`: the cheating strategy of Jeff Wu's <https://github.com/WuTheFWasThat/hanabi.rs>.

use super::common::can_spare_turns;
use crate::rules::{CardSet, Hint, Move, Outlook, Position, Rank, Slot, Variant};

/// The cheater's move. It sees all hands and plays, discards or passes by a few simple rules: an
/// upper bound, limited only by the order of the deck. Supports every variant.
pub(super) fn act(variant: &Variant, position: &Position) -> Move {
    let hands = OpenHands::new(variant, position);
    let pass = || hands.passing_hint().unwrap_or(Move::Play { slot: Slot::OLDEST });
    if let Some(slot) = hands.best_play() {
        Move::Play { slot }
    } else if !position.may_discard(variant) {
        pass()
    } else if let Some(slot) =
        hands.useless_slot().filter(|_| can_spare_turns(variant, position.discards))
    {
        Move::Discard { slot }
    } else if position.may_hint() && (hands.teammate_can_play() || hands.own_hand.is_empty()) {
        pass()
    } else {
        let slot = hands.useless_slot().unwrap_or_else(|| hands.least_needed_slot());
        Move::Discard { slot }
    }
}

/// A position with all hands open, seen by the player to act.
struct OpenHands<'a> {
    variant: &'a Variant,
    position: &'a Position,
    outlook: Outlook,
    own_hand: &'a [u8],
    /// The union of the teammates' hands.
    teammates_kinds: CardSet,
}

impl<'a> OpenHands<'a> {
    fn new(variant: &'a Variant, position: &'a Position) -> OpenHands<'a> {
        let own_hand = position.hands[position.current_player.index()].cards();
        let outlook = position.outlook(variant);
        let mut hands =
            OpenHands { variant, position, outlook, own_hand, teammates_kinds: CardSet::EMPTY };
        hands.teammates_kinds =
            hands.teammates().fold(CardSet::EMPTY, |all, hand| all | kinds(hand));
        hands
    }

    /// The teammates' hands, by offset.
    fn teammates(&self) -> impl Iterator<Item = &'a [u8]> {
        let (variant, position) = (self.variant, self.position);
        let seat = move |offset| variant.seat_after_unchecked(position.current_player, offset);
        variant.teammates().map(move |offset| position.hands[seat(offset).index()].cards())
    }

    fn rank(&self, card: u8) -> Rank {
        self.variant.card_unchecked(card).rank
    }

    /// The best playable card: preferably one that no teammate of lower urgency holds too, then
    /// the lowest.
    fn best_play(&self) -> Option<Slot> {
        let playable = self.outlook.playable & kinds(self.own_hand);
        let shared = self.shared_with_less_busy(playable);
        let order = |&slot: &usize| {
            let card = self.own_hand[slot];
            (shared.contains(card.into()), self.rank(card))
        };
        let slots =
            (0..self.own_hand.len()).filter(|&slot| playable.contains(self.own_hand[slot].into()));
        slots.min_by_key(order).map(Slot::new_unchecked)
    }

    /// The given cards that a teammate with a lower [`OpenHands::urgency`] holds too.
    fn shared_with_less_busy(&self, cards: CardSet) -> CardSet {
        if !cards.intersects(self.teammates_kinds) {
            return CardSet::EMPTY;
        }
        let urgency = self.urgency(self.own_hand);
        let less_busy = self.teammates().filter(|hand| self.urgency(hand) < urgency);
        less_busy.fold(CardSet::EMPTY, |shared, hand| shared | cards & kinds(hand))
    }

    /// How much a hand still has to play. Critical cards weigh most, low ones above high ones.
    fn urgency(&self, hand: &[u8]) -> usize {
        let of_card = |&card: &u8| {
            if self.outlook.dead.contains(card.into()) {
                0
            } else if self.outlook.critical.contains(card.into()) {
                9 - self.rank(card).index()
            } else {
                1
            }
        };
        hand.iter().map(of_card).sum()
    }

    fn teammate_can_play(&self) -> bool {
        self.teammates_kinds.intersects(self.outlook.playable)
    }

    /// The oldest card that is dead or a duplicate of an older card in the same hand.
    fn useless_slot(&self) -> Option<Slot> {
        let mut useless = self.outlook.dead;
        for (slot, &card) in self.own_hand.iter().enumerate() {
            if useless.contains(card.into()) {
                return Some(Slot::new_unchecked(slot));
            }
            useless |= CardSet::of(card.into());
        }
        None
    }

    /// A card that a teammate holds too, otherwise one that is not critical, otherwise the highest.
    fn least_needed_slot(&self) -> Slot {
        let order = |&slot: &usize| {
            let card = self.own_hand[slot];
            let index = usize::from(card);
            (
                self.teammates_kinds.contains(index),
                !self.outlook.critical.contains(index),
                self.rank(card),
            )
        };
        // Reversed, so that the lowest slot wins a tie.
        Slot::new_unchecked((0..self.own_hand.len()).rev().max_by_key(order).unwrap_or(0))
    }

    /// A hint that only passes the turn: the rank of the oldest card of the next teammate who has cards.
    fn passing_hint(&self) -> Option<Move> {
        if !self.position.may_hint() {
            return None;
        }
        let mut hands = self.teammates().zip(self.variant.teammates());
        let (card, offset) = hands.find_map(|(hand, offset)| Some((*hand.first()?, offset)))?;
        Some(Move::Hint { offset, hint: Hint::Rank(self.rank(card)) })
    }
}

fn kinds(hand: &[u8]) -> CardSet {
    CardSet(hand.iter().fold(0, |set, &card| set | 1 << card))
}
