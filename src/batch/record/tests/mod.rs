//! Stored batches of random variants resume at every turn, and forged ones are refused or play on.
//!
//! Each case is a batch and [`FORGERIES`] forgeries of it. Two million of them are tried by
//! `PROPTEST_CASES=125000 cargo test --profile quick --lib batch::record`.

mod forge;

use std::sync::Arc;

use forge::forge;
use proptest::prelude::*;

use super::game::{StoredGame, StoredPartnerGame};
use super::settings::Settings;
use super::*;
use crate::batch::{
    Dtype, ExtraOutput, IllegalAction, ObservationBuffer, Observers, Options, Outputs, Partner,
    Partners, Seeds,
};
use crate::rules::{
    ActionId, Event, GameRng, Named, Parameters, Position, Variant, random_variant,
};

/// The forgeries of each batch.
const FORGERIES: usize = 64;

/// A stored batch, field by field.
struct Stored {
    settings: Settings,
    games: Vec<StoredGame>,
    partner_games: Vec<StoredPartnerGame>,
    finished: Vec<(usize, StoredGame)>,
}

impl Stored {
    fn read(bytes: &[u8]) -> Stored {
        let (_, mut rest) = check_envelope(bytes).unwrap();
        let settings: Settings = read(&mut rest, "settings").unwrap();
        let (mut games, mut partner_games) = (vec![], vec![]);
        if settings.partners.seats.is_empty() {
            games = read(&mut rest, "games").unwrap();
        } else {
            partner_games = read(&mut rest, "games").unwrap();
        }
        Stored { settings, games, partner_games, finished: read(&mut rest, "finished").unwrap() }
    }

    /// The bytes with a valid checksum.
    fn bytes(&self) -> Vec<u8> {
        let settings = postcard::to_stdvec(&self.settings).unwrap();
        let games = match self.partner_games.is_empty() {
            true => postcard::to_stdvec(&self.games).unwrap(),
            false => postcard::to_stdvec(&self.partner_games).unwrap(),
        };
        let finished = postcard::to_stdvec(&self.finished).unwrap();
        signed([MAGIC, &[FORMAT], &settings, &games, &finished].concat())
    }

    fn load(&self) -> Result<Batch, RecordError> {
        Batch::from_bytes(&self.bytes(), None)
    }
}

fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

fn below(rng: &mut GameRng, bound: usize) -> usize {
    rng.below(bound as u32) as usize
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
        let bots: [Partner; 2] = ["random", "iggi"].map(|name| name.parse().unwrap());
        let count = 1 + below(rng, 2);
        options.partners = Partners::default().with(1, bots[..count].to_vec()).unwrap();
        if below(rng, 2) == 0 {
            let weights = vec![1.0, 2.5][..count].to_vec();
            let partners = Partners::default().with_weights(1, bots[..count].to_vec(), weights);
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
        let legal: Vec<usize> = batch.legal(game).iter().map(ActionId::index).collect();
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
    /// A buffer for so many games of a batch.
    fn buffer(&mut self, batch: &Batch, games: usize) -> ObservationBuffer<'_> {
        let length = games * batch.observers() * batch.row_length();
        match batch.options().dtype {
            Dtype::Bits | Dtype::Uint8 => self.bytes.resize(length, 0),
            Dtype::Float16 => self.halves.resize(length, half::f16::ZERO),
            Dtype::Float32 => self.floats.resize(length, 0.0),
        }
        match batch.options().dtype {
            Dtype::Bits => ObservationBuffer::Bits(&mut self.bytes),
            Dtype::Uint8 => ObservationBuffer::Uint8(&mut self.bytes),
            Dtype::Float16 => ObservationBuffer::Float16(&mut self.halves),
            Dtype::Float32 => ObservationBuffer::Float32(&mut self.floats),
        }
    }
}

/// Writes the observations and the last observations.
fn observe(batch: &mut Batch) {
    let mut rows = Rows::default();
    let indices = batch.finished().unwrap();
    assert!(indices.is_sorted() && indices.iter().all(|&index| index < batch.num_envs()));
    batch.final_observations(rows.buffer(batch, indices.len())).unwrap();
    let obs = Some(rows.buffer(batch, batch.num_envs()));
    batch.observe(Outputs { obs, ..Outputs::default() }).unwrap();
}

