use super::bot::{Bot, Turn};
use super::notes::{HandNotes, Notes, Tally, hint_cards};
use super::pointing::looks_like_a_pass;
use super::warning::{Convention, act, read};
use crate::rules::{Card, CardSet, GameRng, Hint, Move, SlotSet, Variant, View};

/// Plays and warns as [`Value`](super::value::Value) does, and infers what cards are from all that
/// the table knows: `HolmesBot` of <https://github.com/Quuxplusone/Hanabi>. Plays the base game.
#[derive(Clone, Debug)]
pub struct Holmes {
    notes: Notes,
    /// Whether turns have been seen from which something may follow.
    is_behind: bool,
    /// What has been considered for all slots.
    finds: Finds,
}

impl Holmes {
    /// A bot that waits for its first game.
    #[must_use]
    pub fn new(variant: &Variant) -> Holmes {
        Holmes { notes: Notes::new(variant), is_behind: false, finds: Finds::default() }
    }

    fn read_hint(&mut self, turn: &Turn<'_>, target: usize, hint: Hint) {
        read::<Holmes>(&mut self.notes, turn, target, hint);
        let hand = &mut self.notes.hands[target];
        hand.exclude(hand.held - turn.event.touched, hint_cards(turn.before.variant(), hint));
        // What the marks mean follows from the table as it is now.
        let finds = Finds::new(&self.notes.tally, &Certain::default());
        // Somebody who hints by other rules may contradict what was certain.
        let before = std::mem::take(&mut hand.certain);
        finds.mark(hand);
        self.is_behind |= hand.certain != before;
    }

    fn see_card(&mut self, turn: &Turn<'_>, card: Card, slot: u8) {
        let (variant, event) = (turn.before.variant(), turn.event);
        let index = variant.card_index(card);
        let is_last = self.notes.tally.critical().contains(index);
        self.notes.replace(&turn.before, event.seat.into(), slot.into());
        self.notes.hands[usize::from(event.seat)].exclude_from_uncertain(self.finds.gone);
        self.notes.tally.take(variant, card, event.added);
        if event.added && !is_last {
            self.notes.doubt(index, |hand| hand.critical);
        }
    }

