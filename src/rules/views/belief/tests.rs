//! Tests: beliefs equal a count of all hands one by one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::rules::{ActionId, EpisodeSeed, Move, PRESETS, Parameters, State, Variant, preset};

/// The number of choices of copies that make each hand, by enumeration.
type Hands = BTreeMap<Vec<usize>, u64>;

fn list_hands(plausible: &[Vec<usize>], unseen: &[u8]) -> Hands {
    fn fill(plausible: &[Vec<usize>], left: &mut [u8], hand: &mut Vec<usize>, hands: &mut Hands) {
        let Some(kinds) = plausible.get(hand.len()) else {
            *hands.entry(hand.clone()).or_default() += 1;
            return;
        };
        for &kind in kinds {
            // Once for each copy that is left.
            for _ in 0..left[kind] {
                left[kind] -= 1;
                hand.push(kind);
                fill(plausible, left, hand, hands);
                hand.pop();
                left[kind] += 1;
            }
        }
    }
    let mut hands = Hands::new();
    fill(plausible, &mut unseen.to_vec(), &mut Vec::new(), &mut hands);
    hands
}

/// The possible hands of a view, by enumeration.
fn hands_of(view: &View<'_>) -> Hands {
    let variant = view.variant();
    let unseen = variant.card_kinds().map(|card| {
        let held = variant
            .teammates()
            .map(|offset| view.hand(offset).filter(|&other| other == card).count() as u8)
            .sum::<u8>();
        let played = usize::from(view.stack(card.suit)) > card.rank.index();
        variant.copies(card) - held - u8::from(played) - view.discarded(card)
    });
    let plausible: Vec<Vec<usize>> = view
        .hand_knowledge(Offset::OWN)
        .iter()
        .map(|known| known.plausible(variant).iter().collect())
        .collect();
    list_hands(&plausible, &unseen.collect::<Vec<u8>>())
}

fn assert_belief_is(belief: &Belief, hands: &Hands) {
    let total: u64 = hands.values().sum();
    assert_eq!(belief.num_hands(), total);
    let mut rows = vec![f64::NAN; belief.slots() * belief.kinds];
    belief.write_marginals(&mut rows);
    let mut copies = vec![0; rows.len()];
    for (hand, number) in hands {
        for (slot, &kind) in hand.iter().enumerate() {
            copies[slot * belief.kinds + kind] += number;
        }
    }
    for (index, (share, copies)) in rows.into_iter().zip(copies).enumerate() {
        let (slot, kind) = (index / belief.kinds, index % belief.kinds);
        assert_eq!(share, copies as f64 / total.max(1) as f64);
        assert_eq!(belief.possible(Slot::ALL[slot]).contains(kind), copies > 0);
    }
}

/// Random choices.
fn chooser(seed: u64) -> impl FnMut(usize) -> usize {
    let mut rng = GameRng::for_samples(seed);
    move |bound| rng.below_u64(bound as u64) as usize
}

