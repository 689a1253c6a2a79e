use super::bot::{Bot, Turn};
use super::notes::{HandNotes, Notes, Tally};
use super::pointing::{Harmless, looks_like_a_pass};
use super::warning::{Convention, act};
use crate::rules::{Card, CardSet, Chance, Hint, Move, Rank, SlotSet, Suit, Variant, View};

/// Plays and warns as [`Value`](super::value::Value) does, and infers what cards are from all that
/// the table knows: `HolmesBot` of <https://github.com/Quuxplusone/Hanabi>. Plays the base game.
#[derive(Clone, Debug)]
pub struct Holmes {
    notes: Notes,
}

impl Holmes {
    /// A bot that waits for its first game.
    #[must_use]
    pub fn new(variant: &Variant) -> Holmes {
        Holmes { notes: Notes::new(variant) }
    }

    /// All touched cards are playable, but for those whose rank tells that they are not.
    fn read_color(&mut self, view: &View<'_>, target: usize, suit: Suit, touched: SlotSet) {
        let Notes { tally, hands, .. } = &mut self.notes;
        let hand = &mut hands[target];
        let cards = CardSet(view.variant().tables().suit_cards[suit.index()]);
        hand.told(view.hand_size(view.offset(target)), touched, cards);
        // Somebody who hints by other rules may name a colour that is complete.
        let next = tally.playable & cards;
        if !next.is_empty() {
            hand.narrow(touched - hand.rank_known - hand.dead, next);
        }
    }

    /// A warning if the card that would be discarded next may be a last copy, or else all touched
    /// cards are playable but for those whose suit tells that they are not.
    fn read_rank(&mut self, view: &View<'_>, target: usize, rank: Rank, touched: SlotSet) {
        let hand = &self.notes.hands[target];
        let cards = CardSet(view.variant().tables().rank_cards[rank.index()]);
        let size = view.hand_size(view.offset(target));
        let discard = hand.next_discard(size);
        let warned = discard.filter(|&slot| {
            touched.contains(slot) && Holmes::is_suspected(&self.notes, hand, slot, cards)
        });
        let lowest = view.fireworks().iter().min().map_or(0, |&low| usize::from(low));
        let hand = &mut self.notes.hands[target];
        match warned.map(SlotSet::of) {
            Some(slot) => {
                hand.critical |= slot;
                // A last copy that is still needed, of the lowest rank that is: it is playable.
                hand.playable |= if rank.index() == lowest { slot } else { SlotSet::EMPTY };
            }
            None => hand.playable |= touched - hand.suit_known - hand.dead,
        }
        hand.told(size, touched, cards);
    }

    fn see_card(&mut self, turn: &Turn<'_>, card: Card, slot: u8) {
        let (variant, event) = (turn.before.variant(), turn.event);
        let index = variant.card_index(card);
        let is_last = self.notes.tally.critical().contains(index);
        self.notes.remove(variant, event.seat.into(), slot.into());
        self.notes.tally.take(variant, card, event.added);
        if event.added && !is_last {
            self.notes.doubt(index, |hand| hand.critical);
        }
    }

    /// Cards that are certain leave fewer copies for the others, until nothing follows any more.
    fn infer(&mut self, view: &View<'_>) {
        let variant = view.variant();
        let mut certain = Certain::default();
        for hand in &self.notes.hands {
            (hand.suit_known & hand.rank_known).iter().for_each(|slot| {
                certain.add(hand.possible[slot]);
            });
        }
        loop {
            let finds = Finds { tally: self.notes.tally, gone: certain.gone(&self.notes.tally) };
            let mut is_news = false;
            for seat in 0..usize::from(variant.players()) {
                let hand = &mut self.notes.hands[seat];
                for slot in 0..view.hand_size(view.offset(seat)) {
                    if finds.narrow(variant, hand, slot) {
                        certain.add(hand.possible[slot]);
                        is_news = true;
                    }
                    finds.mark(hand, slot);
                }
            }
            if !is_news {
                return;
            }
        }
    }
}

/// The cards of which at least one, two and three copies are known to be in certain slots.
#[derive(Clone, Copy, Debug, Default)]
struct Certain([CardSet; 3]);

impl Certain {
    fn add(&mut self, mut card: CardSet) {
        for held in &mut self.0 {
            let more = *held & card;
            *held |= card;
            card = more;
        }
    }

