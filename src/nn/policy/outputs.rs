//! What a policy computes for many views.

use super::choice::{MoveChoice, best, sample};
use crate::rules::{ActionId, ActionSet, GameRng};

/// What a policy computes for many views: for each the logits of all actions, and a value. The
/// methods that take the index of a view panic if there is no such view.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyOutputs {
    /// The legal actions of each view.
    pub(super) legal: Vec<ActionSet>,
    /// For each view the logits, then the value.
    pub(super) rows: Vec<f32>,
}

impl PolicyOutputs {
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

    /// The legal actions; none if the observer is not to act or the game is over.
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

    /// The legal action with the greatest logit, of equal ones the lowest; `None` if there is no legal action.
    #[must_use]
    pub fn best_action(&self, index: usize) -> Option<ActionId> {
        let (logits, legal) = (self.logits(index), self.legal[index]);
        (!legal.is_empty()).then(|| ActionId::new_unchecked(best(legal, |action| logits[action])))
    }

    /// The action that is chosen; `None` if there is no legal action. Only [`MoveChoice::Sampled`] draws
    /// random numbers.
    #[must_use]
    pub fn action(&self, index: usize, choice: MoveChoice, rng: &mut GameRng) -> Option<ActionId> {
        let best = self.best_action(index)?;
        Some(match choice {
            MoveChoice::Greedy => best,
            MoveChoice::Sampled => {
                let (logits, legal) = (self.logits(index), self.legal[index]);
                ActionId::new_unchecked(sample(logits, legal, best.index(), rng))
            }
        })
    }
}
