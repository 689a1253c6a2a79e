//! A batch on several threads gives the same results as on one.

#[path = "helpers/buffers.rs"]
mod buffers;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use buffers::Buffers;
use starmine::batch::{
    Batch, BatchError, Dtype, ObservationBuffer, Options, Outputs, Partners, Seeds,
};
use starmine::buffers::WriteOnly;
use starmine::rules::{GameRng, Parameters, Seat, Variant};

/// More than two groups of games for each of two threads, so that one takes groups from the other.
const GAMES: usize = 2 * 128 + 13;
const STEPS: usize = 150;

/// The outputs of a step, the games that it finished, and their last observations.
#[derive(Clone, Debug, PartialEq)]
struct Written {
    buffers: Buffers<u8>,
    finished: Vec<usize>,
    last: Vec<u8>,
}

impl Written {
    fn new(batch: &mut Batch) -> Written {
        let mut buffers = Buffers::new(batch);
        batch.observe(buffers.outputs()).unwrap();
        Written { buffers, finished: vec![], last: vec![] }
    }

    fn outputs(&mut self) -> Outputs<'_> {
        self.buffers.outputs()
    }

    fn step(&mut self, batch: &mut Batch, actions: &[i64]) -> Result<(), BatchError> {
        batch.step(actions, self.outputs())?;
        self.see_finished(batch);
        Ok(())
    }

    /// Plays until a step finishes a game.
    fn play_until_some_end(&mut self, batch: &mut Batch, rng: &mut GameRng) {
        while self.finished.is_empty() {
            let actions = choose(&self.buffers.action_mask, rng);
            self.step(batch, &actions).unwrap();
        }
    }

    fn see_finished(&mut self, batch: &mut Batch) {
        self.finished = batch.finished().unwrap();
        self.last.clear();
        self.last.resize(self.finished.len() * batch.row_length(), 0);
        batch
            .write_final_observations(ObservationBuffer::Bits(WriteOnly::new(&mut self.last)))
            .unwrap();
    }
}

/// A batch for each number of threads, reset.
fn batches(partners: &Partners, threads: &[usize]) -> (Vec<Batch>, Vec<Written>) {
    let variant = Arc::new(Variant::new(Parameters::default()).unwrap());
    let make = |&num_threads| {
        let (dtype, partners) = (Dtype::Bits, partners.clone());
        let options = Options { dtype, partners, num_threads, ..Options::default() };
        let mut batch = Batch::new(variant.clone(), GAMES, 1, options).unwrap();
        let mut written = Written::new(&mut batch);
        batch.reset(Seeds::Continue, None, written.outputs()).unwrap();
        (batch, written)
    };
    threads.iter().map(make).unzip()
}

/// A legal action of each game.
fn choose(mask: &[bool], rng: &mut GameRng) -> Vec<i64> {
    let rows = mask.chunks_exact(mask.len() / GAMES);
    rows.map(|row| {
        let legal: Vec<i64> = (0..).zip(row).filter(|(_, legal)| **legal).map(|(a, _)| a).collect();
        legal[rng.below(legal.len() as u32) as usize]
    })
    .collect()
}

fn check(partners: &Partners) {
    let (mut batches, mut written) = batches(partners, &[1, 2, 3, 5]);
    let mut rng = GameRng::for_samples(0);
    let mut finished = 0;
    for step in 0..STEPS {
        let actions = choose(&written[0].buffers.action_mask, &mut rng);
        for (batch, written) in batches.iter_mut().zip(&mut written) {
            written.step(batch, &actions).unwrap();
        }
        for several in &written[1..] {
            assert_eq!(several, &written[0], "step {step}");
        }
        finished += written[0].finished.len();
    }
    assert!(finished > 2 * GAMES, "{finished} games ended");
}

#[test]
fn several_threads_do_what_one_does() {
    check(&Partners::default());
}

#[test]
fn also_with_partners() {
    check(&Partners::default().with(Seat::ALL[1], vec!["piers".parse().unwrap()]).unwrap());
}

#[test]
fn a_refused_step_changes_nothing_on_any_thread() {
    let (mut batches, mut written) = batches(&Partners::default(), &[2, 3]);
    let mut rng = GameRng::for_samples(0);
    for (batch, written) in batches.iter_mut().zip(&mut written) {
        written.play_until_some_end(batch, &mut rng);
        let before = (batch.to_bytes().unwrap(), written.clone());
        // Long enough for the other threads to sleep: one thread then checks all games.
        let pauses = [Duration::ZERO, Duration::from_millis(1)];
        let rows = [0, GAMES / 2, GAMES - 1];
        for (row, pause) in rows.into_iter().flat_map(|row| pauses.map(|pause| (row, pause))) {
            let mut actions = choose(&written.buffers.action_mask, &mut rng);
            actions[row] = 20;
            thread::sleep(pause);
            let error = written.step(batch, &actions).unwrap_err();
            assert!(error.to_string().contains(&format!("actions[{row}]=20")), "{error}");
            written.see_finished(batch);
            assert_eq!((batch.to_bytes().unwrap(), written.clone()), before);
        }
    }
}

#[test]
fn a_reset_forgets_what_had_ended() {
    let (mut batches, mut written) = batches(&Partners::default(), &[1, 3]);
    let mut rng = GameRng::for_samples(0);
    for (batch, written) in batches.iter_mut().zip(&mut written) {
        written.play_until_some_end(batch, &mut rng);
        batch.observe(Outputs::default()).unwrap();
        assert_eq!(batch.finished().unwrap(), written.finished);
        batch.reset(Seeds::Continue, None, Outputs::default()).unwrap();
        assert_eq!(batch.num_finished(), 0);
    }
}