/// Calls `look` for every view of some games with more hints than in random play.
fn play(variant: &Arc<Variant>, games: u64, mut look: impl FnMut(&View<'_>)) {
    let mut choose = chooser(1);
    for game in 0..games {
        let mut state = State::new(variant.clone(), EpisodeSeed { seed: 5, game, episode: 0 });
        while state.ending().is_none() {
            variant.seats().for_each(|seat| look(&state.view(seat)));
            let is_hint = |&action: &ActionId| {
                matches!(variant.action_to_move(action), Ok(Move::Hint { .. }))
            };
            let (hints, others): (Vec<ActionId>, Vec<ActionId>) =
                state.legal_actions().iter().partition(is_hint);
            let hints_now = others.is_empty() || !hints.is_empty() && choose(3) > 0;
            let actions = if hints_now { hints } else { others };
            state.apply(actions[choose(actions.len())]).unwrap();
        }
    }
}

#[test]
fn a_belief_equals_enumeration() {
    for (players, hand_size) in [(2, 2), (2, 3), (2, 4), (3, 2), (3, 4), (4, 3)] {
        let parameters = Parameters {
            players,
            colors: 2,
            ranks: 3,
            hand_size: Some(hand_size),
            ..Parameters::default()
        };
        let Ok(variant) = Variant::new(parameters).map(Arc::new) else {
            continue;
        };
        play(&variant, 20, |view| assert_belief_is(&Belief::new(view), &hands_of(view)));
    }
}

#[test]
fn a_belief_equals_enumeration_in_every_preset() {
    for row in PRESETS {
        for (players, hand_size) in [(2, 6), (3, 5), (5, 4)] {
            let mut parameters = row.parameters();
            parameters.players = players;
            parameters.hand_size = Some(hand_size);
            // Few hands are possible only late in a game.
            parameters.max_life_tokens = 8;
            let Ok(variant) = Variant::new(parameters).map(Arc::new) else {
                continue;
            };
            let mut checked = 0;
            play(&variant, 6, |view| {
                let belief = Belief::new(view);
                if checked < 10 && belief.num_hands() < 5_000 {
                    assert_belief_is(&belief, &hands_of(view));
                    checked += 1;
                }
            });
            assert!(checked > 0, "{} with {players} players", row.name);
        }
    }
}

#[test]
fn a_belief_equals_enumeration_for_arbitrary_sets() {
    let mut choose = chooser(2);
    let mut impossible = 0;
    for _ in 0..2_000 {
        let (kinds, slots) = (1 + choose(6), choose(6));
        let mut unseen = [0; MAX_CARD_KINDS];
        unseen[..kinds].iter_mut().for_each(|copies| *copies = choose(4) as u8);
        let plausible: Vec<CardSet> =
            (0..slots).map(|_| CardSet(choose(1 << kinds) as u64)).collect();
        let belief = Belief::of(&plausible, unseen, [kinds as u8, 1]);
        let lists: Vec<Vec<usize>> = plausible.iter().map(|set| set.iter().collect()).collect();
        assert_belief_is(&belief, &list_hands(&lists, &unseen));
        let sample = belief.sample_indices(&mut GameRng::for_samples(0));
        assert_eq!(sample.is_none(), belief.num_hands() == 0);
        impossible += usize::from(sample.is_none());
    }
    assert!((200..1_800).contains(&impossible), "{impossible}");
}

#[test]
fn the_largest_counts_do_not_overflow() {
    // 64 copies, the most that a deck may have, and nothing seen or hinted.
    let mut unseen = [2; MAX_CARD_KINDS];
    unseen[..4].fill(3);
    let belief = Belief::of(&[CardSet((1 << 30) - 1); 6], unseen, [6, 5]);
    assert_eq!(belief.num_hands(), 64 * 63 * 62 * 61 * 60 * 59);
    let mut rows = [0.0; 180];
    belief.write_marginals(&mut rows);
    for (index, share) in rows.into_iter().enumerate() {
        assert_eq!(share, f64::from(unseen[index % 30]) / 64.0);
    }
}

#[test]
fn a_card_whose_copies_other_slots_need_is_not_possible() {
    let mut unseen = [0; MAX_CARD_KINDS];
    unseen[..3].copy_from_slice(&[1, 1, 2]);
    let plausible = [0b011, 0b011, 0b111].map(CardSet);
    let belief = Belief::of(&plausible, unseen, [3, 1]);
    assert_eq!([0, 1, 2].map(|slot| belief.possible(Slot::ALL[slot]).0), [0b011, 0b011, 0b100]);
    assert_eq!(belief.num_hands(), 4);
}

#[test]
fn an_empty_hand_is_the_only_one() {
    let belief = Belief::of(&[], [1; MAX_CARD_KINDS], [6, 5]);
    assert_eq!(belief.num_hands(), 1);
    belief.write_marginals(&mut []);
    assert_eq!(belief.sample_indices(&mut GameRng::for_samples(0)), Some([0; MAX_HAND_SIZE]));
}

const SAMPLES: u32 = 20_000;

/// Pearson's chi-squared statistic of samples against uniform hands, in standard deviations above
/// its mean: with `n` hands, the mean is `n - 1` and the variance `2 (n - 1)`.
fn excess(hands: &Hands, mut sample: impl FnMut() -> Vec<usize>) -> f64 {
    let mut found: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
    (0..SAMPLES).for_each(|_| *found.entry(sample()).or_default() += 1);
    assert!(found.keys().all(|hand| hands.contains_key(hand)), "an impossible hand");
    let total: u64 = hands.values().sum();
    let terms = hands.iter().map(|(hand, &copies)| {
        let expected = f64::from(SAMPLES) * copies as f64 / total as f64;
        let seen = found.get(hand).copied().unwrap_or(0);
        (f64::from(seen) - expected).powi(2) / expected
    });
    let freedom = (hands.len() - 1) as f64;
    (terms.sum::<f64>() - freedom) / (2.0 * freedom).sqrt()
}

/// A simple sampler that is not uniform: it fills slot after slot with a random plausible copy, and
/// starts again when there is none.
fn simple_sample(plausible: &[CardSet], unseen: &[u8], rng: &mut GameRng) -> Vec<usize> {
    loop {
        let (mut left, mut hand) = (unseen.to_vec(), Vec::new());
        for set in plausible {
            let copies: Vec<usize> =
                set.iter().flat_map(|kind| vec![kind; left[kind].into()]).collect();
            let Some(bound) = u32::try_from(copies.len()).ok().filter(|&bound| bound > 0) else {
                break;
            };
            let kind = copies[rng.below(bound) as usize];
            left[kind] -= 1;
            hand.push(kind);
        }
        if hand.len() == plausible.len() {
            return hand;
        }
    }
}

#[test]
fn samples_are_uniform() {
    let mut unseen = [0; MAX_CARD_KINDS];
    unseen[..5].copy_from_slice(&[3, 2, 2, 1, 1]);
    let plausible = [0b11011, 0b00111, 0b01110, 0b11000].map(CardSet);
    let belief = Belief::of(&plausible, unseen, [1, 5]);
    let lists = plausible.map(|set| set.iter().collect());
    let hands = list_hands(&lists, &unseen);
    assert!(hands.len() >= 40, "{} hands", hands.len());
    // The seeds are fixed, so this cannot fail by chance. Of all seeds, fewer than one in ten
    // thousand get five standard deviations above the mean, as the distribution is skewed to
    // that side.
    for seed in 0..3 {
        let mut rng = GameRng::for_samples(seed);
        let sample =
            || belief.sample_indices(&mut rng).unwrap()[..4].iter().map(|&k| k.into()).collect();
        let found = excess(&hands, sample);
        assert!(found.abs() < 5.0, "seed {seed}: {found}");
    }
    let mut rng = GameRng::for_samples(0);
    let found = excess(&hands, || simple_sample(&plausible, &unseen, &mut rng));
    assert!(found > 50.0, "the test has no power: {found}");
}

#[test]
fn samples_of_views_are_uniform() {
    let parameters = Parameters { hand_size: Some(3), ..preset("small").unwrap().parameters() };
    let variant = Arc::new(Variant::new(parameters).unwrap());
    let mut checked = 0;
    play(&variant, 200, |view| {
        let (belief, mut rng) = (Belief::new(view), GameRng::for_samples(checked));
        if checked < 4 && (30..300).contains(&belief.num_hands()) {
            let hands = hands_of(view);
            let sample = || {
                let hand = belief.sample_indices(&mut rng).unwrap();
                hand[..belief.slots()].iter().map(|&kind| kind.into()).collect()
            };
            let found = excess(&hands, sample);
            assert!(found.abs() < 5.0, "{found}");
            checked += 1;
        }
    });
    assert_eq!(checked, 4);
}

#[test]
fn cards_that_the_variant_does_not_have_are_not_in_a_hand() {
    let state = State::new(Variant::default(), EpisodeSeed::new(7));
    let belief = Belief::new(&state.view(state.current_player()));
    let strange = CardSet::of(63) | CardSet::of(29);
    let all: CardSet = (0..64).collect();
    assert_eq!(belief.probabilities(Slot::OLDEST, [strange, all]), [0.0, 1.0]);
}
