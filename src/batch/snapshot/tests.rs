//! Stored batches of random variants resume at every turn, and forged bytes are refused or play on.
//!
//! Each case is a batch and [`FORGERIES`] forgeries of it. Two million of them are tried by
//! `PROPTEST_CASES=125000 cargo test --profile quick --lib batch::snapshot`.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::batch::{
    Dtype, ExtraOutput, GivenDecks, IllegalAction, NotStoredError, ObservationBuffer, Observers,
    Options, Outputs, Partners, Seeds,
};
use crate::buffers::WriteOnly;
use crate::players::PlayerSpec;
use crate::rules::{
    ActionId, EpisodeSeed, Event, GameRng, Move, Parameters, Position, Seat, Slot, SlotSet, State,
    Suit, Variant, random_variant,
};

/// The forgeries of each batch.
const FORGERIES: usize = 64;

fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

fn below(rng: &mut GameRng, bound: usize) -> usize {
    rng.below_u64(bound as u64) as usize
}

fn pick<T: Copy>(rng: &mut GameRng, values: &[T]) -> T {
    values[below(rng, values.len())]
}

/// A batch of a random variant with random settings, some with partners.
fn random_batch(rng: &mut GameRng) -> Batch {
    let variant = Arc::new(match below(rng, 4) {
        0 => Variant::new(Parameters::default()).unwrap(),
        _ => random_variant(|bound| rng.below(bound)),
    });
    let mode = pick(rng, AutoresetMode::ALL);
    let mut options = Options {
        dtype: pick(rng, Dtype::ALL),
        observers: pick(rng, Observers::ALL),
        autoreset_mode: pick(rng, &[AutoresetMode::SameStep, mode]),
        illegal_action: pick(rng, IllegalAction::ALL),
        ..Options::default()
    };
    options.extra_outputs.extend(ExtraOutput::ALL.iter().filter(|_| below(rng, 2) == 0));
    if below(rng, 4) == 0 {
        let bots: [PlayerSpec; 2] = ["random", "iggi"].map(|name| name.parse().unwrap());
        let count = 1 + below(rng, 2);
        options.partners = Partners::default().with(Seat::ALL[1], bots[..count].to_vec()).unwrap();
        if below(rng, 2) == 0 {
            let weights = vec![1.0, 2.5][..count].to_vec();
            let partners =
                Partners::default().with_weights(Seat::ALL[1], bots[..count].to_vec(), weights);
            options.partners = partners.unwrap();
        }
    }
    let (num_envs, seed) = (1 + below(rng, 12), rng.below_u64(u64::MAX));
    Batch::new(variant, num_envs, seed, options).unwrap()
}

/// A legal action of each game, or with an illegal action allowed now and then any.
fn actions(batch: &Batch, rng: &mut GameRng) -> Vec<i64> {
    let terminates = batch.options().illegal_action == IllegalAction::Terminate;
    let action = |game| {
        let legal: Vec<usize> = batch.legal_actions(game).iter().map(ActionId::index).collect();
        let is_any = legal.is_empty() || terminates && below(rng, 50) == 0;
        if is_any { rng.below(64).into() } else { pick(rng, &legal) as i64 }
    };
    (0..batch.num_envs()).map(action).collect()
}

/// Plays some steps; games that wait for a reset get one.
fn play(batch: &mut Batch, rng: &mut GameRng, steps: usize) {
    for _ in 0..steps {
        let over: Vec<bool> = (0..batch.num_envs()).map(|game| batch.is_over(game)).collect();
        let waits = batch.options().autoreset_mode == AutoresetMode::Disabled;
        if waits && over.contains(&true) {
            batch.reset(Seeds::Continue, Some(&over), Outputs::default()).unwrap();
        }
        let actions = actions(batch, rng);
        // With partners who leave the learner no turn, a game may be over still.
        if batch.step(&actions, Outputs::default()).is_err() {
            return;
        }
    }
}

/// Memory for observations of any type.
#[derive(Default)]
struct Rows {
    bytes: Vec<u8>,
    halves: Vec<half::f16>,
    floats: Vec<f32>,
}

impl Rows {
    /// A buffer for this many games of a batch.
    fn buffer(&mut self, batch: &Batch, games: usize) -> ObservationBuffer<'_> {
        let length = games * batch.num_observers() * batch.row_length();
        match batch.options().dtype {
            Dtype::Bits | Dtype::Uint8 => self.bytes.resize(length, 0),
            Dtype::Float16 => self.halves.resize(length, half::f16::ZERO),
            Dtype::Float32 => self.floats.resize(length, 0.0),
        }
        match batch.options().dtype {
            Dtype::Bits => ObservationBuffer::Bits(WriteOnly::new(&mut self.bytes)),
            Dtype::Uint8 => ObservationBuffer::Uint8(WriteOnly::new(&mut self.bytes)),
            Dtype::Float16 => self.halves.as_mut_slice().into(),
            Dtype::Float32 => self.floats.as_mut_slice().into(),
        }
    }
}

