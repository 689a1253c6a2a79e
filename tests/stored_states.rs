//! A stored state or variant with random edits is refused, or is one on which every method works.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use starmine::encode::{CARD_FEATURES, Encoder, write_card_features, write_public_marginals};
use starmine::rules::{
    ActionId, Belief, Card, CardSet, EpisodeSeed, GameRng, Move, Offset, Parameters, Rating, Seat,
    SeenGame, Slot, State, Variant, View,
};

#[path = "../src/rules/variants/random_variant.rs"]
mod random_variant;

use random_variant::random_variant;

/// The choices of a test case. Proptest shrinks them to fewer and smaller numbers.
struct Choices(std::vec::IntoIter<u32>);

impl Choices {
    fn below(&mut self, bound: usize) -> usize {
        self.0.next().unwrap_or(0) as usize % bound
    }
}

fn choices() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(any::<u32>(), 250)
}

/// Plays at most this many random moves.
fn play(mut state: State, moves: usize, choices: &mut Choices) -> State {
    for _ in 0..moves {
        let legal: Vec<Move> = state.legal_moves().collect();
        if legal.is_empty() {
            break;
        }
        state.play(legal[choices.below(legal.len())]).expect("the move is legal");
    }
    state
}

/// A random game of a random variant, somewhere on its way.
fn game(choices: &mut Choices) -> State {
    let parameters = match choices.below(2) {
        0 => Parameters::default(),
        _ => random_variant(|bound| choices.below(bound as usize) as u32).parameters().clone(),
    };
    let variant = Arc::new(Variant::new(parameters).unwrap());
    let seed = EpisodeSeed::new(choices.below(100) as u64);
    let moves = choices.below(60);
    play(State::new(variant, seed), moves, choices)
}

/// Replaces, removes, doubles or exchanges a random part of the JSON.
fn edit(value: &mut Value, choices: &mut Choices) {
    let goes_deeper = choices.below(8) > 0;
    match value {
        Value::Object(fields) if goes_deeper && !fields.is_empty() => {
            let names: Vec<String> = fields.keys().cloned().collect();
            let name = &names[choices.below(names.len())];
            match choices.below(12) {
                0 => drop(fields.remove(name)),
                1 => drop(fields.insert(format!("{name}s"), json!(1))),
                _ => edit(&mut fields[name.as_str()], choices),
            }
        }
        Value::Array(items) if goes_deeper && !items.is_empty() => {
            let (one, other) = (choices.below(items.len()), choices.below(items.len()));
            match choices.below(8) {
                0 => drop(items.remove(one)),
                1 => items.truncate(one),
                2 => items.insert(other, items[one].clone()),
                3..=5 => items.swap(one, other),
                _ => edit(&mut items[one], choices),
            }
        }
        Value::Number(number) if goes_deeper => {
            let near = number.as_i64().unwrap_or(0);
            *value = match choices.below(8) {
                0 => json!(near.wrapping_add(1)),
                1 => json!(near.wrapping_sub(1)),
                2 => json!(near.wrapping_add(256)),
                3 => json!(i64::MIN),
                4 => json!(u64::MAX),
                5 => json!(near as f64 + 0.5),
                _ => json!(choices.below(128)),
            };
        }
        Value::Bool(flag) if goes_deeper => *flag = !*flag,
        _ => {
            let card =
                format!("{}{}", ["R", "Y", "M", "K", "X"][choices.below(5)], choices.below(7));
            let others = [json!(null), json!(0), json!(card), json!([]), json!({}), json!([[1]])];
            *value = others[choices.below(others.len())].clone();
        }
    }
}

/// Calls the methods of a variant.
fn use_variant(variant: &Variant) {
    assert!(!variant.to_string().is_empty());
    assert_eq!(Variant::new(variant.brief_parameters()).as_ref(), Ok(variant));
    assert_eq!(variant.action_ids().count(), variant.num_actions());
    assert_eq!(variant.card_kinds().count(), variant.num_card_kinds());
    for number in [i64::MIN, -1, variant.num_actions() as i64, i64::MAX] {
        assert!(variant.action_id(number).is_err());
    }
    for action in ActionId::ALL {
        let played = variant.action_to_move(action);
        assert!(played.is_err() || variant.move_to_action(played.unwrap()) == Some(action));
    }
    let copies: u8 = variant.card_kinds().map(|card| variant.copies(card)).sum();
    assert_eq!(copies, variant.deck_size());
    (0..=u8::MAX).for_each(|score| _ = Rating::of(variant, score));
}

