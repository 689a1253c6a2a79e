//! The workload of `instructions.rs`: recorded legal actions, replayed with increasingly many outputs.

use std::sync::Arc;

use starmine::batch::{Batch, Dtype, ObservationBuffer, Options, Outputs, Seeds};
use starmine::buffers::WriteOnly;
use starmine::rules::{Parameters, Variant};

/// The outputs of a step. All stages include the rules and the autoreset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// No output.
    Rules,
    /// The legal actions.
    Mask,
    /// The legal actions and packed observations.
    Bits,
    /// The legal actions and observations as 32-bit floats.
    Float32,
}

impl Stage {
    /// All stages.
    pub const ALL: [Stage; 4] = [Stage::Rules, Stage::Mask, Stage::Bits, Stage::Float32];

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Rules => "rules",
            Stage::Mask => "mask",
            Stage::Bits => "bits",
            Stage::Float32 => "float32",
        }
    }

    const fn dtype(self) -> Dtype {
        match self {
            Stage::Float32 => Dtype::Float32,
            Stage::Rules | Stage::Mask | Stage::Bits => Dtype::Bits,
        }
    }
}

/// A batch at the start of its recorded actions, and the buffers that it writes.
pub struct Workload {
    stage: Stage,
    start: Batch,
    actions: Vec<Vec<i64>>,
    mask: Vec<bool>,
    bits: Vec<u8>,
    floats: Vec<f32>,
}

impl Workload {
    /// Records uniformly random legal actions of the standard game.
    pub fn record(stage: Stage, players: u8, games: usize, steps: usize) -> Workload {
        let variant = Variant::new(Parameters { players: players.into(), ..Parameters::default() });
        let variant = Arc::new(variant.expect("the standard game has two to five players"));
        let actions = record_actions(batch(&variant, games, Stage::Mask), steps);
        let start = batch(&variant, games, stage);
        let row = start.num_envs() * start.row_length();
        Workload {
            stage,
            actions,
            mask: vec![false; games * variant.num_actions()],
            bits: vec![0; row],
            floats: vec![0.0; row],
            start,
        }
    }

    /// A copy of the batch, for one replay.
    pub fn start(&self) -> Batch {
        self.start.try_clone().expect("one thread is always there")
    }

    /// Plays all the recorded actions.
    pub fn replay(&mut self, batch: &mut Batch) {
        for row in &self.actions {
            let obs = match self.stage {
                Stage::Rules | Stage::Mask => None,
                Stage::Bits => Some(ObservationBuffer::Bits(WriteOnly::new(&mut self.bits))),
                Stage::Float32 => Some(self.floats.as_mut_slice().into()),
            };
            let mask = (self.stage != Stage::Rules).then(|| WriteOnly::new(&mut self.mask));
            let outputs = Outputs { obs, action_mask: mask, ..Outputs::default() };
            batch.step(row, outputs).expect("the recorded actions are legal");
        }
    }

    /// Steps of one replay: one for each game and recorded action.
    pub fn steps(&self) -> usize {
        self.actions.len() * self.start.num_envs()
    }
}

fn batch(variant: &Arc<Variant>, games: usize, stage: Stage) -> Batch {
    let options = Options { dtype: stage.dtype(), ..Options::default() };
    Batch::new(variant.clone(), games, 0, options).expect("one thread is always there")
}

/// Plays uniformly random legal actions and keeps them.
fn record_actions(mut batch: Batch, steps: usize) -> Vec<Vec<i64>> {
    let (games, num_actions) = (batch.num_envs(), batch.variant().num_actions());
    let mut mask = vec![false; games * num_actions];
    let mut random = Random(0);
    let outputs = Outputs { action_mask: Some(WriteOnly::new(&mut mask)), ..Outputs::default() };
    batch.reset(Seeds::Continue, None, outputs).expect("the mask fits");
    let mut actions = Vec::with_capacity(steps);
    for _ in 0..steps {
        let row: Vec<i64> = mask.chunks(num_actions).map(|legal| random.choose(legal)).collect();
        let outputs =
            Outputs { action_mask: Some(WriteOnly::new(&mut mask)), ..Outputs::default() };
        batch.step(&row, outputs).expect("the chosen actions are legal");
        actions.push(row);
    }
    actions
}

/// How many games have ended since the batch was made.
pub fn finished(batch: &Batch) -> u64 {
    batch.episodes().map(|it| it.episode).sum()
}

/// The random number generator SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn choose(&mut self, legal: &[bool]) -> i64 {
        let count = legal.iter().filter(|&&legal| legal).count() as u64;
        let place = (self.next() % count) as usize;
        let mut actions = (0_i64..).zip(legal).filter(|&(_, &legal)| legal);
        actions.nth(place).expect("a game that goes on has a legal action").0
    }
}
