//! What bots that value moves have found out, as arrays.

use std::collections::TryReserveError;

use crate::bots::bot::MoveValue;
use crate::rules::Variant;

/// The values of all actions in the turns of recorded games, turn after turn.
#[derive(Clone, Debug, Default)]
pub struct TurnValues {
    /// For each turn and action the mean score of games that go on with it, NaN where it was not
    /// looked for.
    pub(crate) means: Vec<f32>,
    /// The standard errors of these means.
    pub(crate) standard_errors: Vec<f32>,
}

impl TurnValues {
    /// Adds a turn.
    pub(super) fn push(&mut self, variant: &Variant, values: &[MoveValue]) {
        let first = self.means.len();
        for numbers in [&mut self.means, &mut self.standard_errors] {
            numbers.resize(first + variant.num_actions(), f32::NAN);
        }
        for value in values {
            let action = variant.move_to_action(value.candidate);
            let place = first + action.expect("a legal move has an action").index();
            self.means[place] = value.mean as f32;
            self.standard_errors[place] = value.standard_error as f32;
        }
    }

    /// Forgets all turns.
    pub(super) fn clear(&mut self) {
        self.means.clear();
        self.standard_errors.clear();
    }

    /// Adds the turns of other games behind these.
    ///
    /// # Errors
    /// `TryReserveError` if there is no memory for them.
    pub(super) fn append(&mut self, other: &TurnValues) -> Result<(), TryReserveError> {
        let pairs =
            [(&mut self.means, &other.means), (&mut self.standard_errors, &other.standard_errors)];
        for (numbers, more) in pairs {
            numbers.try_reserve(more.len())?;
            numbers.extend(more);
        }
        Ok(())
    }
}
