//! After the first steps, a step allocates nothing on the thread that calls it, whatever it writes.
//! Nor do beliefs about hands.

#[path = "lockstep/encoder.rs"]
mod encoder;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use half::f16;
use starmine::batch::{
    AutoresetMode, Batch, Dtype, IllegalAction, ObservationBuffer, Observers, Options, Outputs,
    Partners, Seeds,
};
use starmine::buffers::Simd;
use starmine::encode::{AnyEncoder, CARD_FEATURES, encoders};
use starmine::rules::{
    Belief, EpisodeSeed, GameRng, Parameters, Seat, Slot, State, Variant, preset,
};

/// The system's allocator with a count of each thread's allocations.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    // A thread that ends may free memory after its counter is gone.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

// SAFETY: every call is forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller upholds the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller upholds the contract, which is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller upholds the contract, which is the same.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The number of allocations of this thread during the call.
fn allocations(call: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    call();
    ALLOCATIONS.get() - before
}

const NUM_ENVS: usize = 21;
const WARM_UP: usize = 20;
const STEPS: usize = 40;

/// A buffer for every output.
struct Buffers {
    dtype: Dtype,
    bytes: Vec<u8>,
    halves: Vec<f16>,
    floats: Vec<f32>,
    mask: Vec<bool>,
    reward: Vec<f32>,
    flags: [Vec<bool>; 3],
    numbers: [Vec<i32>; 4],
    ending: Vec<i8>,
    card_features: Vec<f32>,
    marginals: Vec<f32>,
    own_hand: Vec<i8>,
}

impl Buffers {
    fn new(batch: &Batch) -> Buffers {
        let rows = NUM_ENVS * batch.num_observers();
        let length = rows * batch.row_length();
        let variant = batch.variant();
        let slots = usize::from(variant.hand_size());
        let cards = usize::from(variant.players()) * slots;
        Buffers {
            dtype: batch.options().dtype,
            bytes: vec![0; length],
            halves: vec![f16::ZERO; length],
            floats: vec![0.0; length],
            mask: vec![false; NUM_ENVS * batch.variant().num_actions()],
            reward: vec![0.0; NUM_ENVS],
            flags: [const { vec![] }; 3].map(|_: Vec<bool>| vec![false; NUM_ENVS]),
            numbers: [const { vec![] }; 4].map(|_: Vec<i32>| vec![0; NUM_ENVS]),
            ending: vec![0; NUM_ENVS],
            card_features: vec![0.0; rows * cards * CARD_FEATURES],
            marginals: vec![0.0; rows * cards * variant.num_card_kinds()],
            own_hand: vec![0; rows * slots],
        }
    }

    fn outputs(&mut self) -> Outputs<'_> {
        let obs = match self.dtype {
            Dtype::Float32 => ObservationBuffer::Float32(&mut self.floats),
            Dtype::Float16 => ObservationBuffer::Float16(&mut self.halves),
            Dtype::Uint8 => ObservationBuffer::Uint8(&mut self.bytes),
            Dtype::Bits => ObservationBuffer::Bits(&mut self.bytes),
        };
        let [terminated, truncated, illegal_action] = &mut self.flags;
        let [current_player, score, final_score, final_length] = &mut self.numbers;
        Outputs {
            obs: Some(obs),
            action_mask: Some(&mut self.mask),
            reward: Some(&mut self.reward),
            terminated: Some(terminated),
            truncated: Some(truncated),
            current_player: Some(current_player),
            score: Some(score),
            final_score: Some(final_score),
            final_length: Some(final_length),
            final_ending: Some(&mut self.ending),
            illegal_action: Some(illegal_action),
            card_features: Some(&mut self.card_features),
            marginals: Some(&mut self.marginals),
            own_hand: Some(&mut self.own_hand),
        }
    }

    /// The `step`-th legal action of each game; one in fifty is illegal.
    fn choose(&self, actions: &mut [i64], step: usize) {
        let width = self.mask.len() / NUM_ENVS;
        for (game, (action, legal)) in actions.iter_mut().zip(self.mask.chunks(width)).enumerate() {
            let number = legal.iter().filter(|&&legal| legal).count().max(1);
            let chosen =
                (0_i64..).zip(legal).filter(|&(_, &legal)| legal).nth((step + game) % number);
            let refused = (step * NUM_ENVS + game).is_multiple_of(50);
            *action = if refused { -1 } else { chosen.map_or(0, |(action, _)| action) };
        }
    }
}