/// Writes the observations and the last observations.
fn observe(batch: &mut Batch) {
    let mut rows = Rows::default();
    let indices = batch.finished().unwrap();
    assert!(indices.is_sorted() && indices.iter().all(|&index| index < batch.num_envs()));
    batch.write_final_observations(rows.buffer(batch, indices.len())).unwrap();
    let obs = Some(rows.buffer(batch, batch.num_envs()));
    batch.observe(Outputs { obs, ..Outputs::default() }).unwrap();
}

/// Changes some bytes of a stored batch, mostly by a bit or to a neighbour; the checksum is valid.
fn forged(rng: &mut GameRng, bytes: &[u8]) -> Vec<u8> {
    let mut body = bytes[..bytes.len() - 4].to_vec();
    let header = MAGIC.len() + 1;
    for _ in 0..pick(rng, &[1, 1, 1, 2, 4]) {
        let index = header + below(rng, body.len() - header);
        let byte = &mut body[index];
        *byte = match below(rng, 4) {
            0 => byte.wrapping_add(1),
            1 => byte.wrapping_sub(1),
            2 => *byte ^ 1 << below(rng, 8),
            _ => pick(rng, &[0, 1, 127, 128, 255]),
        };
    }
    signed(body)
}

/// Stores a batch and resumes it: the bytes are the same then.
fn assert_stored_again(batch: &Batch) {
    let bytes = batch.to_bytes().unwrap();
    assert_eq!(Batch::from_bytes(&bytes, Some(1)).unwrap().to_bytes().unwrap(), bytes);
}

/// A sixteenth of the usual cases, since each has many forgeries or turns. `make test-long` plays more.
fn cases() -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig { cases: config.cases.div_ceil(16), failure_persistence: None, ..config }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn forged_bytes_are_refused_or_play_on(seed: u64) {
        let rng = &mut GameRng::for_samples(seed);
        let mut batch = random_batch(rng);
        let steps = pick(rng, &[0, 3, 30, 60]);
        play(&mut batch, rng, steps);
        // Steps that end games have more that can be forged.
        for _ in 0..40 {
            if batch.num_finished() > 0 || steps == 0 {
                break;
            }
            play(&mut batch, rng, 1);
        }
        let bytes = batch.to_bytes().unwrap();
        for _ in 0..FORGERIES {
            let forged = forged(rng, &bytes);
            let Ok(mut batch) = Batch::from_bytes(&forged, None) else { continue };
            assert_stored_again(&batch);
            observe(&mut batch);
            for _ in 0..50 {
                play(&mut batch, rng, 1);
                observe(&mut batch);
            }
            assert_stored_again(&batch);
        }
    }

    #[test]
    fn a_batch_is_resumed_at_every_turn(seed: u64) {
        let rng = &mut GameRng::for_samples(seed);
        let mut batch = random_batch(rng);
        for _ in 0..80 {
            let bytes = batch.to_bytes().unwrap();
            batch = Batch::from_bytes(&bytes, Some(1 + below(rng, 2))).unwrap();
            prop_assert_eq!(batch.to_bytes().unwrap(), bytes);
            play(&mut batch, rng, 1);
        }
    }
}

/// Three games of which some have just ended.
fn example() -> Batch {
    let variant = Arc::new(Variant::new(Parameters::default()).unwrap());
    let options = Options { illegal_action: IllegalAction::Terminate, ..Options::default() };
    let mut batch = Batch::new(variant, 3, 1, options).unwrap();
    while batch.num_finished() == 0 {
        batch.step(&[5, 6, 7], Outputs::default()).unwrap();
    }
    batch
}

/// The message of the error for the last game of the example in another position.
fn message(forge: impl FnOnce(&mut Position)) -> String {
    forge_game(|game| forge(&mut game.position)).expect_err("a forged batch was loaded").to_string()
}

/// Loads the example with another last game.
fn forge_game(forge: impl FnOnce(&mut StoredGame)) -> Result<Batch, BatchError> {
    let batch = example();
    let bytes = batch.to_bytes().unwrap();
    let mut stored = StoredGame::of(&batch.copy_game(2));
    let game = postcard::to_stdvec(&stored).unwrap();
    let place = bytes.windows(game.len()).position(|part| part == game).unwrap();
    forge(&mut stored);
    let game = [
        postcard::to_stdvec(&stored).unwrap(),
        bytes[place + game.len()..bytes.len() - 4].to_vec(),
    ];
    let forged = signed([&bytes[..place], &game[0], &game[1]].concat());
    Batch::from_bytes(&forged, None)
}

/// The last event of the example, a discard or a play.
fn last(position: &mut Position) -> &mut Event {
    position.last_event.as_mut().expect("a game that has begun")
}

