//! A policy that is evaluated in all games of a batch.

use std::sync::Arc;

use super::kernel::game::Game;
use super::{Batch, BatchError};
use crate::nn::{Policy, PolicyOutputs, PolicyScratch};
use crate::rules::{EpisodeSeed, Variant, View};
use crate::threads::share;

/// A policy that is evaluated in all games of a batch, with the hidden states of all seats if its
/// network is recurrent.
///
/// It reads the games, not the outputs of the batch: [`Options::encoder`](super::Options::encoder) and
/// [`Options::dtype`](super::Options::dtype) do not matter.
#[derive(Clone, Debug)]
pub struct BatchPolicy {
    policy: Arc<Policy>,
    variant: Arc<Variant>,
    scratch: Vec<PolicyScratch>,
    /// The hidden states of each seat of each game.
    hidden_states: Vec<f32>,
    /// The last evaluated turn of each game: its episode, and the number of turns before it.
    turns: Vec<Option<(EpisodeSeed, u8)>>,
    /// The hidden states of the seats that acted in these turns, before them.
    before: Vec<f32>,
}

impl BatchPolicy {
    /// The policy for a batch, and for any other of the same variant and number of games.
    ///
    /// # Errors
    /// [`BatchError::Policy`] if the policy was trained for another variant.
    pub fn new(policy: Arc<Policy>, batch: &Batch) -> Result<BatchPolicy, BatchError> {
        let (variant, num_envs) = (batch.variant().clone(), batch.num_envs());
        policy.check_variant(&variant)?;
        let width = policy.state_width();
        Ok(BatchPolicy {
            scratch: vec![PolicyScratch::default(); batch.options().num_threads.max(1)],
            hidden_states: vec![0.0; num_envs * usize::from(variant.players()) * width],
            turns: vec![None; num_envs],
            before: vec![0.0; num_envs * width],
            policy,
            variant,
        })
    }

    /// The policy.
    #[must_use]
    pub const fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// The logits, the legal actions and the value of each game, for the seat to act. It uses as many
    /// threads as the batch that it was made for.
    ///
    /// With a recurrent network call it before every step, since each call gives the seat to act its
    /// hidden state after this turn. A second call before the next step gives the same. Hidden states
    /// are zero at the start of each episode.
    ///
    /// # Errors
    /// [`BatchError::OtherBatch`] for a batch with another variant or number of games,
    /// [`BatchError::Interrupted`] as for a step.
    pub fn evaluate(&mut self, batch: &Batch) -> Result<PolicyOutputs, BatchError> {
        batch.check_whole()?;
        let num_envs = self.turns.len();
        if batch.num_envs() != num_envs || *batch.variant() != self.variant {
            return Err(BatchError::OtherBatch { num_envs, variant: self.variant.clone() });
        }
        let games: Vec<Game> = (0..num_envs).map(|game| batch.take(game)).collect();
        games.iter().enumerate().for_each(|(index, game)| self.begin_turn(index, game));

        let BatchPolicy { policy, variant, scratch, .. } = self;
        let (width, outputs) = (policy.state_width(), policy.num_outputs());
        let (mut states, mut rows) = (self.before.clone(), vec![0.0; num_envs * outputs]);
        let mut rest = (&mut *states, &mut *rows);
        let pieces = games.chunks(Policy::BATCH_SIZE).map(|games| {
            let (states, rows) = std::mem::take(&mut rest);
            let (states, later_states) = states.split_at_mut(games.len() * width);
            let (rows, later_rows) = rows.split_at_mut(games.len() * outputs);
            rest = (later_states, later_rows);
            (games, states, rows)
        });
        share(pieces, scratch, |scratch, (games, states, rows)| {
            let positions = games.iter().map(|game| &game.position);
            let views =
                positions.map(|position| View::new(variant, position, position.current_player));
            policy.write_outputs(&Vec::from_iter(views), states, rows, scratch);
            true
        });
        for (index, game) in games.iter().enumerate() {
            self.hidden_state(index, game).copy_from_slice(&states[index * width..][..width]);
        }
        let legal = (0..num_envs).map(|game| batch.legal_actions(game)).collect();
        Ok(PolicyOutputs::new(legal, rows))
    }

    /// The hidden state of the seat to act in a game.
    fn hidden_state(&mut self, index: usize, game: &Game) -> &mut [f32] {
        let (width, players) = (self.policy.state_width(), usize::from(self.variant.players()));
        let seat = game.position.current_player.index();
        &mut self.hidden_states[(index * players + seat) * width..][..width]
    }

