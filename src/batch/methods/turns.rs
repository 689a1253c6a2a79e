//! The turns of a batch with partners. A step is the learner's turn in every game, then the turns of its partners
//! up to its next one. External partners are not bots of this crate: the caller plays their turns, so that it
//! makes a step in parts. External players also hold seats of tables that have no learner.

use std::sync::Arc;

use crate::batch::config::BatchConfig;
use crate::batch::options::{AutoresetMode, Options};
use crate::batch::outputs::Outputs;
use crate::batch::step::chunk::{Chunk, GROUP_GAMES};
use crate::batch::step::seeding::GameSeed;
use crate::batch::step::tables::{TableRequest, play_on};
use crate::batch::step::{Request, Step};
use crate::batch::tables::partner_game::{MAX_DEALS, PartnerGame};
use crate::batch::tables::partners::Partners;
use crate::batch::{Batch, BatchError, BotTurns, Games, PartnersError, reserve};
use crate::bots::GamesError;
use crate::buffers::check_length;
use crate::players::PlayerSpec;
use crate::rules::{EpisodeSeed, Recording, Seat, State, Variant};
use crate::threads::is_stopped;

/// The most games that a thread deals at a time.
const GAMES_PER_PIECE: usize = 64;

impl Batch {
    /// These episodes, in which these players hold all seats: there is no learner. No turn is played if a player
    /// is external.
    pub(crate) fn without_learner(
        variant: Arc<Variant>,
        players: Vec<PlayerSpec>,
        episodes: impl ExactSizeIterator<Item = EpisodeSeed>,
    ) -> Result<Batch, BatchError> {
        let options = Options {
            partners: Partners::without_learner(players),
            autoreset_mode: AutoresetMode::Disabled,
            ..Options::default()
        };
        let mut batch = Batch::without_games(variant, episodes.len(), 0, options)?;
        batch.seeds.clear();
        batch.seeds.extend(episodes.map(GameSeed::from));
        batch.seat_all()?;
        Ok(batch)
    }

    /// Deals the episode of each game.
    pub(in crate::batch) fn seat_all(&mut self) -> Result<(), BatchError> {
        let mut episodes = reserve(self.num_envs(), self.num_envs())?;
        episodes.extend(self.episodes().enumerate());
        for (game, table) in self.seat(&episodes)? {
            self.seeds[game] = table.seed().into();
            if let Games::Tables(tables) = &mut self.games {
                tables.push(table);
            }
        }
        Ok(())
    }

    /// Deals episodes of games with partners, on all threads. If all partners are bots, they play up to the
    /// learner's first turn. The batch is unchanged.
    ///
    /// # Errors
    /// [`BatchError::Partners`] if the partners leave the learner no turn, [`BatchError::Stopped`], and
    /// [`BatchError::Memory`].
    pub(in crate::batch) fn seat(
        &mut self,
        episodes: &[(usize, EpisodeSeed)],
    ) -> Result<Vec<(usize, PartnerGame)>, BatchError> {
        let num_envs = self.num_envs();
        let size = episodes.len().div_ceil(self.scratch.len()).clamp(1, GAMES_PER_PIECE);
        let number = episodes.len().div_ceil(size);
        let mut pieces: Vec<Vec<PartnerGame>> = reserve(number, num_envs)?;
        pieces.resize_with(number, Vec::new);
        let mut seated = reserve(episodes.len(), num_envs)?;
        let Batch { config, pool, scratch, .. } = self;
        let partners = &config.options.partners;
        let turns = (!partners.any_is_external()).then_some(BotTurns::UntilExternal);
        pool.for_each_piece(
            episodes.chunks(size).zip(&mut pieces),
            scratch,
            |scratch, (episodes, tables)| {
                let deal = |&(_, seed)| PartnerGame::deal(partners, &config.variant, seed);
                tables.extend(episodes.iter().map(deal));
                scratch.bots.open.clear(); // a bot that panicked has left some
                if turns.is_some() {
                    let waiting =
                        tables.iter().enumerate().filter(|(_, table)| table.runner.waits_for_bot());
                    scratch.bots.open.extend(waiting.map(|(index, _)| index));
                    play_on(config, tables, 0, turns, scratch);
                }
                !is_stopped()
            },
        );
        BatchError::check_stop()?;
        let games = episodes.iter().map(|&(game, _)| game);
        seated.extend(games.zip(pieces.into_iter().flatten()));
        check_turns(seated.iter().map(|(game, table)| (*game, table)))?;
        Ok(seated)
    }

    /// The games of a batch without a learner, as far as they were played.
    ///
    /// # Errors
    /// [`GamesError::Game`] if a bot chose an illegal move, [`GamesError::Memory`] if there is no memory for them.
    pub(crate) fn recorded(&self) -> Result<Recording, GamesError> {
        let mut recording = Recording::new(self.variant().clone());
        for table in self.games.tables().iter().take_while(|_| !is_stopped()) {
            if let Some(source) = &table.failure {
                return Err(GamesError::Game { game: table.seed().game, source: source.clone() });
            }
            table.runner.record(&mut recording)?;
        }
        Ok(recording)
    }

    /// Begins a step of a batch with partners: plays the learner's action in every game. If all partners are
    /// bots, they play up to the learner's next turn. If some are external, [`Batch::play_partners`] plays the turns of
    /// all partners. [`Batch::end_step`] writes the outputs.
    ///
    /// # Errors
    /// [`BatchError::IllegalActions`], [`BatchError::Interrupted`], [`BatchError::Buffer`] for another number of
    /// actions, or [`BatchError::Partners`] if the batch has no partners or a game waits for one; no game has moved
    /// then.
    pub fn begin_step(&mut self, actions: &[i64]) -> Result<(), BatchError> {
        self.play_learner(actions, None)
    }

