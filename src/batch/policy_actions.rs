//! The actions that a policy chooses in all games of a batch.

use super::output_buffers::OutputBuffers;
use super::{Batch, BatchError, Dtype, Observers};
use crate::nn::{Policy, PolicyScratch};
use crate::rules::ActionId;

impl Batch {
    /// The actions that a greedy bot of this policy plays, one for each game, read from the
    /// observations that this batch wrote into the buffers last. In a game that is over it is action 0.
    ///
    /// # Errors
    /// [`BatchError::Policy`] if the batch has another variant or encoder than the policy, if it does
    /// not write the packed rows of the seats to act, or if the network has a hidden state.
    pub fn best_actions(
        &self,
        policy: &Policy,
        buffers: &OutputBuffers<u8>,
        scratch: &mut PolicyScratch,
    ) -> Result<Vec<ActionId>, BatchError> {
        let options = self.options();
        let is_packed = options.dtype == Dtype::Bits && options.observers == Observers::Current;
        let has_encoder = options.encoder.name() == policy.encoder().name();
        let has_rows = buffers.obs.len() == self.num_envs() * self.row_length();
        let differences = policy.differences(self.variant());
        let expected = if policy.is_recurrent() {
            "a policy without a hidden state".to_owned()
        } else if !differences.is_empty() {
            format!("the variant of the policy, in which {}", differences.join(", "))
        } else if !has_encoder || self.layout().len() != policy.num_bits() {
            format!("the encoder of the policy, {}", policy.encoder().name())
        } else if !is_packed || !has_rows {
            "packed rows of the seats to act: Dtype::Bits and Observers::Current".to_owned()
        } else {
            let legal: Vec<_> = (0..self.num_envs()).map(|game| self.legal_actions(game)).collect();
            return Ok(policy.best_actions(&buffers.obs, &legal, scratch));
        };
        Err(BatchError::Policy { expected })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{AutoresetMode, Options};
    use crate::encode::{AnyEncoder, CANONICAL_SEER};
    use crate::nn::shipped_policy;
    use crate::rules::{Parameters, Variant};

    #[test]
    fn the_actions_are_the_moves_of_the_policy() {
        let policy = shipped_policy("ippo-2p").unwrap().policy().unwrap();
        let dtype = Dtype::Bits;
        let autoreset_mode = AutoresetMode::NextStep;
        let options = Options { dtype, autoreset_mode, ..Options::default() };
        let mut batch = Batch::new(policy.variant().clone(), 40, 3, options).unwrap();
        let mut buffers = batch.allocate::<u8>().unwrap();
        let mut scratch = PolicyScratch::default();
        batch.observe(buffers.outputs()).unwrap();
        let mut over = 0;
        for _ in 0..100 {
            let actions = batch.best_actions(&policy, &buffers, &mut scratch).unwrap();
            for (game, action) in actions.iter().enumerate() {
                let moves = batch.look(game, buffers.seat(game), |view| {
                    let is_over = view.ending().is_some();
                    (!is_over).then(|| policy.best_moves([*view], &mut scratch))
                });
                let found = batch.variant().action_to_move(*action).unwrap();
                let expected = moves.unwrap();
                over += usize::from(expected.is_none());
                assert!(expected.map_or(action.index() == 0, |moves| moves == [found]));
            }
            batch.step(&actions, buffers.outputs()).unwrap();
        }
        assert!(over > 0);
    }

    #[test]
    fn rows_that_the_policy_does_not_know_are_refused() {
        let policy = shipped_policy("ippo-2p").unwrap().policy().unwrap();
        let base = || Options { dtype: Dtype::Bits, ..Options::default() };
        let easy = Parameters { max_information_tokens: 10, ..Parameters::default() };
        let seer = AnyEncoder::of_seer(CANONICAL_SEER);
        for (parameters, options, text) in [
            (easy, base(), "max_information_tokens"),
            (Parameters::default(), Options { encoder: seer, ..base() }, "encoder"),
            (Parameters::default(), Options { dtype: Dtype::Uint8, ..base() }, "Dtype::Bits"),
            (Parameters::default(), Options { observers: Observers::All, ..base() }, "Observers"),
        ] {
            let batch = Batch::new(Variant::new(parameters).unwrap(), 2, 1, options).unwrap();
            let buffers = batch.allocate::<u8>().unwrap();
            let refused = batch.best_actions(&policy, &buffers, &mut PolicyScratch::default());
            let error = refused.unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }
}