/// Loads the batch; if it is not refused, uses it: it stores the same bytes and plays on, and what
/// it plays is stored and loaded again.
fn is_refused(stored: &Stored, rng: &mut GameRng) -> bool {
    let Ok(mut batch) = stored.load() else {
        return true;
    };
    assert_eq!(batch.to_bytes().unwrap(), stored.bytes());
    observe(&mut batch);
    for _ in 0..4 {
        play(&mut batch, rng, 10);
        observe(&mut batch);
        let bytes = batch.to_bytes().unwrap();
        batch = Batch::from_bytes(&bytes, Some(1)).unwrap();
    }
    false
}

/// A quarter of the usual cases, since each has many forgeries.
fn cases() -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig { cases: config.cases.div_ceil(4), failure_persistence: None, ..config }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn forged_fields_are_refused_or_play_on(seed: u64) {
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
            let mut stored = Stored::read(&bytes);
            for _ in 0..pick(rng, &[1, 1, 1, 2, 5]) {
                forge(rng, &mut stored);
            }
            is_refused(&stored, rng);
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
fn example() -> Stored {
    let variant = Arc::new(Variant::new(Parameters::default()).unwrap());
    let options = Options { illegal_action: IllegalAction::Terminate, ..Options::default() };
    let mut batch = Batch::new(variant, 3, 1, options).unwrap();
    while batch.num_finished() == 0 {
        batch.step(&[5, 6, 7], Outputs::default()).unwrap();
    }
    Stored::read(&batch.to_bytes().unwrap())
}

/// The message of the error for a forged example.
fn message(forge: impl FnOnce(&mut Stored)) -> String {
    let mut stored = example();
    forge(&mut stored);
    match stored.load() {
        Ok(_) => panic!("a forged batch was loaded"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_error_names_the_forged_field() {
    let position =
        |forge: fn(&mut Position)| message(|stored| forge(&mut stored.games[2].position));
    let event = |forge: fn(&mut Event)| {
        message(|stored| forge(stored.games[2].position.last_event.as_mut().unwrap()))
    };
    let cases = [
        (message(|stored| stored.finished[0].0 = 7), "finished: not the indices"),
        (message(|stored| stored.finished.extend_from_within(..1)), "finished: not the indices"),
        (message(|stored| stored.finished[0].1 = stored.games[0].clone()), "finished[0].seed"),
        (message(|stored| stored.games[2].length = 255), "games[2]."),
        (message(|stored| stored.games[2].seed.episode += 1), "games[2].hands"),
        (message(|stored| stored.games.swap(1, 2)), "games[1].seed: of another game"),
        (message(|stored| stored.settings.fresh = true), "games[0].position"),
        (message(|stored| stored.settings.parameters.hand_size = None), "parameters: a default"),
        (
            position(|position| position.discards |= 1 << 1),
            "games[2].discards: the copies of a card",
        ),
        (position(|position| position.information_tokens = 3), "games[2].information_tokens"),
        (position(|position| position.hands[1].knowledge[0].0 = 0), "games[2].knowledge"),
        (position(|position| position.hands[0].cards.swap(0, 4)), "games[2].hands: the cards are"),
        (position(|position| position.last_event = None), "games[2].last_event: missing"),
        (event(|event| event.regained = 2), "games[2].last_event"),
        (event(|event| event.seat ^= 1), "games[2].last_event: not the seat before"),
    ];
    for (message, expected) in cases {
        assert!(message.starts_with("the stored batch is damaged: "), "{message}");
        assert!(message.contains(expected), "{message:?} instead of {expected:?}");
    }
}

#[test]
fn a_number_in_a_longer_form_is_refused() {
    let bytes = example().bytes();
    let body = &bytes[..bytes.len() - 4];
    let mut refused = 0;
    for index in MAGIC.len() + 1..body.len() {
        // The same number as the byte alone, in a varint of two bytes.
        let longer = [&body[..index], &[body[index] | 0x80, 0], &body[index + 1..]].concat();
        if let Err(error) = Batch::from_bytes(&signed(longer), None) {
            refused += usize::from(error.to_string().contains("not the bytes"));
        } else {
            panic!("byte {index} was read in a longer form");
        }
    }
    assert!(refused > 0);
}

#[test]
fn the_reader_chooses_the_threads() {
    let bytes = example().bytes();
    assert_eq!(Batch::from_bytes(&bytes, None).unwrap().options().num_threads, 1);
    let batch = Batch::from_bytes(&bytes, Some(3)).unwrap();
    assert_eq!(batch.options().num_threads, 3);
    assert_eq!(batch.to_bytes().unwrap(), bytes);
    assert!(Batch::from_bytes(&bytes, Some(0)).is_err());
}
