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
    /// The values of a turn, counted over all games, in the order of the actions.
    pub(super) fn turn(&self, variant: &Variant, turn: usize) -> impl Iterator<Item = MoveValue> {
        let row = turn * variant.num_actions()..(turn + 1) * variant.num_actions();
        let (means, errors) = (&self.means[row.clone()], &self.standard_errors[row]);
        let moves = variant.tables().moves.iter().zip(means).zip(errors);
        let valued = moves.filter(|((_, mean), _)| !mean.is_nan());
        valued.map(|((&candidate, &mean), &error)| MoveValue {
            candidate,
            mean: mean.into(),
            standard_error: error.into(),
        })
    }

    /// Adds the turns of a game.
    ///
    /// # Errors
    /// `TryReserveError` if there is no memory for them.
    pub(super) fn add(
        &mut self,
        variant: &Variant,
        turns: &[Vec<MoveValue>],
    ) -> Result<(), TryReserveError> {
        let actions = variant.num_actions();
        for numbers in [&mut self.means, &mut self.standard_errors] {
            numbers.try_reserve(turns.len() * actions)?;
        }
        for turn in turns {
            let first = self.means.len();
            for numbers in [&mut self.means, &mut self.standard_errors] {
                numbers.resize(first + actions, f32::NAN);
            }
            for value in turn {
                let action = variant.move_to_action(value.candidate);
                let place = first + action.expect("a legal move has an action").index();
                self.means[place] = value.mean as f32;
                self.standard_errors[place] = value.standard_error as f32;
            }
        }
        Ok(())
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
