//! A policy that is evaluated in all games of a batch.

use std::sync::Arc;

use super::kernel::game::Game;
use super::{Batch, BatchError};
use crate::nn::{Policy, PolicyOutputs, PolicyScratch};
use crate::rules::{ActionSet, EpisodeSeed, Variant, View};
use crate::threads::share;

/// A policy that is evaluated in all games of a batch, with the hidden states of all seats if its
/// network is recurrent.
///
/// It reads the games, not the outputs of the batch: [`Options::encoder`](super::Options::encoder) and
/// [`Options::dtype`](super::Options::dtype) do not matter.
#[derive(Clone, Debug)]
pub struct BatchPolicy {
    policy: Arc<Policy>,
    /// The number of its batch.
    id: u64,
    variant: Arc<Variant>,
    num_envs: usize,
    scratch: Vec<PolicyScratch>,
    /// The last evaluated turn of each seat of each game: its episode, and the number of turns before
    /// it. Empty without recurrence, as are the hidden states.
    turns: Vec<Option<(EpisodeSeed, u8)>>,
    /// The hidden states of each seat of each game before its last evaluated turn.
    before: Vec<f32>,
    /// The hidden states after it.
    after: Vec<f32>,
}

impl BatchPolicy {
    /// The policy for a batch.
    ///
    /// # Errors
    /// [`BatchError::Policy`] if the policy was trained for another variant.
    pub fn new(policy: Arc<Policy>, batch: &Batch) -> Result<BatchPolicy, BatchError> {
        let (variant, num_envs) = (batch.variant().clone(), batch.num_envs());
        policy.check_variant(&variant)?;
        let scratch = PolicyScratch::with_simd(batch.simd())?;
        let (width, seats) = (policy.state_width(), num_envs * usize::from(variant.players()));
        Ok(BatchPolicy {
            id: batch.id,
            scratch: vec![scratch; batch.options().num_threads.max(1)],
            turns: vec![None; if width > 0 { seats } else { 0 }],
            before: vec![0.0; seats * width],
            after: vec![0.0; seats * width],
            policy,
            variant,
            num_envs,
        })
    }

    /// This policy, hidden states included, for a batch that goes on with the same games: a copy, or a
    /// batch that was stored.
    ///
    /// # Errors
    /// [`BatchError::OtherBatch`] for a batch of another variant or number of games.
    pub fn with_batch(&self, batch: &Batch) -> Result<BatchPolicy, BatchError> {
        if batch.num_envs() != self.num_envs || *batch.variant() != self.variant {
            return Err(BatchError::OtherBatch);
        }
        Ok(BatchPolicy { id: batch.id, ..self.clone() })
    }

    /// The policy.
    #[must_use]
    pub const fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// The logits, the legal actions and the value of each game, for the seat to act. A game that is
    /// over or waits for an external partner has no legal actions. It uses as many threads as the
    /// batch.
    ///
    /// With a recurrent network call it before every step, since each call gives the seat to act its
    /// hidden state after this turn. A second call before the next step gives the same. Hidden states
    /// are zero at the start of each episode.
    ///
    /// # Errors
    /// [`BatchError::OtherBatch`] for another batch, [`BatchError::MissingTurn`] for a recurrent network
    /// that was not evaluated at an earlier turn of the seat to act, [`BatchError::Interrupted`] as for
    /// a step. Hidden states do not change then.
    pub fn evaluate(&mut self, batch: &Batch) -> Result<PolicyOutputs, BatchError> {
        batch.check_whole()?;
        if batch.id != self.id {
            return Err(BatchError::OtherBatch);
        }
        let games: Vec<Game> = (0..self.num_envs).map(|game| batch.take(game)).collect();
        let plays = |game: &Game| {
            let is_learner = !batch.options().partners.hold(game.position.current_player);
            game.position.ending.is_none() && is_learner
        };
        self.begin_turns(&games, plays)?;

        let (width, outputs) = (self.policy.state_width(), self.policy.num_outputs());
        let mut states = Vec::with_capacity(games.len() * width);
        for (index, game) in games.iter().enumerate() {
            let seat = self.seat(index, game);
            states.extend_from_slice(&self.before[seat * width..][..width]);
        }
        let mut rows = vec![0.0; games.len() * outputs];
        let mut rest = (&mut *states, &mut *rows);
        let pieces = games.chunks(Policy::BATCH_SIZE).map(|games| {
            let (states, rows) = std::mem::take(&mut rest);
            let (states, later_states) = states.split_at_mut(games.len() * width);
            let (rows, later_rows) = rows.split_at_mut(games.len() * outputs);
            rest = (later_states, later_rows);
            (games, states, rows)
        });
        let BatchPolicy { policy, variant, scratch, .. } = self;
        share(pieces, scratch, |scratch, (games, states, rows)| {
            let positions = games.iter().map(|game| &game.position);
            let views =
                positions.map(|position| View::new(variant, position, position.current_player));
            policy.write_outputs(&Vec::from_iter(views), states, rows, scratch);
            true
        });
        for (index, game) in games.iter().enumerate().filter(|(_, game)| plays(game)) {
            let seat = self.seat(index, game);
            self.after[seat * width..][..width].copy_from_slice(&states[index * width..][..width]);
        }
        let legal = games.iter().enumerate().map(|(index, game)| {
            if plays(game) { batch.legal_actions(index) } else { ActionSet::default() }
        });
        Ok(PolicyOutputs::of_rows(legal.collect(), rows))
    }

