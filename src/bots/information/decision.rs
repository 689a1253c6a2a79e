use super::copies::{Copies, RANKS};
use super::hand::Hand;
use super::messages::Messages;
use super::public::{MOST_PLAYERS, Public};
use crate::rules::{CardSet, Move, View};

/// The move to make. `public` becomes what everybody knows by it. Nothing when no hint is the
/// message that it would have to be.
pub(super) fn decide(public: &mut Public, view: &View<'_>) -> Option<Move> {
    let sight = Sight::new(public, view);
    if let Some(slot) = sight.best_play().or_else(|| sight.risky_play()) {
        return Some(Move::Play { slot: slot as u8 });
    }
    let useless = sight.own.useless(&public.prospects);
    if sight.wants_hint(useless.0 != 0) {
        let messages = Messages::of_hints(public, 0);
        let known = *public;
        let message = public.say(view, messages.total);
        return messages.hint(&known, view, message);
    }
    let known_useless = public.hands[0].useless(&public.prospects);
    let least_needed = useless.iter().next().unwrap_or_else(|| sight.least_needed());
    if view.information_tokens() > 0 {
        public.nobody_needs_a_hint(0);
    }
    let slots = known_useless.iter().count();
    let slot = if slots > 1 {
        let message = public.say(view, slots);
        known_useless.iter().nth(message).unwrap_or(least_needed)
    } else {
        least_needed
    };
    Some(Move::Discard { slot: slot as u8 })
}

/// What the observer sees besides what everybody knows.
struct Sight<'a> {
    public: &'a Public,
    view: &'a View<'a>,
    /// The own hand, by all that the observer knows and sees.
    own: Hand,
    /// What each teammate holds, by offset.
    held: [CardSet; MOST_PLAYERS],
}

impl<'a> Sight<'a> {
    fn new(public: &'a Public, view: &'a View<'a>) -> Sight<'a> {
        let mut held = [CardSet::EMPTY; MOST_PLAYERS];
        let mut unseen = public.left;
        for (offset, held) in held.iter_mut().enumerate().take(public.players).skip(1) {
            for &card in view.hand_indices(offset) {
                *held |= CardSet::of(card.into());
                unseen.remove(card.into());
            }
        }
        let mut own = public.hands[0];
        own.limit(unseen);
        own.mend(view, 0, unseen);
        Sight { public, view, own, held }
    }

    fn teammates(&self) -> impl Iterator<Item = usize> {
        1..self.public.players
    }

    /// The playable card that is best played now: a low one that few teammates hold.
    fn best_play(&self) -> Option<usize> {
        let playable = self.public.prospects.playable;
        let mut best = (0.0, None);
        for (slot, &card) in self.own.cards().iter().enumerate() {
            if card.is_subset(playable) {
                let urgency = self.urgency(card);
                if urgency > best.0 {
                    best = (urgency, Some(slot));
                }
            }
        }
        best.1
    }

    /// How good it is to play a card that is one of these, on average.
    fn urgency(&self, card: Copies) -> f32 {
        let of_kind = |kind: usize| {
            let holds = |&offset: &usize| self.held[offset].contains(kind);
            let others = self.teammates().filter(holds).count();
            let holders = if self.view.deck_size() > 0 { 1 + others } else { 1 };
            (9 - kind % RANKS) as f32 / holders as f32
        };
        let weighted = |sum: f32, kind: usize| {
            let weight = (card & Copies::of(CardSet::of(kind))).len();
            sum + weight as f32 * of_kind(kind)
        };
        card.kinds().iter().fold(0.0, weighted) / card.len() as f32
    }

    /// Of the cards that are either playable or dead the one that is playable most probably, if
    /// the team can afford that it is not.
    fn risky_play(&self) -> Option<usize> {
        if self.view.life_tokens() < 2 || !self.can_spare_turns() {
            return None;
        }
        let prospects = &self.public.prospects;
        let harmless = prospects.playable | prospects.dead;
        let mut best = (0.75, None);
        for (slot, card) in self.own.cards().iter().enumerate() {
            let share = (*card & prospects.playable).len() as f32 / card.len() as f32;
            if card.is_subset(harmless) && share > best.0 {
                best = (share, Some(slot));
            }
        }
        best.1
    }

    /// Whether so few cards are discarded that the team could still play all others before the
    /// last round.
    fn can_spare_turns(&self) -> bool {
        let variant = self.view.variant();
        let in_hands = u32::from(variant.players()) * u32::from(variant.hand_size());
        let discarded = self.view.discards().count_ones();
        discarded + in_hands + u32::from(variant.max_score()) <= variant.deck_size().into()
    }

    /// Whether to give a hint rather than to discard. What everybody learns from a discard depends
    /// on this order of things.
    fn wants_hint(&self, has_useless: bool) -> bool {
        let tokens = self.view.information_tokens();
        if tokens == 0 {
            false
        } else if tokens == self.view.variant().max_information_tokens()
            || self.somebody_needs_a_hint()
        {
            true
        } else if has_useless && self.can_spare_turns() {
            false
        } else {
            tokens > 4 || self.teammates().any(|offset| self.can_play(offset))
        }
    }

    /// Whether a teammate has a playable card and knows none.
    fn somebody_needs_a_hint(&self) -> bool {
        let prospects = &self.public.prospects;
        let knows = |offset: usize| self.public.hands[offset].knows_playable(prospects);
        self.teammates().any(|offset| self.can_play(offset) && !knows(offset))
    }

    fn can_play(&self, offset: usize) -> bool {
        self.held[offset].meets(self.public.prospects.playable.kinds())
    }

    /// A card that a teammate probably holds too, that is probably not critical, and that is high.
    fn least_needed(&self) -> usize {
        let seen = Copies::of(self.held.iter().fold(CardSet::EMPTY, |seen, &hand| seen | hand));
        let critical = self.public.prospects.critical;
        let mut best = (f32::MIN, 0);
        for (slot, &card) in self.own.cards().iter().enumerate() {
            let share = |part: u32| part as f32 / card.len() as f32;
            let ranks = card.kinds().iter().map(|kind| {
                let copies = card & Copies::of(CardSet::of(kind));
                copies.len() * (kind % RANKS + 1) as u32
            });
            let worth = 20.0 * share((card & seen).len())
                + 10.0 * share((card - critical).len())
                + share(ranks.sum());
            if worth > best.0 {
                best = (worth, slot);
            }
        }
        best.1
    }
}
