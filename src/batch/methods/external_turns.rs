//! Turns that the caller plays for external players, which are not bots of this crate, such as those written in
//! Python. A game waits when it is the turn of one, until the caller plays its move. External players are partners of
//! a learner, or hold the seats of a table that has no learner.

use std::sync::Arc;

use crate::batch::kernel::block::{Field, count, counter, ending};
use crate::batch::options::{AutoresetMode, Options};
use crate::batch::outputs::Outputs;
use crate::batch::partners::Partners;
use crate::batch::partners::game::PartnerGame;
use crate::batch::step::Request;
use crate::batch::{Batch, BatchError};
use crate::bots::{GamesError, Outcome};
use crate::buffers::{check_length, try_with_capacity};
use crate::players::PlayerSpec;
use crate::rules::{EpisodeSeed, Recording, Seat, State, Variant};
use crate::threads::is_stopped;

impl Batch {
    /// Games of a table: these episodes, in which these players hold all seats. The caller plays the turns of
    /// external players by [`Batch::step_some`]; with `every_turn`, the games also stop before each turn of a bot.
    pub(crate) fn of_table(
        variant: Arc<Variant>,
        players: Vec<PlayerSpec>,
        episodes: impl ExactSizeIterator<Item = EpisodeSeed>,
        every_turn: bool,
    ) -> Result<Batch, BatchError> {
        let partners = Partners::of_table(players);
        let options = Options {
            partners: if every_turn { partners.stopping_before_bots() } else { partners },
            autoreset_mode: AutoresetMode::Disabled,
            ..Options::default()
        };
        let mut batch = Batch::without_games(variant, episodes.len(), 0, options)?;
        for (game, seed) in episodes.enumerate() {
            BatchError::check_stop()?;
            let dealt = PartnerGame::start(&batch.config.options.partners, batch.variant(), seed);
            batch.put(game, &dealt.game());
            batch.partner_games.push(dealt);
        }
        Ok(batch)
    }

    /// How each game of a table ended; `None` for games that have not ended.
    ///
    /// # Errors
    /// [`GamesError::Game`] if a bot chose an illegal move, [`GamesError::Memory`] if there is no memory.
    pub(crate) fn outcomes(&self) -> Result<Vec<Option<Outcome>>, GamesError> {
        let mut outcomes = try_with_capacity(self.partner_games.len())?;
        for game in &self.partner_games {
            if let Some(source) = game.failure() {
                return Err(GamesError::Game { game: game.seed().game, source: source.clone() });
            }
            outcomes.push(game.outcome());
        }
        Ok(outcomes)
    }

    /// The games of a table as far as they were played.
    ///
    /// # Errors
    /// [`GamesError::Memory`] if there is no memory for them.
    pub(crate) fn recorded(&self) -> Result<Recording, GamesError> {
        let mut recording = Recording::new(self.variant().clone());
        for game in self.partner_games.iter().take_while(|_| !is_stopped()) {
            game.record(&mut recording)?;
        }
        Ok(recording)
    }

    /// Plays one turn in the games of the mask `moving`, in a batch with partners. The other games
    /// do not change, and their actions are ignored. Outputs are written for all games; those
    /// that do not move have no reward and have not ended.
    ///
    /// ```
    /// use starmine::batch::{Batch, Options, Outputs, Partners};
    /// use starmine::players::PlayerSpec;
    /// use starmine::rules::{Seat, Variant};
    ///
    /// let variant = Variant::default();
    /// let external = vec![PlayerSpec::external()];
    /// let partners = Partners::default().with(Seat::ALL[1], external)?;
    /// let mut batch = Batch::new(variant, 64, 1, Options { partners, ..Options::default() })?;
    /// for seat in [Seat::FIRST, Seat::ALL[1]] {
    ///     let moving: Vec<bool> = batch.to_act().map(|acting| acting == Some(seat)).collect();
    ///     batch.step_some(&[5; 64], &moving, Outputs::default())?; // the seat plays its oldest card
    /// }
    /// assert!(batch.to_act().all(|acting| acting == Some(Seat::FIRST)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BatchError`] for illegal actions, for buffers of a wrong length, or if the batch has no
    /// partners; no game has moved then.
    pub fn step_some(
        &mut self,
        actions: &[i64],
        moving: &[bool],
        outputs: Outputs<'_>,
    ) -> Result<(), BatchError> {
        if !self.has_partners() {
            return Err(BatchError::without_partners());
        }
        self.check_whole()?;
        check_length("actions", actions.len(), self.num_envs())?;
        check_length("moving", moving.len(), self.num_envs())?;
        outputs.check(&self.config, self.num_envs())?;
        let chooses = |game: usize| moving[game] && !self.partner_games[game].waits_for_bot();
        let mut refused = (0..self.num_envs()).filter(|&game| chooses(game));
        if refused.any(|game| self.refuses(game, actions[game])) {
            return Err(self.illegal_actions(actions, chooses).into());
        }
        self.run(Request::PlaySome { actions, moving }, outputs);
        self.fresh = false;
        self.finish_step();
        self.interrupt_if_stopped()
    }

    /// For each game the seat to act; `None` if the game is over.
    pub fn to_act(&self) -> impl ExactSizeIterator<Item = Option<Seat>> + '_ {
        (0..self.num_envs()).map(|game| {
            let counters = self.field(game, Field::Counters);
            let seat = || Seat::at(count(counters, counter::PLAYER).into());
            ending(counters).is_none().then(seat)
        })
    }

    /// A game with its turns; `None` if the batch has no partners: then turns are not kept.
    ///
    /// # Panics
    /// If there is no such game.
    #[must_use]
    pub fn partner_state(&self, game: usize) -> Option<State> {
        self.has_partners().then(|| self.partner_games[game].state())
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
