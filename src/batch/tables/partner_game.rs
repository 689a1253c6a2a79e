//! A game with bots and external partners in some seats, as a batch keeps it.

use std::borrow::{Borrow, BorrowMut};
use std::sync::Arc;

use super::partners::Partners;
use crate::batch::kernel::game::Game;
use crate::bots::{BotMoveError, GameRunner};
use crate::rules::{ActionSet, EpisodeSeed, Event, Move, Position, RandomGame, Variant};

/// Most deals in a row for an episode in which the partners leave the learner a turn.
pub const MAX_DEALS: u16 = 1000;

/// A game with partners.
#[derive(Clone, Debug)]
pub struct PartnerGame {
    /// The game with its players. An illegal action that ended it is not among its turns.
    pub runner: GameRunner,
    /// Whether an illegal action has ended this episode. It counts as a turn, as in games without
    /// partners.
    pub forfeited: bool,
    /// The illegal move of a bot, if one has ended this episode.
    pub failure: Option<BotMoveError>,
    since: Since,
}

/// What has happened since the learner's last turn.
#[derive(Clone, Copy, Debug)]
struct Since {
    /// The points of this episode that earlier steps have rewarded. Points that partners make before the
    /// learner's first turn belong to the reward of that turn.
    rewarded: u8,
    /// Whether the learner has had a turn in this episode.
    learner_acted: bool,
    /// Whether the learner's last action in this episode was illegal.
    was_illegal: bool,
    /// The episode that has ended in this step, after a turn of the learner.
    ended: Option<PartnerGameResult>,
    /// The deals in a row in which the learner has had no turn, this one included.
    deals: u16,
}

/// The result of a step in one game.
#[derive(Clone, Copy, Debug, Default)]
pub struct PartnerGameResult {
    pub reward: i64,
    /// The counters of the game as it ended; `None` if it goes on.
    pub last: Option<u64>,
    /// Whether an illegal action of the learner has ended it.
    pub was_illegal: bool,
}

impl Borrow<GameRunner> for PartnerGame {
    fn borrow(&self) -> &GameRunner {
        &self.runner
    }
}

impl BorrowMut<GameRunner> for PartnerGame {
    fn borrow_mut(&mut self) -> &mut GameRunner {
        &mut self.runner
    }
}

impl PartnerGame {
    /// Deals this episode. No partner plays.
    pub fn deal(partners: &Partners, variant: &Arc<Variant>, seed: EpisodeSeed) -> PartnerGame {
        let since =
            Since { rewarded: 0, learner_acted: false, was_illegal: false, ended: None, deals: 1 };
        PartnerGame {
            runner: seated(partners, variant, seed),
            forfeited: false,
            failure: None,
            since,
        }
    }

    /// Deals the episode after this one. No partner plays.
    pub fn deal_next(&mut self, partners: &Partners) {
        let seed = self.seed().next();
        if partners.are_fixed() {
            self.runner.start(seed);
        } else {
            self.runner = seated(partners, self.runner.variant(), seed);
        }
        (self.forfeited, self.failure) = (false, None);
        let deals = if self.since.learner_acted { 1 } else { self.since.deals + 1 };
        self.since =
            Since { rewarded: 0, learner_acted: false, was_illegal: false, deals, ..self.since };
    }

    /// Begins a step: plays the learner's action, or deals the next episode of a game that is over.
    pub fn begin_step(&mut self, action: i64, partners: &Partners) {
        self.since.ended = None;
        if self.is_over() {
            self.since.deals = 0;
            self.deal_next(partners);
            return;
        }
        let rewarded = if self.since.learner_acted { self.score() } else { 0 };
        let was_illegal = !self.play(action);
        self.since = Since { rewarded, learner_acted: true, was_illegal, ended: None, deals: 0 };
    }

    /// The move of an action, if it is legal in a game that goes on.
    pub fn legal_move(&self, action: i64) -> Option<Move> {
        let (position, variant) = (self.position(), self.runner.variant());
        let played = variant.action_to_move(variant.action_id(action).ok()?).ok()?;
        position.is_legal(variant, played).then_some(played)
    }

    /// Plays the action of the learner or of an external partner, and returns whether it was legal; an illegal
    /// one loses the game.
    pub fn play(&mut self, action: i64) -> bool {
        let played = self.legal_move(action);
        match played {
            Some(played) => self.runner.play_unchecked(played),
            None => self.forfeit(),
        }
        played.is_some()
    }

    /// Ends the game as lost, as an illegal action does.
    pub fn forfeit(&mut self) {
        self.runner.forfeit();
        self.forfeited = true;
    }

    /// Loses the game by the illegal move of a bot: a step cannot be taken back halfway.
    pub fn fail(&mut self, error: BotMoveError) {
        self.forfeit();
        self.failure = Some(error);
    }

