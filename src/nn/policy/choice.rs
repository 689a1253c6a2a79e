//! The actions that logits choose.

use crate::rules::{ActionId, ActionSet, GameRng, ticket_index};

/// How a move is chosen by the logits of the legal actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveChoice {
    /// The greatest logit; of equal ones the lowest action.
    Greedy,
    /// At random, from the softmax of the logits.
    Sampled,
}

/// Fixed-point 1 of the sampling weights; the best action has weight 1.
const ONE: f64 = (1u64 << 48) as f64;

/// The legal action with the greatest logit; on ties the lowest.
pub fn best(legal: ActionSet, logit: impl Fn(usize) -> f32) -> usize {
    let mut actions = legal.iter().map(ActionId::index);
    let first = actions.next().expect("the player to act has a legal action");
    actions.fold(first, |best, action| if logit(action) > logit(best) { action } else { best })
}

/// A legal action, sampled from the softmax of the legal actions' logits.
pub fn sample(logits: &[f32], legal: ActionSet, best: usize, rng: &mut GameRng) -> usize {
    let weight = |action: usize| {
        let below_best = f64::from(logits[action]) - f64::from(logits[best]);
        // The cast turns NaN into 0.
        (libm::exp(below_best) * ONE) as u64
    };
    let total: u64 = legal.iter().map(ActionId::index).map(weight).sum();
    if total == 0 {
        return best;
    }
    let mut actions = legal.iter().map(ActionId::index);
    let drawn = ticket_index(actions.clone().map(weight), rng.below_u64(total));
    drawn.and_then(|index| actions.nth(index)).unwrap_or(best)
}
