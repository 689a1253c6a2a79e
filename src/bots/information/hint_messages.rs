//! The messages that a hint can send.

use super::hand_knowledge::{CardsLeft, HandKnowledge};
use super::private_knowledge::gain;
use super::public_knowledge::PublicKnowledge;
use super::suits_and_ranks::{ranks_of, suits_of};
use crate::bots::common::first_best;
use crate::rules::{CardSet, Event, Hint, MAX_PLAYERS, Move, Offset, Slot, View};

/// The messages that a seat can send by the choice of its hint. Hints to each teammate encode three
/// or four messages, by one slot of the hand: a rank hint that touches the slot, a colour hint that
/// touches it, and any hint that misses it, or a rank and a colour hint that miss it.
#[derive(Clone, Copy, Debug)]
pub(super) struct HintMessages {
    sender: usize,
    /// The number of messages of hints to the seat at each distance from the sender.
    of_distance: [usize; MAX_PLAYERS],
    pub total: usize,
}

impl HintMessages {
    /// The messages of a seat.
    pub fn of_hints(public: &PublicKnowledge, sender: usize) -> HintMessages {
        let mut messages = HintMessages { sender, of_distance: [0; MAX_PLAYERS], total: 0 };
        for distance in 1..public.players {
            let hand = &public.hands[public.offset_after(sender, distance)];
            let number = if is_mixed(hand) { 4 } else { 3 };
            messages.of_distance[distance] = number;
            messages.total += number;
        }
        messages
    }

    /// The message of a hint.
    pub fn of_hint(&self, public: &PublicKnowledge, event: &Event) -> usize {
        let Move::Hint { offset, hint } = event.played else { return 0 };
        let distance = offset.index();
        let hand = &public.hands[public.offset_after(self.sender, distance)];
        let is_touched =
            event.touched.contains(Slot::new_unchecked(hinted_slot(hand, &public.left)));
        let of_hand = match (hint, is_touched) {
            (Hint::Rank(_), true) => 0,
            (Hint::Color(_), true) => 1,
            (Hint::Rank(_), false) => 2,
            (Hint::Color(_), false) => self.of_distance[distance] - 1,
        };
        self.of_distance[..distance].iter().sum::<usize>() + of_hand
    }

    /// The best hint of the observer that encodes this message.
    pub fn hint(&self, public: &PublicKnowledge, view: &View<'_>, message: usize) -> Option<Move> {
        let (mut distance, mut of_hand) = (1, message);
        while of_hand >= self.of_distance[distance] {
            of_hand -= self.of_distance[distance];
            distance += 1;
        }
        let hand = &public.hands[distance];
        let card =
            view.hand(Offset::new_unchecked(distance)).nth(hinted_slot(hand, &public.left))?;
        let hint = match (of_hand, self.of_distance[distance]) {
            (0, _) => Some(Hint::Rank(card.rank)),
            (1, _) => Some(Hint::Color(card.suit)),
            (2, 3) => best_hint(public, view, distance, |hint| !hint.matches(card)),
            (2, _) => best_hint(
                public,
                view,
                distance,
                |hint| matches!(hint, Hint::Rank(rank) if rank != card.rank),
            ),
            _ => best_hint(
                public,
                view,
                distance,
                |hint| matches!(hint, Hint::Color(suit) if suit != card.suit),
            ),
        };
        hint.map(|hint| Move::Hint { offset: Offset::new_unchecked(distance), hint })
    }
}

/// The slot of a hand that its hints are about: the oldest of those about which a hint would reveal
/// most.
fn hinted_slot(hand: &HandKnowledge, left: &CardsLeft) -> usize {
    let unknown = |kinds: CardSet| {
        if kinds.is_subset(left.outlook.dead) || kinds.single().is_some() {
            return 0;
        }
        let has_several = |set: u64| u8::from(!set.is_power_of_two());
        1 + has_several(suits_of(kinds)) + has_several(ranks_of(kinds))
    };
    let slots = (0..hand.size).rev();
    slots.max_by_key(|&slot| unknown(hand.slots[slot])).unwrap_or(0)
}

/// Whether a hand is commonly known to have at least two suits and at least two ranks. Then four
/// messages can be sent by a hint to it, otherwise three.
fn is_mixed(hand: &HandKnowledge) -> bool {
    let common = |set_of: fn(CardSet) -> u64| {
        hand.cards().iter().fold(u64::MAX, |common, &kinds| common & set_of(kinds))
    };
    common(suits_of) == 0 && common(ranks_of) == 0
}

/// Among the hints that satisfy `wanted`, the one that reveals the most by itself.
fn best_hint(
    public: &PublicKnowledge,
    view: &View<'_>,
    offset: usize,
    wanted: impl Fn(Hint) -> bool,
) -> Option<Hint> {
    let colors = view.variant().all_suits().map(Hint::Color);
    let hints = colors.chain(view.variant().all_ranks().map(Hint::Rank));
    let rated = hints.filter(|&hint| wanted(hint)).filter_map(|hint| {
        let touched = hint.touched(view.hand(Offset::new_unchecked(offset)));
        let gain = || gain(&public.hands[offset], hint, touched, &public.left);
        (!touched.is_empty()).then(|| (hint, gain()))
    });
    first_best(rated.filter(|&(_, gain)| gain > 0.0)).map(|(hint, _)| hint)
}
