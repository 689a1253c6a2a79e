//! A game with bots in some seats: a step plays the learner's turn, then the turns of the bots up
//! to the learner's next one.

use std::collections::TryReserveError;
use std::sync::Arc;

use super::Partners;
use crate::batch::kernel::game::Game;
use crate::bots::{BotMoveError, GameRunner, Outcome, run_together};
use crate::nn::PolicyScratch;
use crate::rules::{EpisodeSeed, Event, Position, RandomGame, Recording, State, Variant};
use crate::threads::is_stopped;

/// Most deals in a row for an episode in which the partners leave the learner a turn.
pub const MAX_DEALS: usize = 1000;

/// A game with partners.
#[derive(Clone, Debug)]
pub struct PartnerGame {
    table: GameRunner,
    /// Whether an illegal action has ended this episode. It counts as a turn, as in games without
    /// partners.
    forfeited: bool,
    /// The illegal move of a bot, if one has ended this episode.
    failure: Option<BotMoveError>,
    /// Whether the game stops before each turn of a bot, which [`PartnerGame::play`] then plays.
    stops: bool,
    /// Whether a partner is a policy.
    has_policy: bool,
}

impl PartnerGame {
    /// Deals this episode, or the first one after it in which the learner has a turn. After
    /// [`MAX_DEALS`] episodes without one the game is over. If the call is stopped, the learner
    /// need not be to act.
    pub fn new(partners: &Partners, variant: &Arc<Variant>, seed: EpisodeSeed) -> PartnerGame {
        let mut game = PartnerGame::start(partners, variant, seed);
        game.skip(partners);
        game
    }

    /// Deals this episode and lets the partners play up to the learner's first turn. If they end the episode
    /// before, the game is over.
    pub fn start(partners: &Partners, variant: &Arc<Variant>, seed: EpisodeSeed) -> PartnerGame {
        let players = partners.draw(variant, seed);
        let table = GameRunner::new(variant.clone(), players, seed)
            .expect("partners have a player for each seat");
        let mut game = PartnerGame {
            has_policy: table.has_policy(),
            table,
            forfeited: false,
            failure: None,
            stops: partners.stop_before_bots(),
        };
        game.play_partners();
        game
    }

    /// Replays an episode from the learner's actions; `None` if one of them is illegal, or if the
    /// call is stopped.
    pub fn replay(
        partners: &Partners,
        variant: &Arc<Variant>,
        seed: EpisodeSeed,
        actions: &[u8],
    ) -> Option<PartnerGame> {
        let mut game = PartnerGame::start(partners, variant, seed);
        for &action in actions {
            let is_over = game.table.ending().is_some();
            if is_over || is_stopped() || !game.play(action.into()) {
                return None;
            }
        }
        Some(game).filter(|_| !is_stopped())
    }

    /// Deals another episode, as [`PartnerGame::new`] does.
    pub fn deal(&mut self, partners: &Partners, seed: EpisodeSeed) {
        self.restart(partners, seed);
        self.skip(partners);
    }

    /// Deals the episode after this one.
    pub fn deal_next(&mut self, partners: &Partners) {
        self.deal(partners, self.seed().next());
    }

    fn restart(&mut self, partners: &Partners, seed: EpisodeSeed) {
        self.forfeited = false;
        self.failure = None;
        if partners.are_fixed() {
            self.table.start(seed);
        } else {
            let players = partners.draw(self.table.variant(), seed);
            self.table = GameRunner::new(self.table.variant().clone(), players, seed)
                .expect("partners have a player for each seat");
            self.has_policy = self.table.has_policy();
        }
        self.play_partners();
    }

    /// Goes on to the next episode as long as the partners end it before the learner's first turn.
    fn skip(&mut self, partners: &Partners) {
        for _ in 1..MAX_DEALS {
            if self.table.ending().is_none() {
                return;
            }
            self.restart(partners, self.seed().next());
        }
    }

    /// Plays the partners' turns up to the learner's next one, unless the game stops before each of
    /// them. A bot that fails loses the game: a step cannot be taken back halfway.
    pub fn play_partners(&mut self) {
        if !self.stops {
            let played = self.table.run();
            self.forfeit_after(played);
        }
    }

    fn forfeit_after<T>(&mut self, played: Result<T, BotMoveError>) {
        if let Err(error) = played {
            self.forfeit();
            self.failure = Some(error);
        }
    }

    /// Whether the game has stopped before the turn of a bot.
    pub fn waits_for_bot(&self) -> bool {
        self.stops && self.table.waits_for_bot()
    }

    /// Plays the learner's action, then the partners, see [`PartnerGame::play_action`].
    pub fn play(&mut self, action: i64) -> bool {
        let was_legal = self.play_action(action);
        self.play_partners();
        was_legal
    }