    /// Begins a step as [`Batch::begin_step`] does, and ends it if there are outputs.
    pub(in crate::batch) fn play_learner(
        &mut self,
        actions: &[i64],
        outputs: Option<Outputs<'_>>,
    ) -> Result<(), BatchError> {
        self.check_tables()?;
        check_length("actions", actions.len(), self.num_envs())?;
        let partners = &self.config.options.partners;
        let waits = |seat: Option<Seat>| seat.is_some_and(|seat| partners.hold(seat));
        if partners.any_is_external()
            && let Some(game) = self.to_act().position(waits)
        {
            return Err(PartnersError::PartnerToAct { game }.into());
        }
        self.check_actions(actions, |_| true)?;
        self.num_calls += 1;
        self.play(TableRequest::LearnerTurn(actions), outputs)
    }

    /// Plays turns of partners in the games of the mask `moving`: the action of an external partner, or the turn
    /// of a bot, whose entry in `actions` is ignored. With [`BotTurns::UntilExternal`] bots then play on. An episode that ends
    /// before the learner's first turn is followed by the next one. Other games do not change, and their actions
    /// are ignored.
    ///
    /// # Errors
    /// [`BatchError::IllegalActions`], [`BatchError::Interrupted`], [`BatchError::Buffer`] for another number of
    /// actions or flags, or [`BatchError::Partners`] if the batch has no partners or a game waits for the learner; no
    /// game has moved then. [`BatchError::Partners`] also if the partners leave the learner no turn: then all games
    /// have to be reset.
    pub fn play_partners(
        &mut self,
        actions: &[i64],
        moving: &[bool],
        turns: BotTurns,
    ) -> Result<(), BatchError> {
        self.check_tables()?;
        check_length("actions", actions.len(), self.num_envs())?;
        check_length("moving", moving.len(), self.num_envs())?;
        let partners = &self.config.options.partners;
        let is_learner = |(game, seat): (usize, Option<Seat>)| {
            moving[game] && seat.is_some_and(|seat| !partners.hold(seat))
        };
        if let Some(game) = self.to_act().enumerate().position(is_learner) {
            return Err(PartnersError::LearnerToAct { game }.into());
        }
        let tables = self.games.tables();
        self.check_actions(actions, |game| moving[game] && !tables[game].runner.waits_for_bot())?;
        self.play(TableRequest::PartnerTurns { actions, moving, turns }, None)?;
        let left = check_turns(self.games.tables().iter().enumerate());
        Ok(left.inspect_err(|_| self.interrupt())?)
    }

    /// Ends a step of a batch with partners: writes its outputs. Games that still wait for a partner are shown as
    /// they stand.
    ///
    /// # Errors
    /// [`BatchError::Interrupted`], [`BatchError::Buffer`] for a buffer of a wrong length or element type, or
    /// [`BatchError::Partners`] if the batch has no partners.
    pub fn end_step(&mut self, outputs: Outputs<'_>) -> Result<(), BatchError> {
        self.check_tables()?;
        outputs.check(&self.config, self.num_envs())?;
        self.run(Request::EndStep, outputs);
        self.interrupt_if_stopped()
    }

    /// Plays turns, and ends the step if there are outputs: group by group, while the games of a group are in the
    /// cache.
    fn play(
        &mut self,
        request: TableRequest<'_>,
        outputs: Option<Outputs<'_>>,
    ) -> Result<(), BatchError> {
        self.interrupt();
        self.fresh = false;
        let (call, ends_step) = (self.num_calls, outputs.is_some());
        let refuses = None::<fn(&BatchConfig, &Chunk<'_>) -> bool>;
        self.run_threads(outputs.unwrap_or_default(), refuses, |config, games, scratch| {
            scratch.finished.start_call(call);
            while !games.is_empty() && !is_stopped() {
                let mut group = games.take_front(GROUP_GAMES, config);
                request.play(config, &mut group, scratch);
                if ends_step {
                    Step::new(config, 0, false, Request::EndStep).run(&mut group, scratch);
                }
            }
        });
        self.is_interrupted = false;
        self.interrupt_if_stopped()
    }

    fn check_tables(&self) -> Result<(), BatchError> {
        self.check_whole()?;
        if self.has_partners() { Ok(()) } else { Err(PartnersError::Missing.into()) }
    }

    /// A game with its turns; `None` if the batch has no partners: then turns are not kept.
    ///
    /// # Panics
    /// If there is no such game, or an earlier call was interrupted halfway.
    #[must_use]
    pub fn partner_state(&self, game: usize) -> Option<State> {
        self.has_partners().then(|| self.whole_games().tables()[game].runner.state())
    }

    /// The index, among the partners of a seat, of the one who holds the seat in this episode of a
    /// game; `None` for a seat of the learner.
    ///
    /// # Panics
    /// If there is no such game.
    #[must_use]
    pub fn drawn_partner(&self, game: usize, seat: Seat) -> Option<usize> {
        self.config.options.partners.drawn(seat, self.seeds[game].episode())
    }
}

/// Checks that the partners leave the learner a turn in each game.
fn check_turns<'a>(
    mut tables: impl Iterator<Item = (usize, &'a PartnerGame)>,
) -> Result<(), PartnersError> {
    match tables.find(|(_, table)| table.is_stuck()) {
        Some((game, _)) => Err(PartnersError::NoTurn { game, deals: MAX_DEALS }),
        None => Ok(()),
    }
}
