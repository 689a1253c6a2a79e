//! The actions that a step refuses.

use crate::batch::options::{AutoresetMode, IllegalAction};
use crate::batch::{Batch, BatchError, IllegalActionsError, RefusedAction};

impl Batch {
    /// Checks the actions of the games in which `chooses` holds.
    pub(in crate::batch) fn check_actions(
        &self,
        actions: &[i64],
        chooses: impl Fn(usize) -> bool,
    ) -> Result<(), BatchError> {
        let refuses = |(game, &action): (usize, &i64)| chooses(game) && self.refuses(game, action);
        if actions.iter().enumerate().any(refuses) {
            return Err(self.illegal_actions(actions, chooses).into());
        }
        Ok(())
    }

    /// The actions that a step refuses. `chooses` says in which games an action counts. Only the
    /// first [`IllegalActionsError::LISTED`] are listed with their legal actions; all are
    /// counted.
    pub(in crate::batch) fn illegal_actions(
        &self,
        actions: &[i64],
        chooses: impl Fn(usize) -> bool,
    ) -> IllegalActionsError {
        let mut error =
            IllegalActionsError { count: 0, listed: vec![], variant: self.config.variant.clone() };
        for (game, &action) in actions.iter().enumerate() {
            if !chooses(game) || !self.refuses(game, action) {
                continue;
            }
            error.count += 1;
            if error.count <= IllegalActionsError::LISTED {
                let legal = self.legal_actions(game);
                error.listed.push(RefusedAction { game, action, legal });
            }
        }
        error
    }

    /// Whether an action is refused: it is illegal, or its game has to be reset first.
    fn refuses(&self, game: usize, action: i64) -> bool {
        let options = &self.config.options;
        if self.is_over(game) {
            return options.autoreset_mode == AutoresetMode::Disabled;
        }
        options.illegal_action == IllegalAction::Raise && !self.games.is_legal(game, action)
    }
}
