//! One step of a run of games: their turns, new deals and outputs.

use std::hint::black_box;

use super::chunk::{Chunk, GROUP};
use super::config::BatchConfig;
use super::finished::Finished;
#[cfg(target_arch = "x86_64")]
use super::kernel::lanes::{Avx2, Avx512};
use super::kernel::lanes::{Isa, LANES, Portable, Word};
use super::kernel::plan::Sizes;
use super::kernel::simd::Simd;
use super::kernel::turn::{Turn, bits_of, lanes_of};
use super::kernel::{ANY, Kernel, SWITCHED};
use super::options::AutoresetMode;
use super::rows::expand::fence;
use super::scratch::Scratch;
use super::step_result::StepResult;

/// What is done on the chosen instructions.
enum Task<'a, 'b> {
    Run(&'a mut Chunk<'b>, &'a mut Scratch),
    Check(&'a Chunk<'b>, &'a mut bool),
}

/// What all chunks do.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub config: &'a BatchConfig,
    /// Steps so far, modulo the number of players.
    pub step: usize,
    /// The actions of all games, or none when the games are only looked at.
    pub actions: Option<&'a [i64]>,
    /// Whether to begin at the end.
    pub backwards: bool,
}

impl Step<'_> {
    /// Does the work for the games of one chunk.
    pub fn run(self, chunk: &mut Chunk<'_>, own: &mut Scratch) {
        self.dispatch(Task::Run(chunk, own));
    }

    /// Whether an action is illegal in a game that goes on.
    pub fn has_illegal(self, chunk: &Chunk<'_>) -> bool {
        let mut found = false;
        self.dispatch(Task::Check(chunk, &mut found));
        found
    }

    /// Chooses the code: that of the base games, in which their numbers are constants, that of base
    /// games with other tokens or switches, or that of any game.
    fn dispatch(self, task: Task<'_, '_>) {
        let sizes = self.config.plan.sizes;
        let is_standard = sizes == Sizes::standard(sizes.players);
        match (sizes.players, is_standard, sizes.has_standard_cards()) {
            (2, true, _) => self.dispatch_for::<2>(task),
            (3, true, _) => self.dispatch_for::<3>(task),
            (4, true, _) => self.dispatch_for::<4>(task),
            (5, true, _) => self.dispatch_for::<5>(task),
            (2, _, true) => self.dispatch_for::<{ SWITCHED + 2 }>(task),
            (3, _, true) => self.dispatch_for::<{ SWITCHED + 3 }>(task),
            (4, _, true) => self.dispatch_for::<{ SWITCHED + 4 }>(task),
            (5, _, true) => self.dispatch_for::<{ SWITCHED + 5 }>(task),
            _ => self.dispatch_for::<ANY>(task),
        }
    }

    fn dispatch_for<const STANDARD: usize>(self, task: Task<'_, '_>) {
        match self.config.simd {
            Simd::Portable => run_portable::<STANDARD>(self, task),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => {
                let isa = Avx2::new().expect("the batch was made for this processor");
                // SAFETY: the token says that the processor has the instructions.
                unsafe { run_avx2::<STANDARD>(self, isa, task) }
            }
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => {
                let isa = Avx512::new().expect("the batch was made for this processor");
                // SAFETY: the token says that the processor has the instructions.
                unsafe { run_avx512::<STANDARD>(self, isa, task) }
            }
            #[cfg(not(target_arch = "x86_64"))]
            simd => unreachable!("{simd} is not available on this architecture"),
        }
    }

    #[inline(always)]
    fn run_task<I: Isa, const STANDARD: usize>(self, isa: I, task: Task<'_, '_>) {
        let kernel = Kernel::<I, STANDARD> { isa, plan: &self.config.plan };
        match task {
            Task::Run(chunk, own) => self.run_with(kernel, chunk, own),
            Task::Check(chunk, found) => {
                let actions = &self.actions.unwrap_or_default()[chunk.first..][..chunk.len()];
                *found = check(kernel, chunk.blocks, actions);
            }
        }
    }

    #[inline(always)]
    fn run_with<I: Isa, const STANDARD: usize>(
        self,
        kernel: Kernel<'_, I, STANDARD>,
        chunk: &mut Chunk<'_>,
        own: &mut Scratch,
    ) {
        let size = kernel.sizes().block_words();
        let games = chunk.len();
        let after = if self.actions.is_some() {
            (self.step + 1) % kernel.sizes().players
        } else {
            self.step
        };
        let groups = games.div_ceil(GROUP * LANES);
        for index in 0..groups {
            let index = if self.backwards { groups - 1 - index } else { index };
            let first = index * GROUP * LANES;
            let count = (GROUP * LANES).min(games - first);
            let mut results = [StepResult::default(); GROUP];
            if let Some(actions) = self.actions {
                let actions = &actions[chunk.first + first..][..count];
                if chunk.partner_games.is_empty() {
                    self.play_group(&kernel, chunk, own, first, actions, &mut results);
                } else {
                    self.play_partner_group(chunk, &mut own.finished, first, actions, &mut results);
                }
            }
            for (index, start) in (first..first + count).step_by(LANES).enumerate() {
                // Else the compiler keeps a place for each buffer, and all of them in memory: the
                // stores that move them on stand in a queue with those of the rows.
                let start = black_box(start);
                let block = &mut chunk.blocks[start / LANES * size..][..size];
                kernel.find_actions(block, after);
                let games = start..(start + LANES).min(games);
                chunk.outputs.write(
                    &kernel,
                    self.config,
                    block,
                    after,
                    games,
                    &results[index],
                    &mut own.encoded,
                );
            }
        }
        if self.config.streams {
            fence();
        }
    }

