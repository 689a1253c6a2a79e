//! Tests of searches, and what they share.

mod beliefs;
mod blueprints;
mod decisions;
mod mirror_descent;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::bots::{Bot, Player, PolicyBot, RuleList, SeatedPlayer, bot};
use crate::nn::{MoveChoice, shipped_policy};
use crate::rules::{EpisodeSeed, GameRng, Parameters, Seat, State, Variant, preset};

fn variant_of(name: &str, players: u8) -> Arc<Variant> {
    Arc::new(
        Variant::new(Parameters { players: players.into(), ..preset(name).unwrap().parameters() })
            .unwrap(),
    )
}

/// The player of a bot's name, a shipped policy's, or a rule list.
fn player(variant: &Variant, name: &str) -> Player {
    if let Some(rules) = name.strip_prefix("rules: ") {
        let rules: Vec<&str> = rules.split("; ").collect();
        return Player::bot(RuleList::parse(&rules).unwrap());
    }
    if let Ok(shipped) = shipped_policy(name) {
        return Player::bot(
            PolicyBot::new(shipped.policy().unwrap(), MoveChoice::Greedy, variant).unwrap(),
        );
    }
    bot(name).unwrap().player(variant).unwrap()
}

/// The bot of a player.
fn blueprint(variant: &Variant, name: &str) -> Box<dyn Bot> {
    player(variant, name).into_bot().unwrap()
}

fn searcher(variant: &Variant, name: &str, rollouts: u32, hands: usize) -> Searcher {
    let options = SearchOptions { rollouts, hands, ..SearchOptions::default() };
    Searcher::new(blueprint(variant, name), variant.clone(), options).unwrap()
}

/// A searcher by mirror descent.
fn mirror(variant: &Variant, name: &str, rollouts: u32, hands: usize, step: f64) -> Searcher {
    let method = Method::Mirror { step };
    let options = SearchOptions { rollouts, hands, method, ..SearchOptions::default() };
    Searcher::new(blueprint(variant, name), variant.clone(), options).unwrap()
}

fn seed(game: u64) -> EpisodeSeed {
    EpisodeSeed { seed: 5, game, episode: 0 }
}

/// Plays a game in which one seat moves at random and the others by a bot, up to some turn of that
/// seat.
fn game_before_a_turn(
    variant: &Arc<Variant>,
    bot: &str,
    seat: Seat,
    game: u64,
    turns: usize,
) -> State {
    let mut state = State::new(variant.clone(), seed(game));
    let mut rng = GameRng::for_samples(game);
    let mut others: Vec<SeatedPlayer> =
        variant.seats().map(|other| SeatedPlayer::new(player(variant, bot), other, 0)).collect();
    while state.ending().is_none() {
        let acting = state.position().current_player;
        if acting == seat && state.length() >= turns {
            break;
        }
        let action = if acting == seat {
            let legal: Vec<_> = state.legal_actions().iter().collect();
            *rng.pick(&legal).unwrap()
        } else {
            let played = others[acting.index()].act(&state).unwrap();
            variant.move_to_action(played).unwrap()
        };
        state.apply(action).unwrap();
    }
    state
}

/// The belief's distribution, with equal hands added up.
fn stated(belief: &BlueprintBelief) -> BTreeMap<Vec<usize>, f64> {
    let mut found = BTreeMap::new();
    for (hand, share) in belief.hand_indices() {
        let hand = hand.iter().map(|&card| card.into()).collect();
        *found.entry(hand).or_default() += share;
    }
    found
}

/// The hand of the seat to act, as card indices.
fn own_hand(state: &State) -> Vec<u8> {
    let (variant, position) = (state.variant(), state.position());
    let hand = position.hand(variant, position.current_player);
    hand.map(|card| variant.card_index_unchecked(card) as u8).collect()
}

const RULES: &str = "rules: play-safe; hint-playable; discard-osawa; discard-oldest; hint-most";

/// A deck of ten cards in one colour: few enough to deal all of its orders.
fn one_colour() -> Arc<Variant> {
    let parameters = Parameters {
        colors: 1,
        hand_size: Some(3),
        max_life_tokens: 3,
        max_information_tokens: 3,
        ..Parameters::default()
    };
    Arc::new(Variant::new(parameters).unwrap())
}
