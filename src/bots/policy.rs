//! Trained policies as bots.

use std::sync::Arc;

use super::bot::{Bot, UnsupportedVariant};
use crate::encode::encode_into;
use crate::nn::{Policy, PolicyScratch, best, sample};
use crate::rules::{EpisodeSeed, GameRng, Move, Variant, View};

/// Plays the legal action with the greatest logit, or samples from the softmax of the logits.
pub struct PolicyBot {
    policy: Arc<Policy>,
    is_sampled: bool,
    rng: GameRng,
    words: Vec<u64>,
    hidden_state: Vec<f32>,
    scratch: PolicyScratch,
}

impl Clone for PolicyBot {
    fn clone(&self) -> PolicyBot {
        PolicyBot {
            policy: self.policy.clone(),
            is_sampled: self.is_sampled,
            rng: self.rng.clone(),
            words: self.words.clone(),
            hidden_state: self.hidden_state.clone(),
            scratch: self.scratch.clone(),
        }
    }

    /// Copies only what changes during a game. The contents of scratch memory do not matter between moves.
    fn clone_from(&mut self, other: &PolicyBot) {
        if !Arc::ptr_eq(&self.policy, &other.policy) {
            *self = other.clone();
            return;
        }
        self.is_sampled = other.is_sampled;
        self.rng.clone_from(&other.rng);
        self.hidden_state.clone_from(&other.hidden_state);
    }
}

impl PolicyBot {
    /// A bot for this variant, before its first game. `name` is for error messages.
    ///
    /// # Errors
    /// [`UnsupportedVariant`] if the policy was trained for another variant.
    pub fn new(
        policy: Arc<Policy>,
        is_sampled: bool,
        name: &str,
        variant: &Variant,
    ) -> Result<PolicyBot, UnsupportedVariant> {
        check(&policy, name, variant)?;
        Ok(PolicyBot {
            is_sampled,
            rng: GameRng::new(EpisodeSeed::default()),
            words: vec![0; policy.num_bits().div_ceil(64)],
            hidden_state: vec![0.0; policy.state_width()],
            scratch: policy.scratch(),
            policy,
        })
    }

    /// The policy, if [`Policy::best_moves`] finds the moves of this bot: it is greedy, and its network takes rows.
    #[must_use]
    pub fn rows(&self) -> Option<&Arc<Policy>> {
        (!self.is_sampled && self.policy.takes_rows()).then_some(&self.policy)
    }
}

impl Bot for PolicyBot {
    fn start(&mut self, _: &View<'_>, rng: GameRng) {
        self.rng = rng;
        self.hidden_state.fill(0.0);
    }

    fn observes(&self) -> bool {
        false
    }

    fn is_deterministic(&self) -> bool {
        !self.is_sampled
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        let PolicyBot { policy, words, hidden_state, scratch, .. } = self;
        encode_into(policy.encoder(), view, words);
        let logits = policy.logits(words, hidden_state, scratch);
        let legal = view.legal_actions();
        let best = best(legal, |action| logits[action]);
        let action =
            if self.is_sampled { sample(logits, legal, best, &mut self.rng) } else { best };
        view.variant().tables().moves[action]
    }
}

/// Refuses a variant in which the policy was not trained.
fn check(policy: &Policy, name: &str, variant: &Variant) -> Result<(), UnsupportedVariant> {
    let differences = policy.differences(variant);
    if differences.is_empty() {
        return Ok(());
    }
    Err(UnsupportedVariant {
        name: name.to_owned(),
        variant: variant.to_string(),
        expected: format!(
            "the variant that the policy was trained for, in which {}",
            differences.join(", ")
        ),
    })
}