    /// Plays the learner's action, and returns whether it was legal; an illegal one loses the game.
    /// A game that waits for a bot plays the bot's turn instead.
    pub fn play_action(&mut self, action: i64) -> bool {
        if self.waits_for_bot() {
            let played = self.table.play_bot();
            self.forfeit_after(played);
            return true;
        }
        let (position, variant) = (self.position(), self.table.variant());
        let id = variant.action_id(action);
        let played = id.and_then(|id| variant.action_to_move(id)).ok();
        let Some(played) = played.filter(|&played| position.is_legal(variant, played)) else {
            self.forfeit();
            return false;
        };
        self.table.play_unchecked(played);
        true
    }

    /// Whether a partner is a policy, which is evaluated for many games at a time by
    /// [`PartnerGame::play_partners_of`].
    pub const fn has_policy(&self) -> bool {
        self.has_policy
    }

    /// Plays the partners' turns in many games, each up to the learner's next one. If the call is
    /// stopped, the learners need not be to act afterwards.
    pub fn play_partners_of<'a>(
        games: impl Iterator<Item = &'a mut PartnerGame>,
        scratch: &mut PolicyScratch,
    ) {
        let mut games: Vec<&mut PartnerGame> = games.filter(|game| !game.stops).collect();
        let mut tables: Vec<&mut GameRunner> =
            games.iter_mut().map(|game| &mut game.table).collect();
        let mut failures = Vec::new();
        run_together(&mut tables, scratch, |game, error| failures.push((game, error)));
        failures.into_iter().for_each(|(game, error)| games[game].forfeit_after::<()>(Err(error)));
    }

    /// The sum of this episode's rewards so far, in points. Points that partners make before the
    /// learner's first turn belong to the reward of that turn. A game that stops before the turns
    /// of bots has rewards for each of these.
    pub fn rewarded(&self) -> u8 {
        if self.table.external_turns().next().is_none() && !self.stops {
            0
        } else {
            self.position().score(self.table.variant())
        }
    }

    /// Ends the game as lost, as an illegal action does.
    pub fn forfeit(&mut self) {
        self.table.forfeit();
        self.forfeited = true;
    }

    /// Whether an illegal action has ended this episode.
    pub const fn is_forfeited(&self) -> bool {
        self.forfeited
    }

    /// The illegal move of a bot, if one has ended this episode.
    pub const fn failure(&self) -> Option<&BotMoveError> {
        self.failure.as_ref()
    }

    /// The position as it stands.
    pub const fn position(&self) -> &Position {
        &self.table.game().position
    }

    /// The seed of this episode.
    pub const fn seed(&self) -> EpisodeSeed {
        self.table.seed()
    }

    /// The learner's actions in this episode, from which the game can be replayed.
    pub fn actions(&self) -> Vec<u8> {
        let action = |event: &Event| self.table.variant().move_to_action(event.played);
        let action = |event| u8::from(action(event).expect("the learner chose an action"));
        self.table.external_turns().map(action).collect()
    }

    /// The game with its turns. An illegal action that ended it is not among them.
    pub fn state(&self) -> State {
        self.table.state()
    }

    /// How the game ended; `None` before its end.
    pub fn outcome(&self) -> Option<Outcome> {
        self.table.outcome()
    }

    /// Adds the game to recorded games of the same variant, as [`PartnerGame::state`] has it.
    pub fn record(&self, recording: &mut Recording) -> Result<(), TryReserveError> {
        self.table.record(recording)
    }

    /// A copy of the game as the batch keeps it in a block.
    pub fn game(&self) -> Game {
        let RandomGame { position, deck } = self.table.game().clone();
        let length = self.table.length() as u8 + u8::from(self.forfeited);
        Game { position, deck, seed: self.table.seed(), length }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::batch::{Batch, BatchError, Options, Outputs, Seeds};
    use crate::bots::{Bot, Player};
    use crate::rules::{GameRng, Move, Seat, View};

    /// Fails in its first turn.
    #[derive(Clone)]
    struct Panicking;

    impl Bot for Panicking {
        fn start(&mut self, _: &View<'_>, _: GameRng) {}

        fn act(&mut self, _: &View<'_>) -> Move {
            panic!("expected")
        }
    }

    #[test]
    fn a_batch_whose_step_has_panicked_must_be_reset() {
        for num_threads in [1, 2] {
            let smart = vec!["smart".parse().unwrap()];
            let partners = Partners::default().with(Seat::ALL[1], smart).unwrap();
            let options = Options { partners, num_threads, ..Options::default() };
            let mut batch = Batch::new(Variant::default(), 20, 1, options).unwrap();
            let players = vec![Player::External, Player::bot(Panicking)];
            let seed = batch.partner_games[7].seed();
            batch.partner_games[7].table =
                GameRunner::new(batch.variant().clone(), players, seed).unwrap();
            let step = |batch: &mut Batch| batch.step(&[5; 20], Outputs::default());
            assert!(catch_unwind(AssertUnwindSafe(|| step(&mut batch))).is_err());
            for refused in [step(&mut batch), batch.observe(Outputs::default())] {
                assert!(matches!(refused, Err(BatchError::Interrupted)), "{refused:?}");
            }
            batch.reset(Seeds::Continue, None, Outputs::default()).unwrap();
            step(&mut batch).unwrap();
        }
    }
}
