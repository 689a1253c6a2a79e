//! One step of a chunk of games.
//!
//! A *share* is the games of one thread, a *chunk* any neighbouring games, a *piece* the chunk that a
//! thread takes at a time, a *group* 64 games, and a *block* eight games.
//!
//! A step works through groups of 64 games. By default, without partners and with autoreset
//! `SameStep`, each group passes these stages:
//!
//! 1. The kernel plays the turns of eight games at a time; [`result`] has their rewards and
//!    endings.
//! 2. Each game that ended is copied to [`finished_games`], and the next episode is dealt in its
//!    place.
//! 3. The kernel finds the legal actions, and [`rows`](super::rows) and [`result`] write the
//!    outputs.
//!
//! The last observation of a copied game is encoded when the caller asks for it, by stage 3 for the
//! copies alone. Encoding it in each step would cost callers who do not ask a tenth of the step.
//!
//! In a replay, [`next_games`] deals recorded games in stage 2. With partners, [`tables`] plays
//! stages 1 and 2 by the rules, and stage 3 puts eight games at a time into a block of the thread.

pub mod chunk;
pub mod finished_games;
pub mod next_games;
pub mod partition;
pub mod result;
pub mod scratch;
pub mod seeding;
pub mod tables;

use std::hint::black_box;
use std::ops::Range;

use super::config::BatchConfig;
use super::kernel::block::{Block, GameLane, block_words};
use super::kernel::lanes::{Isa, LANES, Word};
use super::kernel::turn::TurnResult;
use super::kernel::variant::Constants;
use super::kernel::{ANY_VARIANT, Kernel, OTHER_RULES};
use super::options::AutoresetMode;
use super::rows::features::write_features;
use super::rows::write::RowWriter;
use super::tables::partner_game::PartnerGame;
use crate::buffers::Task;
use crate::buffers::expand::{Expand, fence};
use crate::rules::BitIndices;
use crate::threads::is_stopped;
use chunk::{Chunk, GROUP, GROUP_GAMES};
use finished_games::FinishedGames;
use next_games::NextGames;
use scratch::Scratch;

/// A pass of a kernel through a chunk of games.
enum Pass<'a, 'b> {
    /// Plays the turns, and writes the outputs.
    Run(&'a mut Chunk<'b>, &'a mut Scratch),
    /// Sets the flag if an action is illegal.
    Check(&'a Chunk<'b>, &'a mut bool),
}

/// A pass with the kernel of a `VARIANT`.
struct KernelTask<'a, 'b, 'c, const VARIANT: usize>(Step<'a>, Pass<'b, 'c>);

impl<I: Isa + Expand, const VARIANT: usize> Task<I> for KernelTask<'_, '_, '_, VARIANT> {
    #[inline(always)]
    fn run(self, isa: I) {
        let KernelTask(step, pass) = self;
        let kernel = Kernel::<I, VARIANT> { isa, variant: &step.config.kernel_variant };
        match pass {
            Pass::Run(chunk, scratch) => step.run_with(kernel, chunk, scratch),
            Pass::Check(chunk, found) => {
                let actions = step.actions_of(chunk, &(0..chunk.len()));
                *found = find_illegal(kernel, chunk.blocks, actions);
            }
        }
    }
}

/// What the games of a batch are asked to do. All outputs are written afterwards.
#[derive(Clone, Copy)]
pub(super) enum Request<'a> {
    /// Nothing: the outputs show the games as they stand.
    Observe,
    /// Play one action in each game.
    Play {
        actions: &'a [i64],
        /// Whether an illegal action refuses the whole request. Otherwise it ends its game as
        /// lost.
        refuse_illegal: bool,
    },
    /// Nothing: the outputs show the step that was played. All games have partners.
    EndStep,
    /// Play one stored action in each game, and deal the stored games that follow.
    Replay { actions: &'a [i64], next_games: NextGames<'a> },
}

impl Request<'_> {
    /// Whether a turn is played in every game.
    pub const fn plays(self) -> bool {
        matches!(self, Request::Play { .. } | Request::Replay { .. })
    }
}

/// A step, which is the same for all chunks of games.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub config: &'a BatchConfig,
    /// The index of the acting player's hand: the number of steps modulo the number of players.
    pub acting_hand: usize,
    /// The actions of all games of the batch; `None` to write the outputs without playing.
    pub actions: Option<&'a [i64]>,
    /// Whether the outputs show the step that was played in games with partners.
    pub ends_step: bool,
    /// In a replay, the games that follow those that leave.
    pub next_games: Option<NextGames<'a>>,
    /// Whether the groups are processed from the last to the first.
    pub backwards: bool,
}

