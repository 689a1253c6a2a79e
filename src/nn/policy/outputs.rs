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
/// let outputs = PolicyOutputs::new(vec![state.legal_actions()], vec![0.0; 21])?;
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
    /// the logits of the same number of actions, then a value.
    ///
    /// # Errors
    /// [`BufferError`] if the rows have another length, or lack the logit of a legal action.
    pub fn new(legal: Vec<ActionSet>, rows: Vec<f32>) -> Result<PolicyOutputs, BufferError> {
        let width = rows.len().checked_div(legal.len()).unwrap_or(0);
        let last = legal.iter().filter_map(|set| set.iter().last()).map(ActionId::index).max();
        let least = last.map_or(1, |action| action + 2);
        check_length("rows", rows.len(), legal.len() * width.max(least))?;
        Ok(PolicyOutputs { legal, rows })
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

    /// The logarithms of the probabilities of the legal actions, in their order: the logits, less a
    /// number that is the same for all of them.
    #[must_use]
    pub fn log_probabilities(&self, index: usize) -> Vec<f64> {
        let (logits, _) = self.row(index);
        let legal = self.legal[index].iter();
        let found: Vec<f64> = legal.map(|action| logits[action.index()].into()).collect();
        let most = found.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = found.iter().map(|logit| libm::exp(logit - most)).sum();
        found.iter().map(|logit| logit - most - libm::log(sum)).collect()
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