    /// Plays the actions of a group of blocks, and deals new games where it is time.
    #[inline(always)]
    fn play_group<I: Isa, const STANDARD: usize>(
        self,
        kernel: &Kernel<'_, I, STANDARD>,
        chunk: &mut Chunk<'_>,
        own: &mut Scratch,
        first: usize,
        actions: &[i64],
        results: &mut [StepResult; GROUP],
    ) {
        let size = kernel.sizes().block_words();
        let mode = self.config.options.autoreset_mode;
        let mut deals = 0;
        for (index, actions) in actions.chunks(LANES).enumerate() {
            let block = &mut chunk.blocks[(first / LANES + index) * size..][..size];
            let present = u8::MAX >> (LANES - actions.len());
            let turn = kernel.play(block, self.step, &action_word(actions));
            for lane in lanes_of(turn.forfeited & present) {
                kernel.sizes().keep_player(block, lane, self.step);
            }
            results[index] = StepResult::new(&turn);
            deals |= u64::from(present & deals_of(mode, &turn)) << (LANES * index);
        }
        let after = (self.step + 1) % kernel.sizes().players;
        // One loop over all of the group, whose end is foretold wrongly once and not for each block.
        for index in bits_of(deals) {
            let (game, lane) = (first + index, index % LANES);
            let block = &mut chunk.blocks[game / LANES * size..][..size];
            if mode == AutoresetMode::SameStep {
                own.finished.push(chunk.first + game, block, lane);
            }
            kernel.deal(block, lane, after, chunk.seeds[game].advance());
        }
    }

    /// Plays the actions of a group of games with partners.
    #[inline(never)]
    fn play_partner_group(
        self,
        chunk: &mut Chunk<'_>,
        finished: &mut Finished,
        first: usize,
        actions: &[i64],
        results: &mut [StepResult; GROUP],
    ) {
        for (index, &action) in actions.iter().enumerate() {
            let result = &mut results[index / LANES];
            self.play_partner_game(chunk, finished, first + index, action, result);
        }
    }

    /// Plays an action in a game with partners, and writes the game into its block as the learner
    /// sees it after the step.
    fn play_partner_game(
        self,
        chunk: &mut Chunk<'_>,
        finished: &mut Finished,
        index: usize,
        action: i64,
        result: &mut StepResult,
    ) {
        let BatchConfig { plan, variant, options, .. } = self.config;
        let (sizes, lane) = (plan.sizes, index % LANES);
        let after = (self.step + 1) % sizes.players;
        let size = sizes.block_words();
        let block = &mut chunk.blocks[index / LANES * size..][..size];
        let partner_game = &mut chunk.partner_games[index];
        let deals;
        if partner_game.position().ending().is_some() {
            result.note(lane, 0, None, false);
            deals = options.autoreset_mode != AutoresetMode::Disabled;
        } else {
            let before = partner_game.position().score(variant);
            let was_legal = partner_game.play(action);
            let game = partner_game.game();
            let reward = i64::from(game.position.score(variant)) - i64::from(before);
            let ended = game.position.ending().is_some();
            result.note(lane, reward, ended.then(|| sizes.counters(&game)), !was_legal);
            deals = ended && options.autoreset_mode == AutoresetMode::SameStep;
            if deals {
                sizes.put(block, lane, after, variant, &game);
                finished.push(chunk.first + index, block, lane);
            }
        }
        if deals {
            partner_game.deal_next(&options.partners);
        }
        sizes.put(block, lane, after, variant, &partner_game.game());
        chunk.seeds[index] = partner_game.seed().into();
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

/// Looks for an action that is illegal in a game that goes on.
#[inline(always)]
fn check<I: Isa, const STANDARD: usize>(
    kernel: Kernel<'_, I, STANDARD>,
    blocks: &[Word],
    actions: &[i64],
) -> bool {
    let blocks = blocks.chunks_exact(kernel.sizes().block_words());
    let mut illegal = 0;
    for (block, actions) in blocks.zip(actions.chunks(LANES)) {
        let present = u8::MAX >> (LANES - actions.len());
        illegal |= kernel.find_illegal(block, &action_word(actions)) & present;
    }
    illegal != 0
}

/// The actions of a block; where a game is missing, one that is none.
#[inline(always)]
fn action_word(actions: &[i64]) -> Word {
    if let Ok(actions) = <&[i64; LANES]>::try_from(actions) {
        return Word(actions.map(|action| action as u64));
    }
    let mut word = Word([u64::MAX; LANES]);
    for (word, &action) in word.0.iter_mut().zip(actions) {
        *word = action as u64;
    }
    word
}

// Each is a function of its own: in one function the compiler would join what the sizes have in
// common, and no number would be a constant any more.

#[inline(never)]
fn run_portable<const STANDARD: usize>(work: Step<'_>, task: Task<'_, '_>) {
    work.run_task::<_, STANDARD>(Portable, task);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx2<const STANDARD: usize>(work: Step<'_>, isa: Avx2, task: Task<'_, '_>) {
    work.run_task::<_, STANDARD>(isa, task);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
)]
fn run_avx512<const STANDARD: usize>(work: Step<'_>, isa: Avx512, task: Task<'_, '_>) {
    work.run_task::<_, STANDARD>(isa, task);
}
