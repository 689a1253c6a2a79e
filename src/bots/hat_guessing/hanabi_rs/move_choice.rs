use super::hint_messages::HintMessages;
use super::public_knowledge::{PublicKnowledge, mend};
use crate::bots::base_game::rank_of;
use crate::bots::hat_guessing::copies::Copies;
use crate::bots::hat_guessing::hand_knowledge::HandKnowledge;
use crate::rules::{CardSet, MAX_PLAYERS, Move, View};

/// The choice of a move. Applies the message of the move to `public`. Returns `None` if no hint
/// encodes the message that would have to be sent.
pub(super) fn choose(public: &mut PublicKnowledge, view: &View<'_>) -> Option<Move> {
    let private = PrivateKnowledge::new(public, view);
    if let Some(slot) = private.best_play().or_else(|| private.risky_play()) {
        return Some(Move::Play { slot: slot as u8 });
    }
    let useless = private.own.useless(&public.outlook);
    if private.wants_hint(useless.0 != 0) {
        let messages = HintMessages::of_hints(public, 0);
        let known = *public;
        let message = public.send(view, messages.total);
        return messages.hint(&known, view, message);
    }
    let known_useless = public.hands[0].useless(&public.outlook);
    let least_needed = useless.iter().next().unwrap_or_else(|| private.least_needed());
    if view.may_hint() {
        public.note_missing_hint(0);
    }
    let slots = known_useless.iter().count();
    let slot = if slots > 1 {
        let message = public.send(view, slots);
        known_useless.iter().nth(message).unwrap_or(least_needed)
    } else {
        least_needed
    };
    Some(Move::Discard { slot: slot as u8 })
}

/// The observer's knowledge: the common knowledge and the visible hands.
struct PrivateKnowledge<'a> {
    public: &'a PublicKnowledge,
    view: &'a View<'a>,
    /// What the observer knows about its own hand.
    own: HandKnowledge,
    /// The kinds in each teammate's hand, by offset.
    held: [CardSet; MAX_PLAYERS],
}

impl<'a> PrivateKnowledge<'a> {
    fn new(public: &'a PublicKnowledge, view: &'a View<'a>) -> PrivateKnowledge<'a> {
        let mut held = [CardSet::EMPTY; MAX_PLAYERS];
        let mut unseen = public.left;
        for (offset, held) in held.iter_mut().enumerate().take(public.players).skip(1) {
            for &card in view.hand_indices(offset) {
                *held |= CardSet::of(card.into());
                unseen.remove(card.into());
            }
        }
        let mut own = public.hands[0];
        own.keep(unseen);
        mend(&mut own, view, 0, unseen);
        PrivateKnowledge { public, view, own, held }
    }

    fn teammates(&self) -> impl Iterator<Item = usize> {
        1..self.public.players
    }

    /// The best card known to be playable: a low one that few teammates hold.
    fn best_play(&self) -> Option<usize> {
        let playable = self.public.outlook.playable;
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

    /// The average urgency of playing a card that is one of these copies.
    fn urgency(&self, card: Copies) -> f32 {
        let of_kind = |kind: usize| {
            let holds = |&offset: &usize| self.held[offset].contains(kind);
            let others = self.teammates().filter(holds).count();
            let holders = if self.view.deck_size() > 0 { 1 + others } else { 1 };
            (9 - rank_of(kind)) as f32 / holders as f32
        };
        let weighted = |sum: f32, kind: usize| {
            let weight = (card & Copies::of(CardSet::of(kind))).len();
            sum + weight as f32 * of_kind(kind)
        };
        card.kinds().iter().fold(0.0, weighted) / card.len() as f32
    }

    /// Among the cards that are either playable or dead, the one that is most likely playable, with
    /// a probability above 3/4, if the team can afford a misplay.
    fn risky_play(&self) -> Option<usize> {
        if !self.view.may_misplay() || !self.can_spare_turns() {
            return None;
        }
        let outlook = &self.public.outlook;
        let harmless = outlook.playable | outlook.dead;
        let mut best = (0.75, None);
        for (slot, card) in self.own.cards().iter().enumerate() {
            let probability = (*card & outlook.playable).len() as f32 / card.len() as f32;
            if card.is_subset(harmless) && probability > best.0 {
                best = (probability, Some(slot));
            }
        }
        best.1
    }

    /// Whether the deck is large enough for a discard: all missing cards could still be played
    /// before the last round.
    fn can_spare_turns(&self) -> bool {
        let variant = self.view.variant();
        let in_hands = u32::from(variant.players()) * u32::from(variant.hand_size());
        let discarded = self.view.discards().count_ones();
        discarded + in_hands + u32::from(variant.max_score()) <= variant.deck_size().into()
    }

    /// Whether to give a hint rather than to discard. The others draw conclusions from a discard,
    /// so the order of these conditions is part of the convention.
    fn wants_hint(&self, has_useless: bool) -> bool {
        let tokens = self.view.information_tokens();
        if !self.view.may_hint() {
            false
        } else if !self.view.may_discard() || self.somebody_needs_a_hint() {
            true
        } else if has_useless && self.can_spare_turns() {
            false
        } else {
            tokens > 4 || self.teammates().any(|offset| self.can_play(offset))
        }
    }

    /// Whether a teammate has a playable card and knows none.
    fn somebody_needs_a_hint(&self) -> bool {
        self.teammates().any(|offset| self.can_play(offset) && !self.public.knows_playable(offset))
    }

    fn can_play(&self, offset: usize) -> bool {
        self.held[offset].meets(self.public.outlook.playable.kinds())
    }

    /// The slot whose loss probably costs least: a teammate holds the same card, or it is not
    /// critical, or its rank is high.
    fn least_needed(&self) -> usize {
        let seen = Copies::of(self.held.iter().fold(CardSet::EMPTY, |seen, &hand| seen | hand));
        let critical = self.public.outlook.critical;
        let mut best = (f32::MIN, 0);
        for (slot, &card) in self.own.cards().iter().enumerate() {
            let per_copy = |sum: u32| sum as f32 / card.len() as f32;
            let score = 20.0 * per_copy((card & seen).len())
                + 10.0 * per_copy((card - critical).len())
                + per_copy(card.rank_sum());
            if score > best.0 {
                best = (score, slot);
            }
        }
        best.1
    }
}
