//! How the search assumes that every seat plays: by bots, or by one policy that looks at many
//! positions together.

use std::any::Any;
use std::sync::Arc;

use super::error::SearchError;
use super::particle::{self, Particle};
use super::rollout::{self, Start};
use crate::bots::{Bot, Player, PolicyBot, Seats};
use crate::nn::{Policy, PolicyOutputs, PolicyScratch};
use crate::rules::{
    MAX_HAND_SIZE, Move, Position, RandomGame, SeenGame, SupposedCards, Variant, View,
};
use crate::threads::is_stopped;

/// The probability that a bot makes another move than its own, where each move needs a probability.
const OTHER_MOVES: f64 = 0.1;

/// Hands that a network evaluates before it looks whether the call is stopped.
const ROWS: usize = 1024;

/// A possible own hand, and how likely it is before the moves of the teammates are known.
pub(super) type WeighedHand = ([u8; MAX_HAND_SIZE], f64);

/// A set of turns of a game. No game has more turns than a `u8` can count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TurnSet([u64; 4]);

impl TurnSet {
    pub const fn insert(&mut self, turn: usize) {
        self.0[turn / 64] |= 1 << (turn % 64);
    }

    pub const fn contains(&self, turn: usize) -> bool {
        self.0[turn / 64] >> (turn % 64) & 1 != 0
    }

    /// The number of turns.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

/// How all seats play where none searches. A thread that plays by a blueprint has a clone of its
/// own.
#[derive(Clone)]
pub(super) enum Blueprint {
    /// Each seat has a bot, which may remember the game.
    Bots(Seats),
    /// A network looks at each position by itself, so that many positions can pass it together.
    Network(Arc<Policy>, Box<PolicyScratch>),
}

impl Blueprint {
    pub fn new(bot: &dyn Bot, players: u8) -> Blueprint {
        match (bot as &dyn Any).downcast_ref().and_then(PolicyBot::greedy_policy) {
            Some(policy) => Blueprint::Network(policy.clone(), Box::default()),
            None => {
                Blueprint::Bots(Seats::new(vec![Player::Bot(bot.boxed_clone()); players.into()]))
            }
        }
    }

    /// The log probabilities of all legal moves of the seat to act, in the order of their action
    /// ids. A network gives its own. A bot is taken to make `own` in nine turns of ten, and any of
    /// the other moves in one.
    pub fn log_probabilities(&mut self, view: &View<'_>, moves: &[Move], own: Move) -> Vec<f64> {
        match self {
            Blueprint::Bots(_) => {
                let others = moves.len().max(2) - 1;
                let probability = |&played| {
                    if played == own { 1.0 - OTHER_MOVES } else { OTHER_MOVES / others as f64 }
                };
                moves.iter().map(|played| libm::log(probability(played))).collect()
            }
            Blueprint::Network(policy, scratch) => {
                let outputs = evaluated(policy, [*view], scratch);
                outputs.log_probabilities(0).into_iter().map(|(_, logarithm)| logarithm).collect()
            }
        }
    }

    /// For each hand, whether the seat that moved in the last turn would have made the same move
    /// with it. The bots of the hands observe the turn.
    ///
    /// # Errors
    /// [`SearchError::Stopped`] if the call is stopped; some bots have then observed the turn and others have not.
    pub fn follow(
        &mut self,
        game: &SeenGame,
        turn: usize,
        hands: &mut [Particle],
    ) -> Result<Vec<bool>, SearchError> {
        let mut agrees = Vec::with_capacity(hands.len());
        match self {
            Blueprint::Bots(_) => {
                for particle in hands {
                    SearchError::check_stop()?;
                    let cards = game.supposed_cards(&particle.hand);
                    agrees.push(particle::explains(&mut particle.bots, game, turn, &cards));
                }
            }
            Blueprint::Network(policy, scratch) => {
                for hands in hands.chunks(ROWS) {
                    SearchError::check_stop()?;
                    let cards: Vec<_> =
                        hands.iter().map(|particle| game.supposed_cards(&particle.hand)).collect();
                    agrees.extend(explained(policy, scratch, game, turn, &cards));
                }
            }
        }
        Ok(agrees)
    }

    /// The particles of the hands that explain all turns, apart from the turns that need no
    /// explanation. Each turn that is not explained multiplies the likelihood of a hand by
    /// `mistake`; hands whose likelihood is below `least` are dropped. Once the call is stopped, hands
    /// are missing.
    pub fn replay(
        &mut self,
        game: &SeenGame,
        is_explained: &[bool],
        mistake: f64,
        least: f64,
        hands: &[WeighedHand],
    ) -> Vec<Particle> {
        let is_going_on = || !is_stopped();
        match self {
            Blueprint::Bots(bots) => {
                let replay = |&(hand, weight): &WeighedHand| {
                    let cards = game.supposed_cards(&hand);
                    particle::start(bots, game, &cards);
                    let mut likelihood = 1.0;
                    for (turn, &is_explained) in is_explained.iter().enumerate() {
                        if !particle::explains(bots, game, turn, &cards) && is_explained {
                            likelihood *= mistake;
                        }
                        if likelihood < least {
                            return None;
                        }
                    }
                    let weight = weight * likelihood;
                    Some(Particle { hand, weight, likelihood, bots: bots.clone() })
                };
                hands.iter().take_while(|_| is_going_on()).filter_map(replay).collect()
            }
            Blueprint::Network(policy, scratch) => {
                let unweighed = |&(hand, weight): &WeighedHand| Particle {
                    hand,
                    weight,
                    likelihood: 1.0,
                    bots: Seats::new(Vec::new()),
                };
                let mut left: Vec<Particle> = hands.iter().map(unweighed).collect();
                let mut cards: Vec<_> =
                    left.iter().map(|particle| game.supposed_cards(&particle.hand)).collect();
                // The last turns tell most: the hints that are on the hand were given in them.
                let turns = (0..game.history().len()).rev().filter(|&turn| is_explained[turn]);
                for turn in turns.take_while(|_| is_going_on()) {
                    let agrees = explained(policy, scratch, game, turn, &cards);
                    doubt(&mut left, &agrees, mistake);
                    let is_kept: Vec<bool> =
                        left.iter().map(|particle| particle.likelihood >= least).collect();
                    retain(&mut left, &is_kept);
                    retain(&mut cards, &is_kept);
                }
                left
            }
        }
    }

