//! The games of one thread: their turns, new deals and outputs.

use super::Shared;
use super::block::{COUNTERS, counter};
use super::buffers::{Outputs, Written};
use super::finished::Finished;
use super::kernel::Kernel;
#[cfg(target_arch = "x86_64")]
use super::lanes::{Avx2, Avx512};
use super::lanes::{Isa, LANES, Portable, Word};
use super::options::AutoresetMode;
use super::plan::Sizes;
use super::rows::Scratch;
use super::simd::Simd;
use super::turn::{Turn, lanes_of};
use crate::rules::EpisodeSeed;

/// Blocks that go through each stage together: what one stage writes game by game is then not read
/// at once as whole words by the next, which processors are slow at.
const GROUP: usize = 8;

/// The games of one thread.
pub(super) struct Chunk<'a> {
    /// The index of the first game.
    pub first: usize,
    pub blocks: &'a mut [Word],
    pub seeds: &'a mut [EpisodeSeed],
    pub scratch: &'a mut Scratch,
    pub finished: &'a mut Finished,
    pub outputs: Outputs<'a>,
}

/// What all chunks do.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub shared: &'a Shared,
    /// Steps so far, modulo the number of players.
    pub step: usize,
    /// The actions of all games, or none when the games are only looked at.
    pub actions: Option<&'a [i64]>,
}

impl Work<'_> {
    /// Does the work for the games of one chunk.
    pub fn run(self, chunk: &mut Chunk<'_>) {
        match self.shared.simd {
            Simd::Portable => self.run_with(Portable, chunk),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => {
                let isa = Avx2::new().expect("the batch was made for this processor");
                // SAFETY: the token says that the processor has the instructions.
                unsafe { run_avx2(self, isa, chunk) }
            }
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => {
                let isa = Avx512::new().expect("the batch was made for this processor");
                // SAFETY: the token says that the processor has the instructions.
                unsafe { run_avx512(self, isa, chunk) }
            }
            #[cfg(not(target_arch = "x86_64"))]
            simd => unreachable!("{simd} is not available on this architecture"),
        }
    }

    #[inline(always)]
    fn run_with<I: Isa>(self, isa: I, chunk: &mut Chunk<'_>) {
        // The base games have code of their own, in which their numbers are constants.
        macro_rules! run {
            ($($players:literal)+) => {
                match self.shared.plan.sizes {
                    $(sizes if sizes == const { Sizes::standard($players) } => {
                        self.run_sizes(isa, const { Sizes::standard($players) }, chunk);
                    })+
                    sizes => self.run_sizes(isa, sizes, chunk),
                }
            };
        }
        run!(2 3 4 5);
    }

    #[inline(always)]
    fn run_sizes<I: Isa>(self, isa: I, sizes: Sizes, chunk: &mut Chunk<'_>) {
        let kernel = Kernel { isa, sizes, plan: &self.shared.plan };
        let size = kernel.sizes.block_words();
        let games = chunk.seeds.len();
        let after =
            if self.actions.is_some() { (self.step + 1) % kernel.sizes.players } else { self.step };
        let mut first = 0;
        while first < games {
            let count = (GROUP * LANES).min(games - first);
            let mut results = [Written::default(); GROUP];
            if let Some(actions) = self.actions {
                let actions = &actions[chunk.first + first..][..count];
                self.play_group(&kernel, chunk, first, actions, &mut results);
            }
            for (index, start) in (first..first + count).step_by(LANES).enumerate() {
                let block = &mut chunk.blocks[start / LANES * size..][..size];
                kernel.find_actions(block, after);
                let games = start..(start + LANES).min(games);
                chunk.outputs.write(
                    &kernel,
                    self.shared,
                    block,
                    after,
                    games,
                    &results[index],
                    chunk.scratch,
                );
            }
            first += count;
        }
    }

    /// Plays the actions of a group of blocks, and deals new games where it is time.
    #[inline(always)]
    fn play_group<I: Isa>(
        self,
        kernel: &Kernel<'_, I>,
        chunk: &mut Chunk<'_>,
        first: usize,
        actions: &[i64],
        results: &mut [Written; GROUP],
    ) {
        let size = kernel.sizes.block_words();
        let mode = self.shared.options.autoreset_mode;
        let mut deals = [0u8; GROUP];
        for (index, actions) in actions.chunks(LANES).enumerate() {
            let block = &mut chunk.blocks[(first / LANES + index) * size..][..size];
            let mut word = Word([u64::MAX; LANES]);
            for (lane, &action) in actions.iter().enumerate() {
                word.0[lane] = action as u64;
            }
            let present = u8::MAX >> (LANES - actions.len());
            let turn = kernel.play(block, self.step, &word);
            for lane in lanes_of(turn.forfeited & present) {
                kernel.keep_player(block, lane, self.step);
            }
            results[index] = Written::new(&turn, block[COUNTERS], present);
            deals[index] = present & deals_of(mode, &turn);
        }
        let after = (self.step + 1) % kernel.sizes.players;
        for (index, &deals) in deals.iter().enumerate() {
            for lane in lanes_of(deals) {
                let start = first + index * LANES;
                let block = &mut chunk.blocks[start / LANES * size..][..size];
                let game = start + lane;
                if mode == AutoresetMode::SameStep {
                    chunk.finished.push(chunk.first + game, block, lane);
                }
                let seed = &mut chunk.seeds[game];
                *seed = seed.next();
                kernel.deal(block, lane, after, *seed);
            }
        }
    }
}

/// The games that are dealt anew in this step.
fn deals_of(mode: AutoresetMode, turn: &Turn) -> u8 {
    match mode {
        AutoresetMode::SameStep => turn.ended,
        AutoresetMode::NextStep => turn.waiting,
        AutoresetMode::Disabled => 0,
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx2(work: Work<'_>, isa: Avx2, chunk: &mut Chunk<'_>) {
    work.run_with(isa, chunk);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
fn run_avx512(work: Work<'_>, isa: Avx512, chunk: &mut Chunk<'_>) {
    work.run_with(isa, chunk);
}

/// A block in which nothing happens: every game is over.
pub(super) fn idle_block(block: &mut [Word]) {
    block.fill(Word::default());
    block[COUNTERS] = Word([1 << counter::ENDING; LANES]);
}
