//! Outside partners: players that are not bots of this crate, such as those written in Python. A game waits when it is
//! the turn of one, until the caller plays its move.

use super::outputs::{Outputs, check_length};
use super::{Batch, BatchError};

impl Batch {
    /// Plays one turn in the games of the mask `moving`, in a batch with partners. The other games do not
    /// change, and their actions are ignored. Outputs are written for all games; those that do not move have
    /// no reward and have not ended.
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
        assert!(self.has_partners(), "only games with partners can stay as they are");
        check_length("actions", actions.len(), self.num_envs())?;
        check_length("moving", moving.len(), self.num_envs())?;
        outputs.check(&self.config, self.num_envs())?;
        let mut refused = (0..self.num_envs()).filter(|&game| moving[game]);
        if refused.any(|game| self.refuses(game, actions[game])) {
            return Err(self.illegal_actions(actions, Some(moving)).into());
        }
        self.run(Some(actions), Some(moving), false, None, outputs);
        self.fresh = false;
        self.finish_step();
        Ok(())
    }

    /// For each game the number of the outside partner who is to act; `None` if the learner is to act or the
    /// game is over.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = Option<usize>> + '_ {
        let partners = &self.config.options.partners;
        self.partner_games.iter().map(|game| {
            let position = game.position();
            let goes_on = position.ending().is_none();
            goes_on.then(|| partners.outside(position.current_player(), game.seed())).flatten()
        })
    }
}
