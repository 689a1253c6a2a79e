use super::copies::Copies;
use super::hand::{Hand, Prospects};
use super::public::{MOST_PLAYERS, Public};
use crate::rules::{Card, Event, Hint, Move, SlotSet, View};

/// What a seat can say to everybody by the choice of its hint. Each teammate's hand is good for
/// three messages, or four: a rank hint that points the hand's one slot out, a colour hint that
/// does, and a hint that does not, or a rank and a colour hint that do not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Messages {
    sender: usize,
    /// Of a hint to the seat at this distance from the sender.
    of_distance: [usize; MOST_PLAYERS],
    pub total: usize,
}

impl Messages {
    /// Of the hints that this seat can give.
    pub fn of_hints(public: &Public, sender: usize) -> Messages {
        let mut messages = Messages { sender, of_distance: [0; MOST_PLAYERS], total: 0 };
        for distance in 1..public.players {
            let hand = &public.hands[public.offset_after(sender, distance)];
            let number = if hand.is_mixed() { 4 } else { 3 };
            messages.of_distance[distance] = number;
            messages.total += number;
        }
        messages
    }

    /// The message of a hint that was given.
    pub fn of_hint(&self, public: &Public, event: &Event) -> usize {
        let Move::Hint { offset, hint } = event.played else { return 0 };
        let distance = usize::from(offset);
        let hand = &public.hands[public.offset_after(self.sender, distance)];
        let is_touched = event.touched.contains(hand.hinted_slot(&public.prospects));
        let of_hand = match (hint, is_touched) {
            (Hint::Rank(_), true) => 0,
            (Hint::Color(_), true) => 1,
            (Hint::Rank(_), false) => 2,
            (Hint::Color(_), false) => self.of_distance[distance] - 1,
        };
        self.of_distance[..distance].iter().sum::<usize>() + of_hand
    }

    /// The best of the observer's hints that are this message.
    pub fn hint(&self, public: &Public, view: &View<'_>, message: usize) -> Option<Move> {
        let (mut distance, mut of_hand) = (1, message);
        while of_hand >= self.of_distance[distance] {
            of_hand -= self.of_distance[distance];
            distance += 1;
        }
        let hand = &public.hands[distance];
        let card = view.hand(distance).nth(hand.hinted_slot(&public.prospects))?;
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
        hint.map(|hint| Move::Hint { offset: distance as u8, hint })
    }
}

/// The hint of these that tells the seat most by itself.
fn best_hint(
    public: &Public,
    view: &View<'_>,
    offset: usize,
    wanted: impl Fn(Hint) -> bool,
) -> Option<Hint> {
    let colors = view.variant().suits().map(Hint::Color);
    let hints = colors.chain(view.variant().rank_values().map(Hint::Rank));
    let mut best = None;
    let mut most = 0.0;
    for hint in hints.filter(|&hint| wanted(hint)) {
        let touched = touched(view.hand(offset), hint);
        if touched.0 != 0 {
            let worth = worth(&public.hands[offset], hint, touched, &public.prospects);
            if worth > most {
                (best, most) = (Some(hint), worth);
            }
        }
    }
    best
}

/// The slots of a hand that a hint points out.
fn touched(hand: impl Iterator<Item = Card>, hint: Hint) -> SlotSet {
    let matches = hand.enumerate().map(|(slot, card)| u8::from(hint.matches(card)) << slot);
    SlotSet(matches.sum())
}

/// By how much a hint narrows down what the cards of a hand can be. What settles a card counts
/// twice.
fn worth(hand: &Hand, hint: Hint, touched: SlotSet, prospects: &Prospects) -> f32 {
    let mut told = *hand;
    told.told(hint, touched);
    let is_settled = |card: Copies| card.is_one_kind() || card.is_subset(prospects.dead);
    let cards = hand.cards().iter().zip(told.cards());
    let unsettled = cards.filter(|&(&before, _)| !is_settled(before));
    let factors = unsettled.map(|(&before, &after)| {
        let bonus = if is_settled(after) { 2.0 } else { 1.0 };
        bonus * (before.len() as f32 / after.len() as f32)
    });
    factors.product()
}
