//! What a policy computes for many views.

use super::choice::{MoveChoice, best, sample};
use crate::buffers::{BufferError, check_length};
use crate::rules::{ActionId, ActionSet, GameRng};

/// What a policy computes for many views: for each the logits of all actions, and a value. The
/// methods that take the index of a view panic if there is no such view.
///
/// ```
/// use starmine::nn::{MoveChoice, PolicyOutputs};
/// use starmine::rules::{EpisodeSeed, GameRng, State, Variant};
///
/// let state = State::new(Variant::default(), EpisodeSeed::default());
/// // A network of your own gives 20 logits and a value.
/// let outputs = PolicyOutputs::new(20, vec![state.legal_actions()], &[0.0; 20], &[0.0])?;
/// let drawn = outputs.action(0, MoveChoice::Sampled, &mut GameRng::for_samples(1));
/// assert!(drawn.is_some_and(|action| state.legal_actions().contains(action)));
/// # Ok::<(), starmine::buffers::BufferError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyOutputs {
    /// The legal actions of each view.
    legal: Vec<ActionSet>,
    /// For each view the logits, then the value.
    rows: Vec<f32>,
}

impl PolicyOutputs {
    /// The outputs of a network of the caller, for views with these legal actions: for each view
    /// the logits of all `num_actions` actions, one view after another, and a value.
    ///
    /// # Errors
    /// [`BufferError`] if there are not as many logits and values, or not as many actions as the
    /// highest legal one needs.
    pub fn new(
        num_actions: usize,
        legal: Vec<ActionSet>,
        logits: &[f32],
        values: &[f32],
    ) -> Result<PolicyOutputs, BufferError> {
        let highest = legal.iter().filter_map(|set| set.iter().last()).map(ActionId::index).max();
        let needed = highest.map_or(1, |action| action + 1);
        check_length("num_actions", num_actions, num_actions.max(needed))?;
        check_length("logits", logits.len(), legal.len().saturating_mul(num_actions))?;
        check_length("values", values.len(), legal.len())?;
        let rows = logits.chunks_exact(num_actions).zip(values);
        let rows = rows.flat_map(|(logits, value)| logits.iter().chain([value])).copied();
        Ok(PolicyOutputs { legal, rows: rows.collect() })
    }

    /// The same for rows that are known to fit.
    pub(crate) fn of_rows(legal: Vec<ActionSet>, rows: Vec<f32>) -> PolicyOutputs {
        PolicyOutputs { legal, rows }
    }

    /// The number of views.
    #[must_use]
    pub fn len(&self) -> usize {
        self.legal.len()
    }

    /// Whether there are no views.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.legal.is_empty()
    }

    fn row(&self, index: usize) -> (&[f32], f32) {
        assert!(index < self.len(), "there is no view {index}");
        let width = self.rows.len() / self.len();
        let (value, logits) =
            self.rows[index * width..][..width].split_last().expect("each row has a value");
        (logits, *value)
    }

    /// The logits of all actions, also of illegal ones.
    #[must_use]
    pub fn logits(&self, index: usize) -> &[f32] {
        self.row(index).0
    }

    /// The sum of later rewards that the network expects, as they were counted and discounted in its
    /// training.
    #[must_use]
    pub fn value(&self, index: usize) -> f32 {
        self.row(index).1
    }

    /// The legal actions; none if the game is over.
    #[must_use]
    pub fn legal_actions(&self, index: usize) -> ActionSet {
        self.legal[index]
    }

    /// The legal actions with the logarithms of their probabilities: the logits, less a number that
    /// is the same for all of them.
    #[must_use]
    pub fn log_probabilities(&self, index: usize) -> Vec<(ActionId, f64)> {
        let (logits, legal) = (self.row(index).0, self.legal[index]);
        let logit = |action: ActionId| f64::from(logits[action.index()]);
        let most = legal.iter().map(logit).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = legal.iter().map(|action| libm::exp(logit(action) - most)).sum();
        let logarithm = |action| (action, logit(action) - most - libm::log(sum));
        legal.iter().map(logarithm).collect()
    }

    /// The action that is chosen; `None` if the game is over. Only [`MoveChoice::Sampled`] draws
    /// random numbers.
    #[must_use]
    pub fn action(&self, index: usize, choice: MoveChoice, rng: &mut GameRng) -> Option<ActionId> {
        let ((logits, _), legal) = (self.row(index), self.legal[index]);
        if legal.is_empty() {
            return None;
        }
        let best = best(legal, |action| logits[action]);
        Some(ActionId::at(match choice {
            MoveChoice::Greedy => best,
            MoveChoice::Sampled => sample(logits, legal, best, rng),
        }))
    }

    /// The actions that are chosen, as a batch takes them: one for each view, action 0 if the game is
    /// over.
    #[must_use]
    pub fn actions(&self, choice: MoveChoice, rng: &mut GameRng) -> Vec<ActionId> {
        let action = |index| self.action(index, choice, rng).unwrap_or(ActionId::at(0));
        (0..self.len()).map(action).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_of_other_sizes_are_refused() {
        let legal = |action| ActionSet::from_iter([ActionId::at(0), ActionId::at(action)]);
        let new = |actions, highest, logits, values| {
            let legal = vec![legal(1), legal(highest)];
            let (logits, values) = (vec![1.0; logits], vec![0.5; values]);
            PolicyOutputs::new(actions, legal, &logits, &values).map_err(|error| error.to_string())
        };
        let found = new(20, 19, 40, 2).unwrap();
        assert_eq!((found.logits(1), found.value(1)), (&[1.0; 20][..], 0.5));
        for (refused, text) in [
            (new(20, 20, 40, 2), "num_actions has 20 elements: expected 21"),
            (new(20, 19, 42, 2), "logits has 42 elements: expected 40"),
            (new(20, 19, 40, 3), "values has 3 elements: expected 2"),
            (new(0, 1, 0, 2), "num_actions has 0 elements: expected 2"),
        ] {
            assert_eq!(refused.unwrap_err(), text);
        }
        assert!(PolicyOutputs::new(20, vec![], &[], &[]).unwrap().is_empty());
    }
}