    /// What follows from the turns since the last time: cards that are certain leave fewer copies
    /// for the others, until nothing follows any more.
    fn infer(&mut self, players: usize) {
        if !std::mem::take(&mut self.is_behind) {
            return;
        }
        let hands = &mut self.notes.hands[..players];
        loop {
            let finds = Finds::new(&self.notes.tally, &Certain::of(hands));
            if !finds.is_more_than(&self.finds) {
                return;
            }
            self.finds = finds;
            let mut is_news = false;
            for hand in &mut *hands {
                hand.exclude_from_uncertain(finds.gone);
                is_news |= finds.mark(hand);
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
    fn of(hands: &[HandNotes]) -> Certain {
        let mut certain = Certain::default();
        for hand in hands {
            for slot in hand.certain.iter() {
                certain.add(hand.possible(slot));
            }
        }
        certain
    }

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

/// What the table knows about cards, from which something may follow for a slot.
#[derive(Clone, Copy, Debug, Default)]
struct Finds {
    /// Only slots that are certain can hold these.
    gone: CardSet,
    played: CardSet,
    playable: CardSet,
    critical: CardSet,
}

impl Finds {
    fn new(tally: &Tally, certain: &Certain) -> Finds {
        let Tally { played, playable, .. } = *tally;
        Finds { gone: certain.gone(tally), played, playable, critical: tally.critical() }
    }

    /// Whether something may follow for slots from which those others were taken.
    fn is_more_than(&self, others: &Finds) -> bool {
        let gains = (self.gone - others.gone)
            | (self.played - others.played)
            | (self.playable - others.playable)
            | (self.critical - others.critical);
        // A card that was just drawn is any of those that are left.
        !gains.is_empty() || CardSet(!self.gone.0).is_subset(self.marked())
    }

    /// Cards that mark a slot which holds one of them for certain.
    fn marked(&self) -> CardSet {
        self.played | self.playable | self.critical
    }

    /// Narrows slots to what their marks mean, and marks those all of whose cards are dead,
    /// critical or playable, or that are certain. Whether there are more certain ones.
    fn mark(&self, hand: &mut HandNotes) -> bool {
        let before = hand.certain;
        hand.exclude(hand.playable - before, CardSet(!self.playable.0));
        hand.exclude(hand.critical - before, CardSet(!self.critical.0));
        let concerned = hand.within_or_certain(self.marked());
        for slot in (concerned - (hand.dead & before)).iter() {
            self.mark_slot(hand, slot);
        }
        hand.certain != before
    }

    fn mark_slot(&self, hand: &mut HandNotes, slot: usize) {
        let (cards, slot) = (hand.possible(slot), SlotSet::of(slot));
        if cards.single().is_some() {
            hand.certain |= slot;
        }
        if cards.is_subset(self.played) {
            hand.dead |= slot - hand.playable - hand.critical;
        } else if cards.is_subset(self.critical) {
            hand.critical |= slot;
        }
        if cards.is_subset(self.playable) {
            hand.playable |= slot;
        }
    }
}

impl Convention for Holmes {
    fn harmless_by_color(variant: &Variant, hand: &HandNotes) -> SlotSet {
        hand.rank_known(variant) | hand.dead
    }

    fn harmless_by_rank(variant: &Variant, hand: &HandNotes) -> SlotSet {
        hand.suit_known(variant) | hand.dead
    }

    fn is_suspected(notes: &Notes, hand: &HandNotes, slot: usize, cards: CardSet) -> bool {
        notes.tally.critical().meets(hand.possible(slot) & cards)
    }

    /// The newest card that may be playable, when the deck is about to run out and a life can be
    /// spared.
    fn risk(notes: &Notes, view: &View<'_>) -> Option<usize> {
        let own = &notes.hands[view.observer()];
        let unclear = own.held - own.dead - own.certain;
        if view.deck_size() <= 1 { unclear.newest() } else { None }
    }
}

impl Bot for Holmes {
    fn start(&mut self, view: &View<'_>, _: GameRng) {
        self.notes.start(view.variant());
        self.is_behind = false;
        self.finds = Finds::default();
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        let (variant, event) = (turn.before.variant(), turn.event);
        match (event.played, event.card) {
            (Move::Hint { hint: Hint::Rank(_), .. }, _) if looks_like_a_pass(turn) => {}
            (Move::Hint { offset, hint }, _) => {
                self.infer(variant.players().into());
                let target = variant.seat_after(event.seat.into(), offset.into());
                self.read_hint(turn, target, hint);
            }
            (Move::Discard { slot } | Move::Play { slot }, Some(card)) => {
                self.see_card(turn, card, slot);
                self.is_behind = true;
            }
            _ => {}
        }
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        self.infer(view.variant().players().into());
        act::<Holmes>(&self.notes, view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Parameters;

    #[test]
    fn a_card_that_is_certain_elsewhere_is_not_held_twice() {
        let variant = Variant::new(Parameters::default()).unwrap();
        let mut holmes = Holmes::new(&variant);
        let [red, yellow, green] = [4, 9, 14].map(CardSet::of);
        let hands = &mut holmes.notes.hands;
        hands[0].narrow(SlotSet::of(0), red);
        hands[0].narrow(SlotSet::of(1), red | yellow);
        hands[1].narrow(SlotSet::of(2), red | yellow | green);
        holmes.is_behind = true;
        holmes.infer(2);
        let hands = &holmes.notes.hands;
        assert_eq!(hands[0].possible(1), yellow);
        assert_eq!(hands[1].possible(2), green);
        assert_eq!(hands[1].critical, SlotSet::of(2));
        assert_eq!(hands[1].possible(0).len(), 22);
    }
}