    /// The cards that no other slot can hold.
    fn gone(&self, tally: &Tally) -> CardSet {
        let ([once, twice, thrice], [one, two, three]) = (self.0, tally.left);
        CardSet(!one.0) | (once - two) | (twice - three) | thrice
    }
}

/// What follows for a slot from what is on the table.
struct Finds {
    tally: Tally,
    gone: CardSet,
}

impl Finds {
    /// Drops cards that the slot cannot hold. Whether it has become certain.
    fn narrow(&self, variant: &Variant, hand: &mut HandNotes, slot: usize) -> bool {
        let cards = hand.possible[slot];
        if cards.single().is_some() {
            return false;
        }
        let mut left = cards - self.gone;
        for (marks, meaning) in [
            (hand.playable, self.tally.playable),
            (hand.critical, self.tally.critical()),
            (hand.dead, self.tally.played),
        ] {
            if marks.contains(slot) {
                left &= meaning;
            }
        }
        // Nothing is left only when somebody plays by other rules.
        if left == cards || left.is_empty() {
            return false;
        }
        hand.possible[slot] = left;
        hand.identify(variant, slot);
        left.single().is_some()
    }

    /// Marks a slot all of whose cards are dead, critical or playable.
    fn mark(&self, hand: &mut HandNotes, slot: usize) {
        let (cards, slot) = (hand.possible[slot], SlotSet::of(slot));
        if hand.dead.meets(slot) {
            return;
        }
        if !(hand.playable | hand.critical).meets(slot) && cards.is_subset(self.tally.played) {
            hand.dead |= slot;
            return;
        }
        if cards.is_subset(self.tally.critical()) {
            hand.critical |= slot;
        }
        if cards.is_subset(self.tally.playable) {
            hand.playable |= slot;
        }
    }
}

impl HandNotes {
    /// Takes down whether the slot's suit and rank are certain.
    fn identify(&mut self, variant: &Variant, slot: usize) {
        let (tables, cards) = (variant.tables(), self.possible[slot]);
        let card = self.likely(variant, slot);
        let slot = SlotSet::of(slot);
        if cards.is_subset(CardSet(tables.suit_cards[card.suit.index()])) {
            self.suit_known |= slot;
        }
        if cards.is_subset(CardSet(tables.rank_cards[card.rank.index()])) {
            self.rank_known |= slot;
        }
    }
}

impl Convention for Holmes {
    fn harmless(hand: &HandNotes) -> Harmless {
        Harmless { color: hand.rank_known | hand.dead, rank: hand.suit_known | hand.dead }
    }

    fn is_suspected(notes: &Notes, hand: &HandNotes, slot: usize, cards: CardSet) -> bool {
        notes.tally.critical().meets(hand.possible[slot] & cards)
    }

    /// The newest card that may be playable, when the deck is about to run out and a life can be
    /// spared.
    fn risk(notes: &Notes, view: &View<'_>) -> Option<usize> {
        let own = &notes.hands[view.observer()];
        let slots = SlotSet::first_slots(view.hand_size(0));
        let unclear = slots - own.dead - (own.suit_known & own.rank_known);
        if view.deck_size() <= 1 { unclear.newest() } else { None }
    }
}

impl Bot for Holmes {
    fn start(&mut self, view: &View<'_>, _: Chance) {
        self.notes.start(view.variant());
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        let (variant, event) = (turn.before.variant(), turn.event);
        match (event.played, event.card) {
            (Move::Hint { offset, hint }, _) => {
                let target = variant.seat_after(event.seat.into(), offset.into());
                match hint {
                    Hint::Color(suit) => self.read_color(&turn.before, target, suit, event.touched),
                    Hint::Rank(_) if looks_like_a_pass(turn) => {}
                    Hint::Rank(rank) => self.read_rank(&turn.before, target, rank, event.touched),
                }
                let size = turn.after.hand_size(turn.after.offset(target));
                for slot in 0..size {
                    self.notes.hands[target].identify(variant, slot);
                }
            }
            (Move::Discard { slot } | Move::Play { slot }, Some(card)) => {
                self.see_card(turn, card, slot);
            }
            _ => {}
        }
        self.infer(&turn.after);
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        act::<Holmes>(&self.notes, view)
    }
}