#[test]
fn an_error_names_the_forged_field() {
    let cases = [
        (message(|position| position.current_player = Seat::ALL[2]), "games[2].current_player"),
        (message(|position| position.fireworks[5] = 1), "games[2].fireworks"),
        (message(|position| position.information_tokens = 9), "games[2].information_tokens"),
        (message(|position| position.life_tokens = 4), "games[2].life_tokens"),
        (message(|position| position.life_tokens = 0), "games[2].ending"),
        (message(|position| position.last_turns = 1), "games[2].last_turns"),
        (message(|position| position.discards |= 1 << 63), "games[2].discards: unknown copies"),
        (
            message(|position| position.discards |= 1 << 1),
            "games[2].discards: the copies of a card",
        ),
        (message(|position| position.hands[0].size = 255), "games[2].hands: too few or too many"),
        (message(|position| position.hands[0].size = 4), "games[2].hands: too few or too many"),
        (message(|position| position.hands[0].cards[0] = 25), "games[2].hands: unknown card"),
        (message(|position| position.hands[1].knowledge[0].0 = 0), "games[2].knowledge"),
        (message(|position| position.hands[1].knowledge[0].0 |= 1 << 63), "games[2].knowledge"),
        (message(|position| position.deck_size -= 1), "games[2].hands: with the other cards"),
        (message(|position| last(position).seat = Seat::ALL[4]), "last_event: of a seat"),
        (
            message(|position| last(position).seat = Seat::ALL[last(position).seat.index() ^ 1]),
            "games[2].last_event: of a seat",
        ),
        (message(|position| last(position).card = None), "last_event: with a card or slots"),
        (
            message(|position| last(position).card.as_mut().unwrap().suit = Suit::ALL[5]),
            "games[2].last_event: unknown card",
        ),
        (
            message(|position| last(position).touched = SlotSet::first_slots(1)),
            "games[2].last_event: with a card or slots",
        ),
        (
            message(|position| last(position).regained = 1),
            "games[2].last_event: with tokens that its move does not regain",
        ),
        (
            message(|position| {
                let Event { played, added, regained, .. } = last(position);
                *played = Move::Discard { slot: Slot::OLDEST };
                (*added, *regained) = (false, 2);
            }),
            "games[2].last_event: with tokens that its move does not regain",
        ),
    ];
    for (message, expected) in cases {
        assert!(message.starts_with("the stored batch is damaged: "), "{message}");
        assert!(message.contains(expected), "{message:?} instead of {expected:?}");
    }
}

#[test]
fn a_length_that_the_cards_and_tokens_rule_out_is_refused() {
    let length = example().copy_game(2).length;
    for forged in [length, 0, 1, 100, 255] {
        let loaded = forge_game(|game| game.length = forged);
        assert_eq!(loaded.is_ok(), forged == length, "{forged} turns instead of {length}");
    }
}

#[test]
fn a_batch_is_stored_unless_a_game_still_has_a_given_deck() {
    let variant = Variant::default();
    let dealt = State::new(variant.clone(), EpisodeSeed::new(7));
    let mut batch = Batch::new(variant, 3, 0, Options::default()).unwrap();
    let deck = |&card| batch.variant().card_index(card) as u8;
    let cards: Vec<u8> = dealt.deck().iter().map(deck).collect();
    let decks = GivenDecks { cards: &cards.repeat(3), start_players: None };
    batch.reset_to_decks(decks, Seeds::Continue, None, Outputs::default()).unwrap();
    let mut rng = GameRng::for_samples(3);
    let (mut with_decks, mut endings) = (3, 0);
    for _ in 0..300 {
        let before = batch.episodes().collect::<Vec<_>>();
        match batch.to_bytes() {
            Err(BatchError::NotStored(reason)) => {
                assert_eq!(reason, NotStoredError::GivenDecks(with_decks));
            }
            stored => {
                assert_eq!(with_decks, 0);
                let resumed = Batch::from_bytes(&stored.unwrap(), None).unwrap();
                assert!(resumed.episodes().eq(batch.episodes()));
            }
        }
        let actions = actions(&batch, &mut rng);
        batch.step(&actions, Outputs::default()).unwrap();
        for (before, after) in before.into_iter().zip(batch.episodes()) {
            with_decks -= usize::from(before != after && before.episode == 0);
            endings += usize::from(before != after);
        }
    }
    assert!(endings > 6, "{endings}");
}

#[test]
fn bytes_after_the_games_are_refused() {
    let bytes = example().to_bytes().unwrap();
    let (body, _) = bytes.split_last_chunk::<4>().unwrap();
    let refused = Batch::from_bytes(&signed([body, &[0]].concat()), None).unwrap_err();
    assert_eq!(refused.to_string(), "the stored batch is damaged: bytes after the games");
}