    /// For each hand the turns of teammates that it does not explain. Once the call is stopped, turns are
    /// missing.
    pub fn deviations(&mut self, game: &SeenGame, hands: &[WeighedHand]) -> Vec<TurnSet> {
        let turns = || (0..game.history().len()).take_while(|_| !is_stopped());
        let mut deviations = vec![TurnSet::default(); hands.len()];
        match self {
            Blueprint::Bots(bots) => {
                for ((hand, _), deviating) in hands.iter().zip(&mut deviations) {
                    let cards = game.supposed_cards(hand);
                    particle::start(bots, game, &cards);
                    for turn in turns() {
                        if !particle::explains(bots, game, turn, &cards) {
                            deviating.insert(turn);
                        }
                    }
                }
            }
            Blueprint::Network(policy, scratch) => {
                let cards: Vec<_> =
                    hands.iter().map(|(hand, _)| game.supposed_cards(hand)).collect();
                for turn in turns() {
                    let agrees = explained(policy, scratch, game, turn, &cards);
                    let marked = deviations.iter_mut().zip(agrees);
                    marked
                        .filter(|(_, agrees)| !agrees)
                        .for_each(|(deviating, _)| deviating.insert(turn));
                }
            }
        }
        deviations
    }

    /// The scores of games that are played to their end. With a depth, a network plays only that
    /// many moves; a game that is not over then scores its points so far and the network's
    /// value of its position. Once the call is stopped, the scores mean nothing.
    pub fn play(
        &mut self,
        variant: &Variant,
        starts: &[Start<'_>],
        depth: Option<u32>,
    ) -> Vec<f32> {
        match self {
            Blueprint::Bots(bots) => {
                let score = |start: &Start<'_>| {
                    if is_stopped() { 0.0 } else { rollout::play(bots, variant, start).into() }
                };
                starts.iter().map(score).collect()
            }
            Blueprint::Network(policy, scratch) => {
                let mut games: Vec<RandomGame> =
                    starts.iter().map(|start| start.game.clone()).collect();
                let mut playing: Vec<usize> = (0..games.len()).collect();
                let mut moves: Vec<Move> = starts.iter().map(|start| start.first).collect();
                let mut expected = vec![0.0; games.len()];
                for made in 1.. {
                    playing.iter().zip(&moves).for_each(|(&game, &played)| {
                        rollout::apply(&mut games[game], variant, played);
                    });
                    playing.retain(|&game| games[game].position.ending.is_none());
                    if playing.is_empty() || is_stopped() {
                        break;
                    }
                    let views = playing.iter().map(|&game| {
                        let position = &games[game].position;
                        View::new(variant, position, position.current_player)
                    });
                    if depth == Some(made) {
                        let outputs = evaluated(policy, views, scratch);
                        for (index, &game) in playing.iter().enumerate() {
                            expected[game] = outputs.value(index);
                        }
                        break;
                    }
                    moves = best_moves(variant, &evaluated(policy, views, scratch));
                }
                let points = games.iter().map(|game| f32::from(game.position.score(variant)));
                points.zip(expected).map(|(points, value)| points + value).collect()
            }
        }
    }
}

/// What the blueprint's network computes for views of the variant that the search was made for.
fn evaluated<'v>(
    policy: &Policy,
    views: impl IntoIterator<Item = View<'v>>,
    scratch: &mut PolicyScratch,
) -> PolicyOutputs {
    policy.evaluate(views, scratch).expect("the blueprint plays the variant")
}

/// The moves with the greatest logits in views of games that go on.
fn best_moves(variant: &Variant, outputs: &PolicyOutputs) -> Vec<Move> {
    let best = |index| {
        let action = outputs.best_action(index).expect("the game goes on");
        variant.tables().moves[action.index()]
    };
    (0..outputs.len()).map(best).collect()
}

/// For each hand whether the network would have moved as the seat did.
fn explained(
    policy: &Policy,
    scratch: &mut PolicyScratch,
    game: &SeenGame,
    turn: usize,
    cards: &[SupposedCards],
) -> Vec<bool> {
    let event = game.history()[turn];
    let seat = event.seat;
    if seat == game.observer() {
        return vec![true; cards.len()];
    }
    let positions: Vec<Position> =
        cards.iter().map(|cards| game.supposed_position(turn, cards)).collect();
    let views = positions.iter().map(|position| View::new(game.variant(), position, seat));
    let moves = best_moves(game.variant(), &evaluated(policy, views, scratch));
    moves.into_iter().map(|played| played == event.played).collect()
}

/// Multiplies the weight of hands that do not explain a move by the likelihood of a mistake.
pub(super) fn doubt(hands: &mut [Particle], agrees: &[bool], mistake: f64) {
    for (particle, _) in hands.iter_mut().zip(agrees).filter(|&(_, &agrees)| !agrees) {
        particle.likelihood *= mistake;
        particle.weight *= mistake;
    }
}

/// Keeps the elements that are marked.
pub(super) fn retain<T>(elements: &mut Vec<T>, is_kept: &[bool]) {
    let mut is_kept = is_kept.iter();
    elements.retain(|_| *is_kept.next().expect("a mark for each"));
}
