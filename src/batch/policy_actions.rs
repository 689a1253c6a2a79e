//! The actions that a policy chooses in all games of a batch.

use super::{Batch, BatchError};
use crate::bots::choose;
use crate::nn::{MoveChoice, Policy, PolicyScratch};
use crate::rules::{ActionId, GameRng, Position, View};

impl Batch {
    /// The actions that a policy chooses for the seats to act, one for each game: action 0 in a game
    /// that is over. The observations are those of the policy's encoder;
    /// [`Options::encoder`](super::Options::encoder) does not matter. Only [`MoveChoice::Sampled`] draws
    /// random numbers.
    ///
    /// # Errors
    /// [`BatchError::Policy`] if the policy was trained for another variant, or if its network has a
    /// hidden state.
    #[expect(clippy::missing_panics_doc, reason = "each game that goes on has a move")]
    pub fn policy_actions(
        &self,
        policy: &Policy,
        choice: MoveChoice,
        rng: &mut GameRng,
        scratch: &mut PolicyScratch,
    ) -> Result<Vec<ActionId>, BatchError> {
        let differences = policy.differences(self.variant());
        if policy.is_recurrent() {
            let expected = "one without a hidden state".to_owned();
            return Err(BatchError::Policy { expected });
        }
        if !differences.is_empty() {
            let expected = format!("one of this variant; its own has {}", differences.join(", "));
            return Err(BatchError::Policy { expected });
        }
        let variant = self.variant();
        let positions: Vec<Position> =
            (0..self.num_envs()).map(|game| self.take(game).position).collect();
        let live = positions.iter().filter(|position| position.ending.is_none());
        let views = live.map(|position| View::new(variant, position, position.current_player));
        let chosen = policy.pass(views, scratch, |logits, view| choose(logits, choice, rng, view));
        let mut chosen = chosen.into_iter().filter_map(|chosen| variant.move_to_action(chosen));
        let action = |position: &Position| match position.ending {
            Some(_) => ActionId::at(0),
            None => chosen.next().expect("a move of the variant for each game that goes on"),
        };
        Ok(positions.iter().map(action).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{AutoresetMode, Dtype, Options};
    use crate::nn::shipped_policy;
    use crate::rules::{Parameters, Variant};

    #[test]
    fn the_actions_have_the_greatest_logits_of_the_rows() {
        let policy = shipped_policy("ippo-2p").unwrap().policy().unwrap();
        let (dtype, autoreset_mode) = (Dtype::Bits, AutoresetMode::NextStep);
        let options =
            Options { encoder: policy.encoder(), dtype, autoreset_mode, ..Options::default() };
        let mut batch = Batch::new(policy.variant().clone(), 40, 3, options).unwrap();
        let mut buffers = batch.allocate::<u8>().unwrap();
        let (mut rng, mut scratch) = (GameRng::for_samples(0), PolicyScratch::default());
        batch.observe(buffers.outputs()).unwrap();
        let (mut over, mut others) = (0, 0);
        for _ in 0..100 {
            let mut actions =
                |choice| batch.policy_actions(&policy, choice, &mut rng, &mut scratch).unwrap();
            let (greedy, sampled) = (actions(MoveChoice::Greedy), actions(MoveChoice::Sampled));
            let words = buffers.obs.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
            let words: Vec<u64> = words.collect();
            let outputs = policy.logits(&words, &mut [], &mut scratch);
            for (game, row) in outputs.chunks(policy.num_outputs()).enumerate() {
                let legal = batch.legal_actions(game);
                // The first of the greatest ones.
                let best = legal.iter().reduce(|best, action| {
                    if row[action.index()] > row[best.index()] { action } else { best }
                });
                assert_eq!(greedy[game].index(), best.map_or(0, ActionId::index));
                assert!(legal.is_empty() || legal.contains(sampled[game]));
                over += usize::from(legal.is_empty());
                others += usize::from(greedy[game] != sampled[game]);
            }
            batch.step(&greedy, buffers.outputs()).unwrap();
        }
        assert!(over > 0 && others > 0);
    }

    #[test]
    fn a_policy_of_another_variant_is_refused() {
        let policy = shipped_policy("ippo-2p").unwrap().policy().unwrap();
        let easy = Parameters { max_information_tokens: 10, ..Parameters::default() };
        let batch = Batch::new(Variant::new(easy).unwrap(), 2, 1, Options::default()).unwrap();
        let mut rng = GameRng::for_samples(0);
        let mut scratch = PolicyScratch::default();
        let refused = batch.policy_actions(&policy, MoveChoice::Greedy, &mut rng, &mut scratch);
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("its own has max_information_tokens=8"), "{error}");
    }
}