impl<'a> Step<'a> {
    /// The step of a request.
    pub fn new(
        config: &'a BatchConfig,
        acting_hand: usize,
        backwards: bool,
        request: Request<'a>,
    ) -> Step<'a> {
        let (actions, next_games) = match request {
            Request::Observe | Request::EndStep => (None, None),
            Request::Play { actions, .. } => (Some(actions), None),
            Request::Replay { actions, next_games } => (Some(actions), Some(next_games)),
        };
        let ends_step = matches!(request, Request::EndStep);
        Step { config, acting_hand, actions, ends_step, next_games, backwards }
    }

    /// Plays the step in the games of a chunk.
    pub fn run(self, chunk: &mut Chunk<'_>, scratch: &mut Scratch) {
        self.dispatch(Pass::Run(chunk, scratch));
    }

    /// Whether a game of the chunk is not over and its action is illegal.
    pub fn has_illegal(self, chunk: &Chunk<'_>) -> bool {
        let mut found = false;
        self.dispatch(Pass::Check(chunk, &mut found));
        found
    }

    /// Chooses the kernel: for a base game, for a base game with other tokens or switches, or for
    /// any variant.
    fn dispatch(self, pass: Pass<'_, '_>) {
        let constants = self.config.kernel_variant.constants;
        let is_standard = constants == Constants::standard(constants.players);
        match (constants.players, is_standard, constants.has_standard_cards()) {
            (2, true, _) => self.dispatch_for::<2>(pass),
            (3, true, _) => self.dispatch_for::<3>(pass),
            (4, true, _) => self.dispatch_for::<4>(pass),
            (5, true, _) => self.dispatch_for::<5>(pass),
            (2, _, true) => self.dispatch_for::<{ OTHER_RULES + 2 }>(pass),
            (3, _, true) => self.dispatch_for::<{ OTHER_RULES + 3 }>(pass),
            (4, _, true) => self.dispatch_for::<{ OTHER_RULES + 4 }>(pass),
            (5, _, true) => self.dispatch_for::<{ OTHER_RULES + 5 }>(pass),
            _ => self.dispatch_for::<ANY_VARIANT>(pass),
        }
    }

    fn dispatch_for<const VARIANT: usize>(self, pass: Pass<'_, '_>) {
        let any_variant = |KernelTask(step, pass)| KernelTask::<ANY_VARIANT>(step, pass);
        self.config.simd.run_special(KernelTask::<VARIANT>(self, pass), any_variant);
    }

    /// Plays the actions, if there are any, and writes the outputs: group by group.
    #[inline(always)]
    fn run_with<I: Isa + Expand, const VARIANT: usize>(
        self,
        kernel: Kernel<'_, I, VARIANT>,
        chunk: &mut Chunk<'_>,
        scratch: &mut Scratch,
    ) {
        let groups = chunk.len().div_ceil(GROUP_GAMES);
        for index in 0..groups {
            if is_stopped() {
                break;
            }
            let index = if self.backwards { groups - 1 - index } else { index };
            let first = index * GROUP_GAMES;
            let games = first..(first + GROUP_GAMES).min(chunk.len());
            let mut results = [TurnResult::default(); GROUP];
            if self.actions.is_some() {
                let finished = &mut scratch.finished;
                self.play_group(kernel, chunk, finished, games.clone(), &mut results);
            } else if self.ends_step {
                read_results(&chunk.tables[games.clone()], &mut results);
            }
            self.write_group(kernel, chunk, scratch, games, &results);
        }
        if self.config.streams {
            fence();
        }
    }

    /// The index of the acting player's hand after the step.
    #[inline(always)]
    fn next_hand(self, players: usize) -> usize {
        match self.actions {
            Some(_) => (self.acting_hand + 1) % players,
            None => self.acting_hand,
        }
    }

    /// Plays the actions of a group of games, and deals new games.
    #[inline(always)]
    fn play_group<I: Isa, const VARIANT: usize>(
        self,
        kernel: Kernel<'_, I, VARIANT>,
        chunk: &mut Chunk<'_>,
        finished: &mut FinishedGames,
        games: Range<usize>,
        results: &mut [TurnResult; GROUP],
    ) {
        let size = block_words(kernel.constants());
        let mode = self.config.options.autoreset_mode;
        let actions = self.actions_of(chunk, &games);
        let mut dealt_anew = 0;
        for (index, actions) in actions.chunks(LANES).enumerate() {
            let first = games.start + index * LANES;
            let words = &mut chunk.blocks[first / LANES * size..][..size];
            let mut block = Block::new(kernel, words, self.acting_hand);
            let orders = chunk.decks.get(first..first + actions.len()).unwrap_or_default();
            let turn = block.play(&action_word(actions), orders);
            let present = u8::MAX >> (LANES - actions.len());
            for lane in BitIndices((turn.forfeited & present).into()) {
                block.keep_player(lane);
            }
            let leaving = match self.next_games {
                None => dealt_anew_after(mode, &turn),
                Some(next_games) => next_games.leaving(chunk.first + first, &turn),
            };
            results[index] = turn;
            dealt_anew |= u64::from(present & leaving) << (LANES * index);
        }
        let next_hand = self.next_hand(kernel.constants().players);
        // One loop for the whole group: the processor mispredicts its end once, not once a block.
        for index in BitIndices(dealt_anew) {
            let (game, lane) = (games.start + index, index % LANES);
            if let Some(next_games) = self.next_games {
                let order = &mut chunk.decks[game];
                let words = &mut chunk.blocks[game / LANES * size..][..size];
                let mut block = Block::new(kernel, words, next_hand);
                next_games.deal(&self.config.variant, &mut block, chunk.first + game, lane, order);
                continue;
            }
            let (index, state) = (chunk.first + game, chunk.seeds[game].advance());
            if let Some(order) = chunk.decks.get_mut(game) {
                *order = None;
            }
            let words = chunk.block(game, size);
            if mode == AutoresetMode::SameStep {
                finished.push(index, words, lane);
            }
            Block::new(kernel, words, next_hand).deal(lane, state);
        }
    }

    /// Finds the legal actions of a group of games and writes all outputs.
    #[inline(always)]
    fn write_group<I: Isa + Expand, const VARIANT: usize>(
        self,
        kernel: Kernel<'_, I, VARIANT>,
        chunk: &mut Chunk<'_>,
        scratch: &mut Scratch,
        games: Range<usize>,
        results: &[TurnResult; GROUP],
    ) {
        let size = block_words(kernel.constants());
        let next_hand = self.next_hand(kernel.constants().players);
        for (index, start) in games.clone().step_by(LANES).enumerate() {
            // `black_box` hides how the index changes. Otherwise the compiler keeps a pointer into each
            // buffer on the stack and advances all of them for each block, which slows down the
            // stores of the rows.
            let start = black_box(start);
            let games = start..(start + LANES).min(games.end);
            let words = if chunk.tables.is_empty() {
                &mut chunk.blocks[start / LANES * size..][..size]
            } else {
                self.put_tables(&chunk.tables[games.clone()], &mut scratch.block);
                &mut scratch.block[..]
            };
            let mut block = Block::new(kernel, words, next_hand);
            block.find_actions();
            let outputs = &mut chunk.outputs;
            let packed = &mut scratch.packed;
            let mut rows = RowWriter::new(self.config, &block, games.clone(), packed);
            if let Some(obs) = &mut outputs.obs {
                rows.write(obs);
            }
            if let Some(mask) = &mut outputs.action_mask {
                rows.write_mask(mask);
            }
            if outputs.have_features() {
                let place = GameLane { lane: 0, acting_hand: next_hand };
                write_features(self.config, block.words(), place, games.clone(), outputs);
            }
            results[index].write(&block, games, outputs);
        }
    }

    /// The actions of some games of a chunk.
    fn actions_of(self, chunk: &Chunk<'_>, games: &Range<usize>) -> &'a [i64] {
        &self.actions.unwrap_or_default()[chunk.first + games.start..][..games.len()]
    }

    /// Puts games with partners into the lanes of a block.
    #[inline(never)]
    fn put_tables(self, tables: &[PartnerGame], block: &mut [Word]) {
        for (lane, table) in tables.iter().enumerate() {
            let place = GameLane { lane, acting_hand: self.acting_hand };
            table.game().put(block, place, &self.config.variant);
        }
    }
}

