//! Trained policies as bots.

use std::fmt;
use std::sync::Arc;

use super::bot::Bot;
use crate::nn::{MoveChoice, Policy, PolicyOutputs, PolicyScratch};
use crate::rules::{GameRng, Move, UnsupportedVariantError, Variant, View};

/// A bot that plays by a policy.
pub struct PolicyBot {
    pub(super) policy: Arc<Policy>,
    choice: MoveChoice,
    rng: GameRng,
    scratch: PolicyScratch,
}

impl Clone for PolicyBot {
    fn clone(&self) -> PolicyBot {
        PolicyBot {
            policy: self.policy.clone(),
            choice: self.choice,
            rng: self.rng.clone(),
            scratch: self.scratch.clone(),
        }
    }

    /// Copies only what changes during a game. The contents of scratch memory do not matter between
    /// moves.
    fn clone_from(&mut self, other: &PolicyBot) {
        if !Arc::ptr_eq(&self.policy, &other.policy) {
            *self = other.clone();
            return;
        }
        self.choice = other.choice;
        self.rng.clone_from(&other.rng);
    }
}

impl fmt::Debug for PolicyBot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PolicyBot")
            .field("policy", &self.policy)
            .field("choice", &self.choice)
            .finish_non_exhaustive()
    }
}

impl PolicyBot {
    /// A bot for this variant, before its first game.
    ///
    /// # Errors
    /// [`UnsupportedVariantError`] if the policy was trained for another variant.
    pub fn new(
        policy: Arc<Policy>,
        choice: MoveChoice,
        variant: &Variant,
    ) -> Result<PolicyBot, UnsupportedVariantError> {
        policy.check_variant(variant)?;
        Ok(PolicyBot {
            choice,
            rng: GameRng::for_samples(0),
            scratch: PolicyScratch::default(),
            policy,
        })
    }

    /// The policy, if the bot is greedy: then the greatest logits are the bot's moves.
    pub(crate) fn greedy_policy(&self) -> Option<&Arc<Policy>> {
        (self.choice == MoveChoice::Greedy).then_some(&self.policy)
    }
}

impl Bot for PolicyBot {
    fn check_variant(&self, variant: &Variant) -> Result<(), UnsupportedVariantError> {
        self.policy.check_variant(variant)
    }

    fn start(&mut self, _: &View<'_>, rng: GameRng) {
        self.rng = rng;
    }

    fn observes(&self) -> bool {
        false
    }

    fn is_deterministic(&self, _: &Variant) -> bool {
        self.choice == MoveChoice::Greedy
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        let outputs = PolicyBot::evaluate(&self.policy, [*view], &mut self.scratch);
        self.choose(&outputs, 0, view.variant())
    }
}

