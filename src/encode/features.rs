//! Numbers beside the bits of an observation: what follows from a view by counting.

use crate::rules::{Belief, CardSet, MAX_CARD_KINDS, Offset, Slot, View};

/// The numbers of a card in [`write_card_features`]: playable, dead, critical.
pub const CARD_FEATURES: usize = 3;

/// Writes for each card whether it is playable, dead and critical ([`View::outlook`]): offset by
/// offset, slot by slot, with zeros for an absent card. Of a card of the observer's hand these are
/// probabilities, by the exact marginals of [`Belief`].
///
/// # Panics
/// If `out` has another length than seats times slots of a full hand times [`CARD_FEATURES`].
pub fn write_card_features(view: &View<'_>, out: &mut [f32]) {
    let variant = view.variant();
    let (players, slots) = (usize::from(variant.players()), usize::from(variant.hand_size()));
    assert_eq!(out.len(), players * slots * CARD_FEATURES, "three numbers for each card");
    let outlook = view.outlook();
    let sets = [outlook.playable, outlook.dead, outlook.critical];
    let (cards, _) = out.as_chunks_mut::<CARD_FEATURES>();
    cards.fill([0.0; CARD_FEATURES]);
    let (own, others) = cards.split_at_mut(slots);
    let belief = Belief::new(view);
    for (slot, card) in own[..belief.slots()].iter_mut().enumerate() {
        *card = belief.probabilities(Slot::new_unchecked(slot), sets).map(|share| share as f32);
    }
    for (offset, hand) in variant.teammates().zip(others.chunks_exact_mut(slots)) {
        for (card, &kind) in hand.iter_mut().zip(view.hand_indices(offset)) {
            *card = sets.map(|set| f32::from(u8::from(set.contains(kind.into()))));
        }
    }
}

/// Writes the probability of each kind of card in each slot of each hand, as all seats may compute
/// it: offset by offset, slot by slot, the kinds in index order, with zeros for an absent card.
/// Each kind that the hints allow is weighted by its number of copies that were neither played
/// nor discarded.
///
/// These are the V0 beliefs of published agents, an observation of JaxMARL and of off-belief
/// learning. They weigh each slot by itself and do not use the visible hands; [`Belief`] does both.
///
/// # Panics
/// If `out` has another length than seats times slots of a full hand times kinds.
pub fn write_public_marginals(view: &View<'_>, out: &mut [f32]) {
    let variant = view.variant();
    let (players, slots) = (usize::from(variant.players()), usize::from(variant.hand_size()));
    let kinds = variant.num_card_kinds();
    assert_eq!(out.len(), players * slots * kinds, "a number for each slot and kind");
    let mut left = [0; MAX_CARD_KINDS];
    for (card, left) in variant.card_kinds().zip(&mut left) {
        let is_played = card.rank.index() < view.fireworks()[card.suit.index()].into();
        let gone = view.discarded(card) + u8::from(is_played);
        *left = variant.copies(card).saturating_sub(gone).into();
    }
    for (place, row) in out.chunks_exact_mut(kinds).enumerate() {
        let plausible = view
            .knowledge(Offset::new_unchecked(place / slots), Slot::new_unchecked(place % slots))
            .unwrap_or_default()
            .plausible(variant);
        let counts = counts_of(plausible, &left);
        let total: u32 = counts.iter().sum();
        let total = total.max(1) as f32;
        row.iter_mut().zip(counts).for_each(|(share, count)| *share = count as f32 / total);
    }
}

/// The numbers of the kinds in a set; 0 for the others. Without branches, so that the compiler
/// computes several at once.
fn counts_of(set: CardSet, left: &[u32; MAX_CARD_KINDS]) -> [u32; MAX_CARD_KINDS] {
    let halves = [set.0 as u32, (set.0 >> 32) as u32];
    let mut counts = *left;
    for (half, counts) in halves.into_iter().zip(counts.chunks_mut(32)) {
        for (count, bit) in counts.iter_mut().zip(BITS) {
            *count &= if half & bit == 0 { 0 } else { u32::MAX };
        }
    }
    counts
}

/// Each bit of a word by itself.
const BITS: [u32; 32] = {
    let mut bits = [0; 32];
    let mut index = 0;
    while index < bits.len() {
        bits[index] = 1 << index;
        index += 1;
    }
    bits
};

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::rules::{EpisodeSeed, GameRng, PRESETS, State, Variant};

    /// A random position of each of some games of every preset.
    fn positions(mut check: impl FnMut(&State, &View<'_>)) {
        for row in PRESETS {
            let variant = Arc::new(Variant::new(row.parameters()).unwrap());
            for game in 0..10 {
                let seed = EpisodeSeed { seed: 5, game, episode: 0 };
                let mut state = State::new(variant.clone(), seed);
                let mut rng = GameRng::for_samples(game);
                while state.ending().is_none() {
                    for seat in variant.seats() {
                        check(&state, &state.view(seat));
                    }
                    let legal: Vec<_> = state.legal_actions().iter().collect();
                    state.apply(*rng.pick(&legal).unwrap()).unwrap();
                }
            }
        }
    }

    #[test]
    fn a_certain_card_has_the_features_of_a_visible_one() {
        let mut certain = 0;
        positions(|state, view| {
            let variant = view.variant();
            let slots = usize::from(variant.hand_size());
            let mut all = vec![0.0; usize::from(variant.players()) * slots * CARD_FEATURES];
            write_card_features(view, &mut all);
            let mut next = all.clone();
            write_card_features(&state.view(view.seat(Offset::NEXT)), &mut next);
            let belief = Belief::new(view);
            for slot in 0..belief.slots() {
                if belief.possible(Slot::ALL[slot]).len() != 1 {
                    continue;
                }
                // The next seat sees this hand at the last offset.
                let seen = (usize::from(variant.players()) - 1) * slots + slot;
                let card = |features: &[f32], place: usize| features[place * 3..][..3].to_vec();
                assert_eq!(card(&all, slot), card(&next, seen), "{state}");
                certain += 1;
            }
        });
        assert!(certain > 100, "{certain} certain cards");
    }

    #[test]
    fn public_marginals_are_the_same_for_all_seats() {
        positions(|state, view| {
            let variant = view.variant();
            let hand = usize::from(variant.hand_size()) * variant.num_card_kinds();
            let mut rows = vec![0.0; usize::from(variant.players()) * hand];
            write_public_marginals(view, &mut rows);
            let mut next = rows.clone();
            write_public_marginals(&state.view(view.seat(Offset::NEXT)), &mut next);
            rows.rotate_left(hand);
            assert_eq!(rows, next, "{state}");
        });
    }
}