    /// Keeps the hidden state of the seat to act, as it is before this turn.
    fn begin_turn(&mut self, index: usize, game: &Game) {
        let (width, players) = (self.policy.state_width(), usize::from(self.variant.players()));
        let last = self.turns[index].replace((game.seed, game.length));
        let is_same_episode = |(episode, length)| episode == game.seed && length <= game.length;
        if !last.is_some_and(is_same_episode) {
            self.hidden_states[index * players * width..][..players * width].fill(0.0);
        } else if last.is_some_and(|(_, length)| length == game.length) {
            return; // `before` has the state before this turn
        }
        let state = self.hidden_state(index, game).to_vec();
        self.before[index * width..][..width].copy_from_slice(&state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{AutoresetMode, Options, Outputs, Seeds};
    use crate::bots::{GameRunner, Player, PolicyBot};
    use crate::nn::{MoveChoice, policy_file, shipped_policy, small};
    use crate::rules::{ActionId, Event, GameRng, Parameters};

    fn policy(recurrent: bool) -> Arc<Policy> {
        Arc::new(Policy::from_bytes(&policy_file(&small(), recurrent)).unwrap())
    }

    fn batch(policy: &Policy, num_envs: usize, options: Options) -> Batch {
        Batch::new(policy.variant().clone(), num_envs, 3, options).unwrap()
    }

    fn rng() -> GameRng {
        GameRng::for_samples(0)
    }

    /// The actions of whole games of greedy bots of the policy.
    fn games_of_bots(policy: &Arc<Policy>, seed: EpisodeSeed) -> Vec<ActionId> {
        let variant = Arc::new(policy.variant().clone());
        let bot = PolicyBot::new(policy.clone(), MoveChoice::Greedy, &variant).unwrap();
        let players = vec![Player::bot(bot); variant.players().into()];
        let mut runner = GameRunner::new(variant.clone(), players, seed).unwrap();
        runner.run().unwrap();
        let action = |event: &Event| variant.move_to_action(event.played).unwrap();
        runner.history().iter().map(action).collect()
    }

    #[test]
    fn games_are_those_of_bots_of_the_policy() {
        for (recurrent, num_threads) in [(false, 1), (true, 1), (true, 3)] {
            let policy = policy(recurrent);
            let mut batch = batch(&policy, 70, Options { num_threads, ..Options::default() });
            let mut evaluated = BatchPolicy::new(policy.clone(), &batch).unwrap();
            let mut played = vec![vec![]; 70];
            for _ in 0..120 {
                let outputs = evaluated.evaluate(&batch).unwrap();
                assert_eq!(outputs, evaluated.evaluate(&batch).unwrap());
                let actions = outputs.actions(MoveChoice::Greedy, &mut rng());
                for ((game, episode), &action) in batch.episodes().enumerate().zip(&actions) {
                    played[game].push((episode, action));
                }
                batch.step(&actions, Outputs::default()).unwrap();
            }
            for played in played {
                for episode in played.chunk_by(|(one, _), (other, _)| one == other) {
                    let actions: Vec<ActionId> =
                        episode.iter().map(|&(_, action)| action).collect();
                    let expected = games_of_bots(&policy, episode[0].0);
                    assert!(expected.starts_with(&actions), "{episode:?}");
                }
            }
        }
    }

    #[test]
    fn hidden_states_begin_anew_in_games_that_are_dealt_again() {
        let policy = policy(true);
        let mut batch = batch(&policy, 3, Options::default());
        let mut evaluated = BatchPolicy::new(policy, &batch).unwrap();
        let first = evaluated.evaluate(&batch).unwrap();
        for _ in 0..5 {
            let outputs = evaluated.evaluate(&batch).unwrap();
            batch
                .step(&outputs.actions(MoveChoice::Greedy, &mut rng()), Outputs::default())
                .unwrap();
        }
        batch.reset(Seeds::Batch(3), None, Outputs::default()).unwrap();
        assert_eq!(evaluated.evaluate(&batch).unwrap(), first);
    }

    #[test]
    fn a_game_that_is_over_has_no_legal_actions() {
        let policy = shipped_policy("ippo-2p").unwrap().policy().unwrap();
        let autoreset_mode = AutoresetMode::NextStep;
        let mut batch = batch(&policy, 40, Options { autoreset_mode, ..Options::default() });
        let mut evaluated = BatchPolicy::new(policy, &batch).unwrap();
        let (mut rng, mut over, mut others) = (rng(), 0, 0);
        for _ in 0..100 {
            let outputs = evaluated.evaluate(&batch).unwrap();
            let actions = outputs.actions(MoveChoice::Greedy, &mut rng);
            let sampled = outputs.actions(MoveChoice::Sampled, &mut rng);
            for game in 0..40 {
                let legal = batch.legal_actions(game);
                assert_eq!(outputs.legal_actions(game), legal);
                assert!(legal.is_empty() || legal.contains(actions[game]));
                assert!(legal.is_empty() || legal.contains(sampled[game]));
                assert!(!legal.is_empty() || actions[game].index() == 0);
                over += usize::from(legal.is_empty());
                others += usize::from(actions[game] != sampled[game]);
            }
            batch.step(&actions, Outputs::default()).unwrap();
        }
        assert!(over > 0 && others > 0);
    }

    #[test]
    fn other_variants_and_other_batches_are_refused() {
        let policy = policy(false);
        let easy = Parameters { max_information_tokens: 3, ..small() };
        let other = Batch::new(Variant::new(easy).unwrap(), 2, 1, Options::default()).unwrap();
        let error = BatchPolicy::new(policy.clone(), &other).unwrap_err().to_string();
        assert!(error.contains("in which max_information_tokens="), "{error}");
        let mut evaluated =
            BatchPolicy::new(policy.clone(), &batch(&policy, 2, Options::default())).unwrap();
        for refused in [&other, &batch(&policy, 3, Options::default())] {
            let error = evaluated.evaluate(refused).unwrap_err().to_string();
            assert!(error.contains("expected one of 2 games of"), "{error}");
        }
    }
}
