//! External partners: players that are not bots of this crate, such as those written in Python. A
//! game waits when it is the turn of one, until the caller plays its move.

use super::outputs::Outputs;
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
    pub fn step_some<A: Copy + Into<i64>>(
        &mut self,
        actions: &[A],
        moving: &[bool],
        outputs: Outputs<'_>,
    ) -> Result<(), BatchError> {
        self.with_numbers(actions, |batch, actions| batch.step_moving(actions, moving, outputs))
    }

    fn step_moving(
        &mut self,
        actions: &[i64],
        moving: &[bool],
        outputs: Outputs<'_>,
    ) -> Result<(), BatchError> {
        if !self.has_partners() {
            return Err(BatchError::NoPartners);
        }
        self.check_whole()?;
        check_length("actions", actions.len(), self.num_envs())?;
        check_length("moving", moving.len(), self.num_envs())?;
        outputs.check(&self.config, self.num_envs())?;
        let chooses = |game: usize| moving[game] && !self.partner_games[game].waits_for_bot();
        let mut refused = (0..self.num_envs()).filter(|&game| chooses(game));
        if refused.any(|game| self.refuses(game, actions[game])) {
            return Err(self.illegal_actions(actions, Some(moving)).into());
        }
        self.run(Request::PlaySome { actions, moving }, outputs);
        self.fresh = false;
        self.finish_step();
        self.interrupt_if_stopped()
    }

    /// For each game the seat to act; `None` if the game is over.
    pub fn to_act(&self) -> impl ExactSizeIterator<Item = Option<Seat>> + '_ {
        (0..self.num_envs()).map(|game| {
            let position = self.copy_game(game).position;
            position.ending.is_none().then_some(position.current_player)
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
