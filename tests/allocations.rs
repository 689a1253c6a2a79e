//! After the first steps, a step allocates nothing on the thread that calls it, whatever it writes.
//! Nor do beliefs about hands.

#[path = "helpers/buffers.rs"]
mod buffers;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use buffers::{Buffers, Rows};
use starmine::batch::{
    AutoresetMode, Batch, Dtype, ExtraOutput, IllegalAction, Observers, Options, Partners, Seeds,
};
use starmine::buffers::{InstructionSet, f16};
use starmine::encode::Encoder;
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

/// The `step`-th legal action of each game; one in fifty is illegal.
fn choose(batch: &Batch, actions: &mut [i64], step: usize) {
    for (game, action) in actions.iter_mut().enumerate() {
        let legal = batch.legal_actions(game);
        let chosen = legal.iter().nth((step + game) % legal.len().max(1));
        let refused = (step * NUM_ENVS + game).is_multiple_of(50);
        *action = if refused { -1 } else { chosen.map_or(0, |action| u8::from(action).into()) };
    }
}

/// Plays the steps and returns the number of allocations in all of them.
fn play<T: Rows>(
    batch: &mut Batch,
    buffers: &mut Buffers<T>,
    actions: &mut [i64],
    steps: usize,
) -> usize {
    let mut over = [false; NUM_ENVS];
    let mut total = 0;
    for step in 0..steps {
        choose(batch, actions, step);
        total += allocations(|| batch.step(actions, buffers.outputs()).expect("it is played"));
        over.copy_from_slice(&buffers.terminated);
        if batch.options().autoreset_mode == AutoresetMode::Disabled && over.contains(&true) {
            let outputs = buffers.outputs();
            let reset = || batch.reset(Seeds::Continue, Some(&over), outputs).expect("it is dealt");
            total += allocations(reset);
        }
    }
    total
}

fn check(variant: &Arc<Variant>, options: Options) {
    match options.dtype {
        Dtype::Float32 => check_rows::<f32>(variant, options),
        Dtype::Float16 => check_rows::<f16>(variant, options),
        Dtype::Uint8 | Dtype::Bits => check_rows::<u8>(variant, options),
    }
}

fn check_rows<T: Rows>(variant: &Arc<Variant>, options: Options) {
    let name = format!("{options:?}");
    let mut batch = Batch::new(variant.clone(), NUM_ENVS, 0, options).expect("it is possible");
    let mut buffers = Buffers::<T>::new(&batch);
    let mut actions = [0; NUM_ENVS];
    batch.observe(buffers.outputs()).expect("they fit");
    play(&mut batch, &mut buffers, &mut actions, WARM_UP);
    let episodes = |batch: &Batch| batch.episodes().map(|it| it.episode).sum::<u64>();
    let before = episodes(&batch);
    assert_eq!(play(&mut batch, &mut buffers, &mut actions, STEPS), 0, "{name}");
    assert!(episodes(&batch) > before, "{name}: no game ended");
}

#[test]
fn allocations_are_counted() {
    assert_eq!(allocations(|| drop(Box::new(1))), 1);
    assert_eq!(allocations(|| drop(vec![0; 100])), 1);
}

#[test]
fn a_step_does_not_allocate() {
    let variants = ["small", "crowning-piece"].map(|name| {
        let parameters = preset(name).expect("it is in the table").parameters();
        Arc::new(Variant::new(parameters).expect("it is allowed"))
    });
    let mut options = Vec::new();
    for simd in InstructionSet::available() {
        for &dtype in Dtype::ALL {
            for &observers in Observers::ALL {
                for &autoreset_mode in AutoresetMode::ALL {
                    options.push(Options {
                        encoder: Encoder::ALL[options.len() / 3 % 3],
                        dtype,
                        observers,
                        autoreset_mode,
                        illegal_action: IllegalAction::Terminate,
                        partners: Partners::default(),
                        extra_outputs: ExtraOutput::ALL.to_vec(),
                        num_threads: 1 + options.len() % 2,
                        simd: Some(simd),
                    });
                }
            }
        }
    }
    for (index, options) in options.into_iter().enumerate() {
        check(&variants[index / 4 % variants.len()], options);
    }
}

#[test]
fn a_step_with_a_partner_does_not_allocate() {
    let variant = Arc::new(Variant::default());
    for autoreset_mode in [AutoresetMode::SameStep, AutoresetMode::NextStep] {
        let partners = Partners::default().with(Seat::ALL[1], vec!["iggi".parse().expect("a bot")]);
        let options = Options {
            partners: partners.expect("it is allowed"),
            autoreset_mode,
            illegal_action: IllegalAction::Terminate,
            ..Options::default()
        };
        check(&variant, options);
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
        assert!(belief.sample(&mut rng).is_some() && !belief.possible(Slot::ALL[5]).is_empty());
    });
    assert_eq!(taken, 0);
}