    /// Keeps the result of a game that has just ended after a turn of the learner, for the end of the step.
    /// Returns whether it has.
    pub fn keep_result(&mut self) -> bool {
        let has_ended = self.is_over() && self.since.learner_acted && self.since.ended.is_none();
        if has_ended {
            let (reward, last) = (self.reward(), Some(self.game().counters()));
            let was_illegal = self.since.was_illegal;
            self.since.ended = Some(PartnerGameResult { reward, last, was_illegal });
        }
        has_ended
    }

    /// The points that the learner has not been rewarded for yet.
    fn reward(&self) -> i64 {
        i64::from(self.score()) - i64::from(self.since.rewarded)
    }

    /// The result of the step.
    pub fn result(&self) -> PartnerGameResult {
        let reward = if self.since.learner_acted { self.reward() } else { 0 };
        self.since.ended.unwrap_or(PartnerGameResult { reward, last: None, was_illegal: false })
    }

    /// Whether the partners have ended the episode before the learner's first turn.
    pub fn is_skipped(&self) -> bool {
        self.is_over() && !self.since.learner_acted
    }

    /// Whether the partners have ended so many episodes in a row that no further one is dealt in this step.
    pub fn is_stuck(&self) -> bool {
        self.is_skipped() && self.since.deals >= MAX_DEALS
    }

    pub fn is_over(&self) -> bool {
        self.runner.ending().is_some()
    }

    fn score(&self) -> u8 {
        self.position().score(self.runner.variant())
    }

    /// The legal actions of the seat to act; none if the game is over.
    pub fn legal_actions(&self) -> ActionSet {
        self.position().legal_actions(self.runner.variant())
    }

    /// Goes on with an episode from the learner's actions, as bots answer them, and returns whether they
    /// all were legal.
    pub fn resume(&mut self, actions: &[u8], mut answer: impl FnMut(&mut PartnerGame)) -> bool {
        answer(self);
        for &action in actions {
            if self.is_over() || !self.play(action.into()) {
                return false;
            }
            self.since.learner_acted = true;
            answer(self);
        }
        true
    }

    /// The position as it stands.
    pub const fn position(&self) -> &Position {
        &self.runner.game().position
    }

    /// The seed of this episode.
    pub const fn seed(&self) -> EpisodeSeed {
        self.runner.seed()
    }

    /// The learner's actions in this episode, from which the game can be replayed if all partners are bots.
    pub fn actions(&self) -> Vec<u8> {
        let action = |event: &Event| self.runner.variant().move_to_action(event.played);
        let action = |event| u8::from(action(event).expect("the learner chose an action"));
        self.runner.external_turns().map(action).collect()
    }

    /// A copy of the game as a batch keeps games without partners.
    pub fn game(&self) -> Game {
        let RandomGame { position, deck } = self.runner.game().clone();
        let length = self.runner.length() as u8 + u8::from(self.forfeited);
        Game { position, deck, seed: self.runner.seed(), length }
    }
}

/// An episode with the players that are drawn for it, before its first turn.
fn seated(partners: &Partners, variant: &Arc<Variant>, seed: EpisodeSeed) -> GameRunner {
    let players = partners.draw(variant, seed);
    GameRunner::new(variant.clone(), players, seed).expect("partners have a player for each seat")
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::batch::{Batch, BatchError, Games, Options, Outputs, Seeds};
    use crate::bots::{Bot, Player};
    use crate::rules::{GameRng, Seat, View};

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
            let variant = batch.variant().clone();
            if let Games::Tables(tables) = &mut batch.games {
                let seed = tables[7].seed();
                tables[7].runner = GameRunner::new(variant, players, seed).unwrap();
            }
            let step = |batch: &mut Batch| batch.step(&[5; 20], Outputs::default());
            assert!(catch_unwind(AssertUnwindSafe(|| step(&mut batch))).is_err());
            for refused in [
                step(&mut batch),
                batch.observe(Outputs::default()),
                batch.finished().map(drop),
                batch.begin_step(&[5; 20]),
                batch.end_step(Outputs::default()),
            ] {
                assert!(matches!(refused, Err(BatchError::Interrupted)), "{refused:?}");
            }
            let readers: [fn(&Batch) -> bool; 5] = [
                |batch| batch.legal_actions(7).is_empty(),
                |batch| batch.look(7, Seat::FIRST, |view| view.score() == 0),
                |batch| batch.to_act().len() == 20,
                |batch| batch.num_finished() == 0,
                |batch| batch.partner_state(7).is_some(),
            ];
            for read in readers {
                assert!(catch_unwind(AssertUnwindSafe(|| read(&batch))).is_err());
            }
            batch.reset(Seeds::Continue, None, Outputs::default()).unwrap();
            step(&mut batch).unwrap();
        }
    }
}