    /// The place of the seat to act in a game, among all seats of all games.
    fn seat(&self, index: usize, game: &Game) -> usize {
        index * usize::from(self.variant.players()) + game.position.current_player.index()
    }

    /// Writes the hidden states before this turn to `before`, in the games that the policy plays.
    fn begin_turns(
        &mut self,
        games: &[Game],
        plays: impl Fn(&Game) -> bool,
    ) -> Result<(), BatchError> {
        let (width, players) = (self.policy.state_width(), self.variant.players());
        if width == 0 {
            return Ok(());
        }
        let turn = |game: &Game| Some((game.seed, game.length));
        let last = |game: &Game| Some((game.seed, game.length.checked_sub(players)?));
        let playing = || games.iter().enumerate().filter(|(_, game)| plays(game));
        for (index, game) in playing() {
            let seen = self.turns[self.seat(index, game)];
            if game.length >= players && seen != turn(game) && seen != last(game) {
                return Err(BatchError::MissingTurn { game: index });
            }
        }
        for (index, game) in playing() {
            let seat = self.seat(index, game);
            let (before, after) =
                (&mut self.before[seat * width..][..width], &self.after[seat * width..][..width]);
            if game.length < players {
                before.fill(0.0);
            } else if self.turns[seat] == last(game) {
                before.copy_from_slice(after);
            }
            self.turns[seat] = turn(game);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{AutoresetMode, Options, Outputs, Partners, Seeds};
    use crate::bots::{GameRunner, Player, PolicyBot, SeatedPlayer};
    use crate::nn::{MoveChoice, policy_file, shipped_policy, small};
    use crate::rules::{ActionId, Event, GameRng, Parameters, Seat};

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
        let own = batch(&policy, 2, Options::default());
        let mut evaluated = BatchPolicy::new(policy.clone(), &own).unwrap();
        for refused in [&other, &batch(&policy, 3, Options::default())] {
            assert!(matches!(evaluated.with_batch(refused), Err(BatchError::OtherBatch)));
        }
        for refused in [&other, &own.try_clone().unwrap()] {
            assert!(matches!(evaluated.evaluate(refused), Err(BatchError::OtherBatch)));
        }
        evaluated.evaluate(&own).unwrap();
    }

    #[test]
    fn a_recurrent_network_sees_every_turn() {
        let policy = policy(true);
        let mut whole = batch(&policy, 3, Options::default());
        let players = usize::from(policy.variant().players());
        let mut evaluated = BatchPolicy::new(policy.clone(), &whole).unwrap();
        for turn in 0..players + 1 {
            let actions =
                evaluated.evaluate(&whole).unwrap().actions(MoveChoice::Greedy, &mut rng());
            let mut skipped = whole.try_clone().unwrap();
            let mut other = evaluated.with_batch(&skipped).unwrap();
            assert_eq!(other.evaluate(&skipped).unwrap(), evaluated.evaluate(&whole).unwrap());
            whole.step(&actions, Outputs::default()).unwrap();
            if turn == 0 {
                continue;
            }
            // A turn that was not evaluated is missing when its seat acts again.
            for _ in 0..=players {
                skipped.step(&actions, Outputs::default()).unwrap_or_default();
                let first = (0..3).map(|game| skipped.legal_actions(game).iter().next().unwrap());
                let first: Vec<ActionId> = first.collect();
                skipped.step(&first, Outputs::default()).unwrap();
            }
            let late = skipped.episodes().eq(whole.episodes());
            let error = other.evaluate(&skipped);
            assert!(!late || matches!(error, Err(BatchError::MissingTurn { .. })), "{error:?}");
        }
        let mut resumed = Batch::from_bytes(&whole.to_bytes().unwrap(), None).unwrap();
        let fresh = BatchPolicy::new(policy, &resumed).unwrap().evaluate(&resumed);
        assert!(matches!(fresh, Err(BatchError::MissingTurn { game: 0 })), "{fresh:?}");
        let mut moved = evaluated.with_batch(&resumed).unwrap();
        assert_eq!(moved.evaluate(&resumed).unwrap(), evaluated.evaluate(&whole).unwrap());
        resumed.reset(Seeds::Continue, None, Outputs::default()).unwrap();
        moved.evaluate(&resumed).unwrap();
    }

    #[test]
    fn partners_play_their_own_seats() {
        let policy = policy(true);
        let partners = Partners::default().with(Seat::ALL[1], vec!["random".parse().unwrap()]);
        let options = Options { partners: partners.unwrap(), ..Options::default() };
        let mut batch = batch(&policy, 8, options);
        let mut evaluated = BatchPolicy::new(policy.clone(), &batch).unwrap();
        let greedy = PolicyBot::new(policy.clone(), MoveChoice::Greedy, policy.variant()).unwrap();
        for _ in 0..60 {
            let outputs = evaluated.evaluate(&batch).unwrap();
            let actions = outputs.actions(MoveChoice::Greedy, &mut rng());
            for (game, &action) in actions.iter().enumerate() {
                // The seat's bot, which sees its own turns alone.
                let state = batch.partner_state(game).unwrap();
                let seat = state.current_player();
                let mut bot = SeatedPlayer::new(Player::bot(greedy.clone()), seat, 0);
                let played = bot.act(&state).unwrap();
                assert_eq!(policy.variant().move_to_action(played), Some(action));
            }
            batch.step(&actions, Outputs::default()).unwrap();
        }
    }
}
