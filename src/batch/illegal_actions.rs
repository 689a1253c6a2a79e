//! The actions that a step refuses.

use crate::batch::options::{AutoresetMode, IllegalAction};
use crate::batch::{Batch, IllegalActions};
use crate::rules::ActionId;

impl Batch {
    /// The actions that a step refuses. `moving` are the games that play, or `None` for all. Only
    /// the first [`IllegalActions::LISTED`] are listed with their legal actions; all are
    /// counted.
    pub(in crate::batch) fn illegal_actions(
        &self,
        actions: &[i64],
        moving: Option<&[bool]>,
    ) -> IllegalActions {
        let mut error = IllegalActions {
            count: 0,
            rows: vec![],
            actions: vec![],
            legal: vec![],
            variant: self.config.variant.clone(),
        };
        for (row, &action) in actions.iter().enumerate() {
            if moving.is_some_and(|moving| !moving[row]) || !self.refuses(row, action) {
                continue;
            }
            error.count += 1;
            if error.count <= IllegalActions::LISTED {
                error.rows.push(row);
                error.actions.push(action);
                error.legal.push(self.legal(row));
            }
        }
        error
    }

    /// Whether an action is refused: it is illegal, or its game has to be reset first.
    pub(in crate::batch) fn refuses(&self, game: usize, action: i64) -> bool {
        let options = &self.config.options;
        if self.is_over(game) {
            return options.autoreset_mode == AutoresetMode::Disabled;
        }
        let id = usize::try_from(action).ok().and_then(ActionId::new);
        let legal = id.is_some_and(|action| self.legal(game).contains(action));
        options.illegal_action == IllegalAction::Raise && !legal
    }
}
