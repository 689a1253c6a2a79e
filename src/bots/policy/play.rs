use std::sync::Arc;

use super::network::PolicyScratch;
use super::read::Policy;
use crate::bots::bot::Bot;
use crate::bots::registry::UnsupportedVariant;
use crate::encode::encode_into;
use crate::rules::{ActionSet, EpisodeSeed, GameRng, Move, Variant, View};

/// Chances are counted in shares of the best action's.
const ONE: f64 = (1u64 << 48) as f64;

/// Plays a policy's best legal action, or draws one by its logits.
#[derive(Clone)]
pub struct PolicyBot {
    policy: Arc<Policy>,
    is_sampled: bool,
    rng: GameRng,
    words: Vec<u64>,
    memory: Vec<f32>,
    scratch: PolicyScratch,
}

impl PolicyBot {
    /// A bot that plays this variant, and waits for its first game. `name` is for messages.
    ///
    /// # Errors
    /// [`UnsupportedVariant`] when the policy was trained for another one.
    pub fn new(
        policy: Arc<Policy>,
        is_sampled: bool,
        name: &str,
        variant: &Variant,
    ) -> Result<PolicyBot, UnsupportedVariant> {
        policy.check(name, variant)?;
        Ok(PolicyBot {
            is_sampled,
            rng: GameRng::new(EpisodeSeed::default()),
            words: vec![0; policy.num_bits().div_ceil(64)],
            memory: vec![0.0; policy.memory_width()],
            scratch: policy.scratch(),
            policy,
        })
    }
}

impl Bot for PolicyBot {
    fn start(&mut self, _: &View<'_>, rng: GameRng) {
        self.rng = rng;
        self.memory.fill(0.0);
    }

    fn observes(&self) -> bool {
        false
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        let PolicyBot { policy, words, memory, scratch, .. } = self;
        encode_into(policy.encoder, *view, words);
        let logits = policy.logits(words, memory, scratch);
        let legal = view.legal_actions();
        let best = best(logits, legal);
        let action =
            if self.is_sampled { sample(logits, legal, best, &mut self.rng) } else { best };
        view.variant().action_to_move(action as i64).expect("legal actions are the variant's")
    }
}

/// The legal action with the greatest logit, the lowest of equal ones.
pub(super) fn best(logits: &[f32], legal: ActionSet) -> usize {
    let mut actions = legal.iter();
    let first = actions.next().expect("the player to act has a legal action");
    actions.fold(first, |best, action| if logits[action] > logits[best] { action } else { best })
}

/// A legal action, drawn from the softmax of the logits of all legal ones.
pub(super) fn sample(logits: &[f32], legal: ActionSet, best: usize, rng: &mut GameRng) -> usize {
    let share = |action: usize| {
        let below_best = f64::from(logits[action]) - f64::from(logits[best]);
        // What is no number becomes zero.
        (libm::exp(below_best) * ONE) as u64
    };
    let total: u64 = legal.iter().map(share).sum();
    if total == 0 {
        return best;
    }
    let mut drawn = rng.below_u64(total);
    for action in legal.iter() {
        let share = share(action);
        if drawn < share {
            return action;
        }
        drawn -= share;
    }
    best
}
