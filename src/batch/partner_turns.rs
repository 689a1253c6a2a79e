//! External partners: players that are not bots of this crate, such as those written in Python. A
//! game waits when it is the turn of one, until the caller plays its move.

use std::sync::atomic::AtomicBool;

use super::outputs::Outputs;
use super::partners::game::PartnerGame;
use super::step::Request;
use super::{Batch, BatchError};
use crate::buffers::check_length;
use crate::rules::{Seat, State};

impl Batch {
    /// Plays one turn in the games of the mask `moving`, in a batch with partners. The other games
    /// do not change, and their actions are ignored. Outputs are written for all games; those
    /// that do not move have no reward and have not ended.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use starmine::batch::{Batch, Options, Outputs, Partner, Partners};
    /// use starmine::rules::{Parameters, Seat, Variant};
    ///
    /// let variant = Arc::new(Variant::new(Parameters::default())?);
    /// let external = Partner::External { every_turn: false };
    /// let partners = Partners::default().with(Seat::ALL[1], vec![external])?;
    /// let mut batch = Batch::new(variant, 64, 1, Options { partners, ..Options::default() })?;
    /// for seat in [Seat::ALL[0], Seat::ALL[1]] {
    ///     let moving: Vec<bool> = batch.to_act().map(|acting| acting == Some(seat)).collect();
    ///     batch.step_some(&[5; 64], &moving, Outputs::default())?; // the seat plays its oldest card
    /// }
    /// assert!(batch.to_act().all(|acting| acting == Some(Seat::ALL[0])));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BatchError`] for illegal actions, or for buffers of a wrong length; no game has moved
    /// then.
    ///
    /// # Panics
    /// If the batch has no partners.
    pub fn step_some(
        &mut self,
        actions: &[i64],
        moving: &[bool],
        outputs: Outputs<'_>,
    ) -> Result<(), BatchError> {
        self.step_some_until(&AtomicBool::new(false), actions, moving, outputs)
    }

    /// As [`Batch::step_some`], but returns [`BatchError::Stopped`] if `stop` is set meanwhile, as
    /// `step_until`.
    pub(crate) fn step_some_until(
        &mut self,
        stop: &AtomicBool,
        actions: &[i64],
        moving: &[bool],
        outputs: Outputs<'_>,
    ) -> Result<(), BatchError> {
        assert!(self.has_partners(), "only games with partners can stay as they are");
        self.check_whole()?;
        check_length("actions", actions.len(), self.num_envs())?;
        check_length("moving", moving.len(), self.num_envs())?;
        outputs.check(&self.config, self.num_envs())?;
        let chooses = |game: usize| moving[game] && !self.partner_games[game].waits_for_bot();
        let mut refused = (0..self.num_envs()).filter(|&game| chooses(game));
        if refused.any(|game| self.refuses(game, actions[game])) {
            return Err(self.illegal_actions(actions, Some(moving)).into());
        }
        self.run(Request::PlaySome { actions, moving }, outputs, stop);
        self.fresh = false;
        self.finish_step();
        self.interrupt_if_set(stop)
    }

    /// For each game the seat to act; `None` if the game is over.
    ///
    /// # Panics
    /// If the batch has no partners.
    pub fn to_act(&self) -> impl ExactSizeIterator<Item = Option<Seat>> + '_ {
        assert!(self.has_partners(), "only games with partners wait for them");
        self.partner_games.iter().map(|game| {
            let position = game.position();
            position.ending.is_none().then_some(position.current_player)
        })
    }

    /// A game with its turns, in a batch with partners; `None` if there is no such game.
    ///
    /// # Panics
    /// If the batch has no partners.
    #[must_use]
    pub fn partner_state(&self, game: usize) -> Option<State> {
        assert!(self.has_partners(), "games without partners keep no turns");
        self.partner_games.get(game).map(PartnerGame::state)
    }

    /// For each game and seat the index, among the partners of the seat, of the one who holds the
    /// seat in this episode; `None` for a seat of the learner.
    pub fn drawn_partners(&self) -> impl ExactSizeIterator<Item = Option<usize>> + '_ {
        let partners = &self.config.options.partners;
        let seats = usize::from(self.variant().players());
        let number = self.num_envs() * seats;
        (0..number).map(move |place| {
            partners.drawn(Seat::at(place % seats), self.seeds[place / seats].episode())
        })
    }
}