/// Calls the methods of a view.
fn use_view(view: &View<'_>) {
    let variant = view.variant();
    let (players, hand_size) = (usize::from(variant.players()), usize::from(variant.hand_size()));
    assert!(!format!("{view} {view:?}").is_empty());
    for offset in Offset::ALL.into_iter().take(players) {
        assert_eq!(view.offset(view.seat(offset)), offset);
        assert_eq!(view.hand_knowledge(offset).len(), view.hand_size(offset));
        assert!(offset == Offset::OWN || view.hand(offset).len() == view.hand_size(offset));
        for slot in Slot::ALL.into_iter().take(hand_size) {
            let knowledge = view.knowledge(offset, slot);
            assert_eq!(knowledge.is_some(), slot.index() < view.hand_size(offset));
            let Some(knowledge) = knowledge else { continue };
            let allowed = |card: &Card| knowledge.is_plausible(variant, *card);
            let plausible: CardSet =
                variant.card_kinds().filter(allowed).map(|card| variant.card_index(card)).collect();
            assert_eq!(knowledge.plausible(variant), plausible);
            let named = (knowledge.hinted_suit(variant), knowledge.hinted_rank(variant));
            let (suit, rank) = named;
            assert!(
                plausible
                    .iter()
                    .all(|card| suit.is_none_or(|suit| variant.card(card).suit == suit))
            );
            assert!(
                plausible
                    .iter()
                    .all(|card| rank.is_none_or(|rank| variant.card(card).rank == rank))
            );
        }
    }
    assert!(view.outlook().playable.len() <= usize::from(variant.colors()));
    assert_eq!(view.legal_moves().count(), view.legal_actions().len());
    assert!(view.legal_moves().all(|played| view.is_legal(played)));
    assert!(view.last_event().is_none_or(|event| !variant.edition().event(&event).is_empty()));
    assert_eq!(view.last_event(), view.history().unwrap().last());
    assert!(variant.card_kinds().all(|card| view.discarded(card) <= variant.copies(card)));
    assert!(
        view.turns_left().is_none_or(|turns| turns <= variant.players())
            && view.score() <= variant.max_score()
    );
    let belief = Belief::new(view);
    assert!(belief.num_hands() > 0 && belief.sample(&mut GameRng::for_samples(1)).is_some());
    write_card_features(view, &mut vec![0.0; players * hand_size * CARD_FEATURES]);
    write_public_marginals(view, &mut vec![0.0; players * hand_size * variant.num_card_kinds()]);
}

/// Supposes hands that are possible, and the others.
fn suppose(state: &State, seat: Seat) {
    let (variant, mut rng) = (state.variant(), GameRng::for_samples(1));
    let game = SeenGame::of(state, seat);
    let belief = Belief::new(&game.view());
    let hand: Vec<Card> = belief.sample(&mut rng).unwrap().collect();
    let supposed = game.with_hand(hand.iter().copied(), &mut rng).unwrap();
    assert!(state.is_seen_alike(&supposed, seat));
    let held: Vec<Card> = supposed.seer_view(seat).hand(Offset::OWN).collect();
    assert_eq!(held, hand);
    assert!(game.with_hand(hand.iter().copied().chain([variant.card(0)]), &mut rng).is_none());
    for (index, slot) in (0..hand.len()).zip(Slot::ALL) {
        for card in variant.card_kinds() {
            let mut other = hand.clone();
            other[index] = card;
            if !belief.possible(slot).contains(variant.card_index(card)) {
                assert!(game.with_hand(other, &mut rng).is_none(), "{state}: {card} in {slot}");
            }
        }
    }
}

/// Calls the methods of a state.
fn use_state(state: &State) {
    let variant = state.variant();
    assert!(!state.to_string().is_empty());
    for seat in variant.seats() {
        use_view(&state.view(seat));
        let seen = SeenGame::of(state, seat).stand_in();
        assert!(state.is_seen_alike(&seen, seat));
        suppose(state, seat);
        for &encoder in Encoder::ALL {
            let mut words = vec![0; encoder.layout(variant).words()];
            encoder.encode_into(&state.seer_view(seat), &mut words);
        }
    }
    assert_eq!(state.first_turns(state.length()).as_ref(), Some(state));
    assert_eq!(state.first_turns(state.length() + 1), None);
    assert_eq!(state.legal_actions().is_empty(), state.ending().is_some());
    let stored = serde_json::to_string(state).unwrap();
    assert_eq!(&serde_json::from_str::<State>(&stored).unwrap(), state);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(2000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edited_state_is_refused_or_plays_on(numbers in choices()) {
        let mut choices = Choices(numbers.into_iter());
        let mut stored = serde_json::to_value(game(&mut choices)).unwrap();
        for _ in 0..=choices.below(3) {
            edit(&mut stored, &mut choices);
        }
        if let Ok(state) = serde_json::from_value::<State>(stored) {
            use_variant(state.variant());
            use_state(&state);
            let end = play(state, usize::MAX, &mut choices);
            prop_assert!(end.ending().is_some());
            use_state(&end);
        }
    }

    #[test]
    fn an_edited_variant_is_refused_or_played(numbers in choices()) {
        let mut choices = Choices(numbers.into_iter());
        let mut stored = serde_json::to_value(&**game(&mut choices).variant()).unwrap();
        for _ in 0..=choices.below(3) {
            edit(&mut stored, &mut choices);
        }
        if let Ok(variant) = serde_json::from_value::<Variant>(stored) {
            use_variant(&variant);
            let state = State::new(Arc::new(variant), EpisodeSeed::default());
            use_state(&state);
            let end = play(state, usize::MAX, &mut choices);
            prop_assert!(end.ending().is_some());
            use_state(&end);
        }
    }
}

/// Enough edits are refused and enough accepted for the tests above to mean something.
#[test]
fn some_edits_are_accepted() {
    let mut rng = GameRng::for_samples(1);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..300 {
        let numbers: Vec<u32> = (0..250).map(|_| rng.below_u64(1 << 32) as u32).collect();
        let mut choices = Choices(numbers.into_iter());
        let mut stored = serde_json::to_value(game(&mut choices)).unwrap();
        edit(&mut stored, &mut choices);
        match serde_json::from_value::<State>(stored) {
            Ok(_) => accepted += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(accepted > 30 && refused > 100, "{accepted} accepted, {refused} refused");
}