/// Plays the steps and returns the number of allocations in all of them.
fn play(batch: &mut Batch, buffers: &mut Buffers, actions: &mut [i64], steps: usize) -> usize {
    let mut over = [false; NUM_ENVS];
    let mut total = 0;
    for step in 0..steps {
        buffers.choose(actions, step);
        total += allocations(|| batch.step(actions, buffers.outputs()).expect("it is played"));
        over.copy_from_slice(&buffers.flags[0]);
        if batch.options().autoreset_mode == AutoresetMode::Disabled && over.contains(&true) {
            let outputs = buffers.outputs();
            let reset = || batch.reset(Seeds::Continue, Some(&over), outputs).expect("it is dealt");
            total += allocations(reset);
        }
    }
    total
}

fn check(variant: &Arc<Variant>, options: Options) {
    let name = format!("{options:?}");
    let mut batch = Batch::new(variant.clone(), NUM_ENVS, 0, options).expect("it is possible");
    let mut buffers = Buffers::new(&batch);
    let mut actions = [0; NUM_ENVS];
    batch.observe(buffers.outputs()).expect("they fit");
    play(&mut batch, &mut buffers, &mut actions, WARM_UP);
    let before: u64 = batch.episodes().sum();
    assert_eq!(play(&mut batch, &mut buffers, &mut actions, STEPS), 0, "{name}");
    assert!(batch.episodes().sum::<u64>() > before, "{name}: no game ended");
}

#[test]
fn allocations_are_counted() {
    assert_eq!(allocations(|| drop(Box::new(1))), 1);
    assert_eq!(allocations(|| drop(vec![0; 100])), 1);
}

#[test]
fn a_step_does_not_allocate() {
    let variants = ["small", "crowning-piece"].map(|name| {
        let parameters = preset(name).expect("it is in the table");
        Arc::new(Variant::new(parameters).expect("it is allowed"))
    });
    // The canonical encoders, and one that the kernel does not know.
    let outside = AnyEncoder::of_seat(encoder::Outside);
    let encoders: Vec<_> = encoders().into_iter().chain([outside.clone()]).collect();
    let mut options = Vec::new();
    for simd in Simd::available() {
        for &dtype in Dtype::ALL {
            for &observers in Observers::ALL {
                for &autoreset_mode in AutoresetMode::ALL {
                    options.push(Options {
                        encoder: encoders[options.len() / 3 % encoders.len()].clone(),
                        dtype,
                        observers,
                        autoreset_mode,
                        illegal_action: IllegalAction::Terminate,
                        partners: Partners::default(),
                        extra_outputs: Vec::new(),
                        num_threads: 1 + options.len() % 2,
                        simd: Some(simd),
                    });
                }
            }
        }
    }
    let illegal_action = IllegalAction::Terminate;
    options.push(Options { encoder: outside, illegal_action, ..Options::default() });
    for (index, options) in options.into_iter().enumerate() {
        check(&variants[index / 4 % variants.len()], options);
    }
}

#[test]
fn a_belief_does_not_allocate() {
    let parameters = Parameters { hand_size: Some(6), ..Parameters::default() };
    let variant = Arc::new(Variant::new(parameters).expect("it is allowed"));
    let state = State::new(variant.clone(), EpisodeSeed::default());
    let (mut rows, mut rng) = ([0.0; 6 * 25], GameRng::for_samples(0));
    let taken = allocations(|| {
        let belief = Belief::new(&state.view(Seat::ALL[1]));
        belief.write_marginals(&mut rows);
        assert!(
            belief.sample(&variant, &mut rng).is_some()
                && !belief.possible(Slot::ALL[5]).is_empty()
        );
    });
    assert_eq!(taken, 0);
}