/// The results of a step of games with partners.
fn read_results(tables: &[PartnerGame], results: &mut [TurnResult; GROUP]) {
    for (tables, result) in tables.chunks(LANES).zip(results) {
        for (lane, table) in tables.iter().enumerate() {
            result.set(lane, table.result());
        }
    }
}

/// The games that are dealt anew in this step, one bit each.
fn dealt_anew_after(mode: AutoresetMode, turn: &TurnResult) -> u8 {
    match mode {
        AutoresetMode::SameStep => turn.ended,
        AutoresetMode::NextStep => turn.waiting,
        AutoresetMode::Disabled => 0,
    }
}

/// Whether a game is not over and its action is illegal.
#[inline(always)]
fn find_illegal<I: Isa, const VARIANT: usize>(
    kernel: Kernel<'_, I, VARIANT>,
    blocks: &[Word],
    actions: &[i64],
) -> bool {
    let blocks = blocks.chunks_exact(block_words(kernel.constants()));
    let mut illegal = 0;
    for (words, actions) in blocks.zip(actions.chunks(LANES)) {
        let present = u8::MAX >> (LANES - actions.len());
        illegal |= kernel.find_illegal(words, &action_word(actions)) & present;
    }
    illegal != 0
}

/// The actions of a block; lanes without a game get an action that does not exist.
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
