use std::any::Any;
use std::sync::Arc;

use super::particle::{Particle, Seats};
use super::rollout::{Rollout, Start};
use super::seen_game::SeenGame;
use crate::bots::{Bot, Policy, PolicyBot, PolicyRows};
use crate::rules::{MAX_CARDS, MAX_HAND_SIZE, Move, Position, Variant, View};

/// A possible own hand, and how likely it is.
pub(super) type WeighedHand = ([u8; MAX_HAND_SIZE], f64);

/// How all seats play where none searches. A thread that plays by a blueprint has a clone of its own.
#[derive(Clone)]
pub(super) enum Blueprint {
    /// Each seat has a bot, which may remember the game.
    Bots(Seats),
    /// A network looks at each position by itself, so that many positions can pass it together.
    Network(Arc<Policy>, Box<PolicyRows>),
}

impl Blueprint {
    pub fn new(bot: &dyn Bot, players: u8) -> Blueprint {
        match (bot as &dyn Any).downcast_ref().and_then(PolicyBot::rows) {
            Some(policy) => Blueprint::Network(policy.clone(), Box::default()),
            None => Blueprint::Bots(Seats((0..players).map(|_| bot.boxed_clone()).collect())),
        }
    }

    /// For each hand whether the seat that moved in a turn, the last one, would have moved so. The bots of the hands
    /// observe the turn.
    pub fn follow(&mut self, game: &SeenGame, turn: usize, hands: &mut [Particle]) -> Vec<bool> {
        let size = game.hand_size(game.length());
        match self {
            Blueprint::Bots(_) => {
                let follow = |found: &mut Particle| {
                    found.bots.follow(game, turn, &game.cards(&found.hand[..size]))
                };
                hands.iter_mut().map(follow).collect()
            }
            Blueprint::Network(policy, rows) => {
                let cards: Vec<_> =
                    hands.iter().map(|found| game.cards(&found.hand[..size])).collect();
                explained(policy, rows, game, turn, &cards)
            }
        }
    }

    /// The particles of those hands with which all turns are explained, but for those that need not be.
    pub fn replay(
        &mut self,
        game: &SeenGame,
        is_explained: &[bool],
        hands: &[WeighedHand],
    ) -> Vec<Particle> {
        match self {
            Blueprint::Bots(bots) => {
                let replay = |&(hand, weight): &WeighedHand| {
                    let cards = game.cards(&hand);
                    bots.start(game.variant(), &game.position(0, &cards));
                    let explains = |turn| bots.follow(game, turn, &cards) || !is_explained[turn];
                    (0..game.length()).all(explains).then(|| Particle {
                        hand,
                        weight,
                        bots: bots.clone(),
                    })
                };
                hands.iter().filter_map(replay).collect()
            }
            Blueprint::Network(policy, rows) => {
                let mut left = hands.to_vec();
                let mut cards: Vec<_> = left.iter().map(|(hand, _)| game.cards(hand)).collect();
                // The last turns tell most: the hints that are on the hand were given in them.
                for turn in (0..game.length()).rev().filter(|&turn| is_explained[turn]) {
                    let agrees = explained(policy, rows, game, turn, &cards);
                    retain(&mut left, &agrees);
                    retain(&mut cards, &agrees);
                }
                let bots = Seats(Vec::new());
                let particle = |(hand, weight)| Particle { hand, weight, bots: bots.clone() };
                left.into_iter().map(particle).collect()
            }
        }
    }

    /// The scores of games that are played to their end.
    pub fn play(&mut self, variant: &Variant, starts: &[Start<'_>]) -> Vec<u8> {
        match self {
            Blueprint::Bots(bots) => starts.iter().map(|start| bots.play(variant, start)).collect(),
            Blueprint::Network(policy, rows) => {
                let mut games: Vec<Rollout> = starts.iter().map(Rollout::new).collect();
                let mut playing: Vec<usize> = (0..games.len()).collect();
                let mut moves: Vec<Move> = starts.iter().map(|start| start.first).collect();
                loop {
                    playing.iter().zip(&moves).for_each(|(&game, &played)| {
                        games[game].apply(variant, played);
                    });
                    playing.retain(|&game| games[game].position.ending().is_none());
                    if playing.is_empty() {
                        return games.iter().map(|game| game.position.score(variant)).collect();
                    }
                    let views = playing.iter().map(|&game| {
                        let position = &games[game].position;
                        View::new(variant, position, position.current_player())
                    });
                    policy.best_moves(views, rows, &mut moves);
                }
            }
        }
    }
}

/// For each hand whether the network would have moved as the seat did.
fn explained(
    policy: &Policy,
    rows: &mut PolicyRows,
    game: &SeenGame,
    turn: usize,
    cards: &[[u8; MAX_CARDS]],
) -> Vec<bool> {
    let event = game.event(turn);
    let seat = usize::from(event.seat);
    if seat == game.observer() {
        return vec![true; cards.len()];
    }
    let positions: Vec<Position> = cards.iter().map(|cards| game.position(turn, cards)).collect();
    let views = positions.iter().map(|position| View::new(game.variant(), position, seat));
    let mut moves = Vec::with_capacity(cards.len());
    policy.best_moves(views, rows, &mut moves);
    moves.into_iter().map(|played| played == event.played).collect()
}

/// Keeps the elements that are marked.
pub(super) fn retain<T>(elements: &mut Vec<T>, is_kept: &[bool]) {
    let mut is_kept = is_kept.iter();
    elements.retain(|_| *is_kept.next().expect("a mark for each"));
}