impl PolicyBot {
    /// The policy's outputs for views of games that go on.
    pub(super) fn evaluate<'v>(
        policy: &Policy,
        views: impl IntoIterator<Item = View<'v>>,
        scratch: &mut PolicyScratch,
    ) -> PolicyOutputs {
        policy.evaluate(views, scratch).expect("the policy plays the variant")
    }

    /// The move that is chosen by the outputs for a view of a game that goes on.
    pub(super) fn choose(
        &mut self,
        outputs: &PolicyOutputs,
        index: usize,
        variant: &Variant,
    ) -> Move {
        let action = outputs.action(index, self.choice, &mut self.rng).expect("the game goes on");
        variant.tables().moves[action.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bots::{GameRunner, GamesOptions, Player, RuleList, bot, play_games};
    use crate::nn::{POLICIES, policy_file, small};
    use crate::rules::{Edition, EpisodeSeed, LostGameScore, Parameters};

    /// Bots of the policy in all seats.
    fn players(policy: &Arc<Policy>, choice: MoveChoice, variant: &Variant) -> Vec<Player> {
        let bot = PolicyBot::new(policy.clone(), choice, variant).unwrap();
        vec![Player::bot(bot); variant.players().into()]
    }

    #[test]
    fn games_side_by_side_are_those_of_one_table_after_another() {
        let policies = [1, 2].map(|seed| policy_file(&small(), seed));
        let policies = policies.map(|file| Arc::new(Policy::from_bytes(&file).unwrap()));
        let variant = Arc::new(Variant::new(small()).unwrap());
        for choice in [MoveChoice::Greedy, MoveChoice::Sampled] {
            let bot = |policy: &Arc<Policy>| {
                let bot = PolicyBot::new(policy.clone(), choice, &variant).unwrap();
                Player::bot(bot)
            };
            let [first, second] = policies.each_ref().map(bot);
            let rules = RuleList::parse(&["play-safe", "hint-playable", "discard-oldest"]).unwrap();
            let players = [first, Player::bot(rules), second];
            let played =
                play_games(variant.clone(), &players, 0..150, GamesOptions::seeded(3)).unwrap();
            for (game, outcome) in (0..).zip(played.outcomes) {
                let seed = EpisodeSeed { seed: 3, game, episode: 0 };
                let mut table = GameRunner::new(variant.clone(), players.to_vec(), seed).unwrap();
                table.run().unwrap();
                assert_eq!(Some(outcome), table.outcome(), "game {game}");
            }
        }
    }

    #[test]
    fn games_are_equal_when_they_are_replayed() {
        let policy = Arc::new(Policy::from_bytes(&policy_file(&small(), 1)).unwrap());
        let variant = Arc::new(Variant::new(small()).unwrap());
        for choice in [MoveChoice::Greedy, MoveChoice::Sampled] {
            let players = players(&policy, choice, &variant);
            let whole =
                play_games(variant.clone(), &players, 0..100, GamesOptions::seeded(3)).unwrap();
            let options = GamesOptions { seed: 3, num_threads: usize::MAX };
            let parts = play_games(variant.clone(), &players, 50..100, options).unwrap();
            assert_eq!(whole.outcomes[50..], parts.outcomes);
        }
    }

    #[test]
    fn a_policy_plays_its_own_variant_with_any_start_player_and_edition() {
        let policy = Arc::new(Policy::from_bytes(&policy_file(&small(), 1)).unwrap());
        let plays = |parameters: Parameters| {
            let variant = Variant::new(parameters).unwrap();
            PolicyBot::new(policy.clone(), MoveChoice::Greedy, &variant).is_ok()
        };
        let same = Parameters {
            random_start_player: true,
            lost_game_score: LostGameScore::Fireworks,
            edition: Edition::Ikebana,
            ..small()
        };
        assert!(plays(same));
        assert!(!plays(Parameters { max_life_tokens: 2, ..small() }));
    }

    #[test]
    fn a_damaged_file_is_refused_or_plays_legal_moves() {
        let whole = policy_file(&small(), 1);
        let variant = Arc::new(Variant::new(small()).unwrap());
        for length in (0..whole.len()).step_by(5) {
            assert!(Policy::from_bytes(&whole[..length]).is_err());
        }
        // The fuzzing of each night damages more of it.
        for bit in (0..8 * whole.len()).step_by(71) {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(policy) = Policy::from_bytes(&bytes) else { continue };
            if policy.check_variant(&variant).is_ok() {
                let choice = [MoveChoice::Sampled, MoveChoice::Greedy][bit % 2];
                let players = players(&Arc::new(policy), choice, &variant);
                play_games(variant.clone(), &players, 0..1, GamesOptions::seeded(0)).unwrap();
            }
        }
    }

    #[test]
    fn shipped_policies_can_be_played() {
        for shipped in POLICIES {
            let policy = shipped.policy().unwrap();
            let variant = Arc::new(policy.variant().clone());
            let players = players(&policy, MoveChoice::Greedy, &variant);
            play_games(variant, &players, 0..1, GamesOptions::seeded(0)).unwrap();
            assert!(bot(shipped.name).is_err(), "{} is a bot's name", shipped.name);
        }
    }
}
