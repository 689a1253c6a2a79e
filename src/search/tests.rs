use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::bots::{
    Bot, BotName, GameRunner, Player, PolicyBot, SeatedPlayer, play_games, shipped_policy,
};
use crate::rules::{Card, EpisodeSeed, GameRng, Move, Parameters, State, Variant, View, preset};

static NOT_STOPPED: AtomicBool = AtomicBool::new(false);

fn variant_of(name: &str, players: i64) -> Arc<Variant> {
    Arc::new(Variant::new(Parameters { players, ..preset(name).unwrap() }).unwrap())
}

fn player(variant: &Variant, name: &str) -> Player {
    name.parse::<BotName>().unwrap().player(variant).unwrap()
}

fn searcher(variant: &Variant, name: &str, rollouts: u32, hands: usize) -> Searcher {
    let options = SearchOptions { rollouts, hands, ..SearchOptions::default() };
    Searcher::new(&player(variant, name), name, variant, options, 1).unwrap()
}

fn seed(game: u64) -> EpisodeSeed {
    EpisodeSeed { seed: 5, game, episode: 0 }
}

/// Plays a game in which one seat moves at random and the others by a bot, up to some turn of that seat.
fn game_before_a_turn(
    variant: &Arc<Variant>,
    bot: &str,
    seat: usize,
    game: u64,
    turns: usize,
) -> State {
    let mut state = State::new(variant.clone(), seed(game));
    let mut rng = GameRng::for_samples(game);
    let mut others: Vec<SeatedPlayer> = (0..usize::from(variant.players()))
        .map(|other| SeatedPlayer::new(player(variant, bot), other, 0))
        .collect();
    while state.ending().is_none() {
        let acting = state.position().current_player();
        if acting == seat && state.length() >= turns {
            break;
        }
        let action = if acting == seat {
            let legal: Vec<usize> = state.legal_actions().iter().collect();
            legal[rng.below(legal.len() as u32) as usize]
        } else {
            let played = others[acting].act(&state).unwrap();
            variant.move_to_action(played).unwrap()
        };
        state.apply(action as i64).unwrap();
    }
    state
}

/// All decks that begin with any order of the given cards.
fn orders(
    left: &mut Vec<(Card, u8)>,
    deck: &mut Vec<Card>,
    size: usize,
    visit: &mut impl FnMut(&[Card]),
) {
    if deck.len() == size {
        visit(deck);
        return;
    }
    for index in 0..left.len() {
        if left[index].1 > 0 {
            left[index].1 -= 1;
            deck.push(left[index].0);
            orders(left, deck, size, visit);
            deck.pop();
            left[index].1 += 1;
        }
    }
}

/// The own hand's distribution, from all decks of the variant: those with which the game would have looked the same.
fn by_enumeration(state: &State, seat: usize, bot: &str) -> BTreeMap<Vec<usize>, f64> {
    let variant = state.variant();
    let mut kinds: Vec<(Card, u8)> =
        variant.card_kinds().map(|card| (card, variant.copies(card))).collect();
    let mut found = BTreeMap::new();
    let seen = |state: &State| state.view(seat).history().collect::<Vec<_>>();
    let expected = seen(state);
    let others: Vec<Player> = (0..variant.players()).map(|_| player(variant, bot)).collect();
    orders(&mut kinds, &mut Vec::new(), variant.deck_size().into(), &mut |deck| {
        let start = state.start_player().into();
        let mut other = State::from_deck(variant.clone(), deck.to_vec(), start).unwrap();
        let mut bots: Vec<SeatedPlayer> = others
            .iter()
            .enumerate()
            .map(|(seat, player)| SeatedPlayer::new(player.clone(), seat, 0))
            .collect();
        let players = usize::from(variant.players());
        let shows = |one: &State, another: &State| {
            (1..players)
                .all(|offset| one.view(seat).hand(offset).eq(another.view(seat).hand(offset)))
        };
        let begins = State::from_deck(variant.clone(), state.deck().to_vec(), start).unwrap();
        if !shows(&other, &begins) {
            return;
        }
        for (turn, event) in expected.iter().enumerate() {
            let acting = usize::from(event.seat);
            if acting != seat && bots[acting].act(&other).unwrap() != event.played {
                return;
            }
            let action = variant.move_to_action(event.played).unwrap();
            if other.apply(action as i64).is_err()
                || other.view(seat).history().nth(turn) != Some(*event)
            {
                return;
            }
        }
        let hand = other.position().hand(variant, seat).map(|card| variant.card_index(card));
        *found.entry(hand.collect()).or_default() += 1.0;
    });
    let total: f64 = found.values().sum();
    found.values_mut().for_each(|share| *share /= total);
    found
}

/// The belief's distribution, with equal hands added up.
fn stated(belief: &BlueprintBelief) -> BTreeMap<Vec<usize>, f64> {
    let mut found = BTreeMap::new();
    for (hand, share) in belief.hands() {
        let hand = hand.iter().map(|&card| card.into()).collect();
        *found.entry(hand).or_default() += share;
    }
    found
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

#[test]
fn an_exact_belief_is_what_all_decks_say() {
    let variant = one_colour();
    let mut compared = 0;
    for (game, turns) in [(0, 2), (1, 4), (2, 5), (3, 6)] {
        let state = game_before_a_turn(&variant, RULES, 1, game, turns);
        if state.ending().is_some() {
            continue;
        }
        let mut searcher = searcher(&variant, RULES, 10, 1_000);
        searcher.follow(&state, 1, 0);
        let (_, belief) = searcher.decide(&state.view(1), &NOT_STOPPED);
        assert_eq!(belief.source(), Source::Exact);
        let (found, expected) = (stated(belief), by_enumeration(&state, 1, RULES));
        assert!(found.keys().eq(expected.keys()), "{found:?} for {expected:?}");
        for (hand, share) in &found {
            assert!(
                (share - expected[hand]).abs() < 1e-9,
                "{hand:?}: {share} for {}",
                expected[hand]
            );
        }
        compared += usize::from(found.len() > 1);
    }
    assert!(compared >= 2);
}

#[test]
fn a_sampled_belief_is_drawn_from_what_all_decks_say() {
    let variant = one_colour();
    let state = game_before_a_turn(&variant, RULES, 1, 1, 4);
    let expected = by_enumeration(&state, 1, RULES);
    let (mut counts, mut total) = (BTreeMap::<Vec<usize>, f64>::new(), 0.0);
    // Few hands each, so that no belief is exact.
    for seed in 0..400 {
        let mut searcher = searcher(&variant, RULES, 1, 3);
        searcher.follow(&state, 1, seed);
        let (_, belief) = searcher.decide(&state.view(1), &NOT_STOPPED);
        assert_eq!(belief.source(), Source::Sampled);
        for (hand, share) in stated(belief) {
            *counts.entry(hand).or_default() += share;
            total += share;
        }
    }
    assert!(expected.len() > 3, "{expected:?}");
    for (hand, share) in &expected {
        let found = counts.get(hand).copied().unwrap_or(0.0) / total;
        let error = (share * (1.0 - share) / total).sqrt();
        assert!((found - share).abs() < 4.0 * error, "{hand:?}: {found} for {share} +- {error}");
    }
    assert!(counts.keys().all(|hand| expected.contains_key(hand)));
}

/// Plays games in which one seat searches, and looks at its belief before each of its moves.
fn watch(
    variant: &Arc<Variant>,
    bot: &str,
    others: &str,
    hands: usize,
    games: u64,
    look: &mut impl FnMut(&State, &BlueprintBelief),
) {
    let players = usize::from(variant.players());
    for game in 0..games {
        let seat = game as usize % players;
        let mut state = State::new(variant.clone(), seed(game));
        let mut bots: Vec<SeatedPlayer> = (0..players)
            .map(|other| SeatedPlayer::new(player(variant, others), other, game))
            .collect();
        let mut own = searcher(variant, bot, 40, hands);
        while state.ending().is_none() {
            let acting = state.position().current_player();
            let played = if acting == seat {
                own.follow(&state, seat, game);
                let (decision, belief) = own.decide(&state.view(seat), &NOT_STOPPED);
                look(&state, belief);
                decision.chosen
            } else {
                bots[acting].act(&state).unwrap()
            };
            state.apply(variant.move_to_action(played).unwrap() as i64).unwrap();
        }
    }
}

/// The hand of the seat to act, as card indices.
fn own_hand(state: &State) -> Vec<u8> {
    let (variant, position) = (state.variant(), state.position());
    let hand = position.hand(variant, position.current_player());
    hand.map(|card| variant.card_index(card) as u8).collect()
}

#[test]
fn the_true_hand_survives_and_no_move_of_the_blueprint_is_a_mistake() {
    for (name, players, bot) in
        [("small", 2, RULES), ("very-small", 3, RULES), ("standard", 4, "smart")]
    {
        let variant = variant_of(name, players);
        let mut exact = 0;
        watch(&variant, bot, bot, 2_000, 3, &mut |state, belief| {
            if belief.source() == Source::Exact {
                exact += 1;
                let hand = own_hand(state);
                assert!(belief.hands().any(|(found, share)| found == hand && share > 0.0));
                assert_eq!(belief.unexplained().count(), 0);
            }
            let total: f64 = belief.hands().map(|(_, share)| share).sum();
            assert!((total - 1.0).abs() < 1e-9);
        });
        assert!(exact > 5, "{name}: {exact}");
    }
}

#[test]
fn a_teammate_may_leave_the_blueprint() {
    let (mut unexplained, mut looks) = (0, 0);
    for (name, players, bot) in [("standard", 2, "smart"), ("small", 3, RULES)] {
        watch(&variant_of(name, players), bot, "random", 50, 6, &mut |state, belief| {
            let view = state.view(state.position().current_player());
            looks += 1;
            unexplained += usize::from(belief.unexplained().count() > 0);
            // Each hand agrees with what everybody sees.
            for (hand, _) in belief.hands() {
                let fits = |(slot, &card): (usize, &u8)| {
                    view.knowledge(0, slot).plausible_set(state.variant()).contains(card.into())
                };
                assert!(hand.iter().enumerate().all(fits));
            }
            assert!(belief.hands().count() > 0);
        });
    }
    assert!(looks > 50 && unexplained > looks / 4, "{unexplained} of {looks}");
}

#[test]
fn stated_probabilities_are_calibrated() {
    let variant = variant_of("small", 2);
    // For each tenth: the sum of the stated probabilities, the hits, and the number.
    let mut bins = [(0.0, 0.0, 0.0); 10];
    watch(&variant, RULES, RULES, 300, 120, &mut |state, belief| {
        let (hand, outlook) = (own_hand(state), state.position().outlook(state.variant()));
        for (slot, &card) in hand.iter().enumerate() {
            let playable = |card: u8| outlook.playable.contains(card.into());
            let stated: f64 = belief
                .hands()
                .filter(|(found, _)| playable(found[slot]))
                .map(|(_, share)| share)
                .sum();
            let bin = &mut bins[((stated * 10.0) as usize).min(9)];
            bin.0 += stated;
            bin.1 += f64::from(u8::from(playable(card)));
            bin.2 += 1.0;
        }
    });
    let all: f64 = bins.iter().map(|bin| bin.2).sum();
    assert!(all > 2_000.0, "{all}");
    for (stated, hits, number) in bins {
        let error = (stated * (1.0 - stated / f64::max(number, 1.0))).max(1.0).sqrt();
        assert!((hits - stated).abs() < 4.5 * error, "{hits} for {stated} +- {error} of {number}");
    }
}

#[test]
fn a_search_is_the_same_for_any_number_of_threads() {
    let variant = variant_of("standard", 2);
    let state = game_before_a_turn(&variant, "smart", 0, 3, 8);
    let decide = |threads| {
        let options = SearchOptions { rollouts: 600, hands: 100, ..SearchOptions::default() };
        let mut searcher =
            Searcher::new(&player(&variant, "smart"), "smart", &variant, options, threads).unwrap();
        searcher.follow(&state, 0, 7);
        let (decision, belief) = searcher.decide(&state.view(0), &NOT_STOPPED);
        (decision, belief.hands().map(|(hand, share)| (hand.to_vec(), share)).collect::<Vec<_>>())
    };
    let alone = decide(1);
    assert!(alone.0.actions.iter().map(|action| action.rollouts).sum::<usize>() <= 600);
    assert_eq!(alone, decide(2));
    assert_eq!(alone, decide(5));
}

#[test]
fn a_search_that_may_change_nothing_plays_as_the_blueprint() {
    for (name, players, bot) in [("standard", 3, "smart"), ("small", 2, RULES)] {
        let variant = variant_of(name, players);
        let options =
            SearchOptions { rollouts: 50, hands: 20, threshold: 100.0, ..SearchOptions::default() };
        let table: Vec<Player> = (0..players).map(|_| player(&variant, bot)).collect();
        let mut searching = table.clone();
        searching[1] =
            Player::Bot(Box::new(Searcher::new(&table[0], bot, &variant, options, 1).unwrap()));
        let play = |table: &[Player]| play_games(&variant, table, 4, 0..6, 1).unwrap();
        assert_eq!(play(&searching), play(&table));
    }
}

#[test]
fn a_search_gains_points() {
    let variant = variant_of("small", 2);
    let table: Vec<Player> = (0..2).map(|_| player(&variant, RULES)).collect();
    let mut searching = table.clone();
    searching[0] = Player::Bot(Box::new(searcher(&variant, RULES, 300, 100)));
    let total = |table: &[Player]| -> u32 {
        let outcomes = play_games(&variant, table, 4, 0..60, 1).unwrap();
        outcomes.iter().map(|outcome| u32::from(outcome.score)).sum()
    };
    let (found, before) = (total(&searching), total(&table));
    assert!(found > before + 30, "{found} for {before}");
}

#[test]
fn the_game_of_a_searcher_is_a_function_of_its_seed() {
    let variant = variant_of("standard", 2);
    let name: PlayerName = "search: smart; rollouts=60; hands=30".parse().unwrap();
    let table = [name.player(&variant).unwrap(), player(&variant, "smart")];
    let alone = GameRunner::new(variant.clone(), table.to_vec(), seed(9));
    let histories = [false, true].map(|after_others| {
        let mut runner = alone.clone();
        if after_others {
            runner.start(seed(3));
            runner.run().unwrap();
            runner.start(seed(9));
        }
        runner.run().unwrap();
        runner.history().to_vec()
    });
    assert_eq!(histories[0], histories[1]);
}

#[test]
fn a_blueprint_must_be_a_deterministic_player() {
    let variant = variant_of("standard", 2);
    for name in ["random", "iggi", "noisy: 0.1; smart", "policy: ippo-2p; sampled"] {
        let found =
            Searcher::new(&player(&variant, name), name, &variant, SearchOptions::default(), 1);
        assert_eq!(found.err(), Some(BlueprintError::Random(name.to_owned())));
        let text = format!("search: {name}").parse::<PlayerName>().unwrap_err();
        assert!(matches!(text, PlayerNameError::Blueprint(BlueprintError::Random(_))), "{text}");
    }
    let cheater = "search: cheater".parse::<PlayerName>().unwrap_err();
    assert!(matches!(cheater, PlayerNameError::Blueprint(BlueprintError::Open(_))), "{cheater}");
}

#[test]
fn names_are_displayed_as_they_are_parsed() {
    let text = format!(
        "search: {RULES}; rollouts=500; milliseconds=20; hands=64; threshold=0.05; seats=all"
    );
    for text in
        ["smart", "noisy: 0.1; smart", "search: smart", "search: smart; rollouts=100", &text]
    {
        assert_eq!(text.parse::<PlayerName>().unwrap().to_string(), text);
    }
    let error = |text: &str| text.parse::<PlayerName>().unwrap_err().to_string();
    assert!(error("search: smart; rollout=5").contains("rollouts"));
    for value in ["0", "-1", "1.5", "", "2000000000", "many"] {
        let message = error(&format!("search: smart; rollouts={value}"));
        assert!(message.contains("1 to 1000000000"), "{message}");
    }
    for text in
        ["search: smart; hands=0", "search: smart; threshold=nan", "search: smart; seats=two"]
    {
        assert!(error(text).contains("expected"), "{text}");
    }
    assert!(error("search:").contains("bot"));
    assert!(error("search: search: smart").contains("bot"));
}

#[test]
fn several_seats_search_only_if_all_allow_it() {
    let name = |text: &str| text.parse::<PlayerName>().unwrap();
    let (one, all) = (name("search: smart"), name("search: smart; seats=all"));
    let check = |seats: &[Option<&PlayerName>]| PlayerName::check_table(seats.iter().copied());
    assert!(check(&[Some(&one), None, Some(&name("smart"))]).is_ok());
    assert!(check(&[Some(&all), None, Some(&all)]).is_ok());
    let refused = check(&[Some(&one), None, Some(&all)]).unwrap_err().to_string();
    assert!(refused.contains("seats 0 and 2"), "{refused}");
}

#[test]
fn the_view_of_a_supposed_hand_hides_the_true_one() {
    let variant = variant_of("standard", 2);
    let state = game_before_a_turn(&variant, "smart", 0, 4, 6);
    let view = state.view(0);
    let size = view.hand_size(0);
    let supposed = view.supposing(&[0; 6][..size]);
    let seen = View::new(&variant, &supposed, 1);
    assert!(seen.hand_indices(1).iter().all(|&card| card == 0));
    assert_eq!(View::new(&variant, &supposed, 0).last_event(), view.last_event());
}

/// A network's bot behind a type that does not show the network.
#[derive(Clone)]
struct Hidden(PolicyBot);

impl Bot for Hidden {
    fn start(&mut self, view: &View<'_>, rng: GameRng) {
        self.0.start(view, rng);
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        self.0.act(view)
    }
}

#[test]
fn many_positions_at_once_give_the_decisions_of_single_ones() {
    let name = "ippo-2p";
    let policy = shipped_policy(name).unwrap().policy().unwrap();
    let variant = Arc::new(policy.variant().clone());
    let bot = PolicyBot::new(policy, false, name, &variant).unwrap();
    assert!(bot.rows().is_some());
    let mut games = (0..).map(|game| game_before_a_turn(&variant, "policy: ippo-2p", 1, game, 9));
    let state = games.find(|state| state.ending().is_none()).unwrap();
    let decide = |bot: Box<dyn Bot>| {
        let options = SearchOptions { rollouts: 40, hands: 12, ..SearchOptions::default() };
        let mut searcher = Searcher::new(&Player::Bot(bot), name, &variant, options, 2).unwrap();
        searcher.follow(&state, 1, 7);
        let (decision, belief) = searcher.decide(&state.view(1), &NOT_STOPPED);
        let hands = belief.hands().map(|(hand, share)| (hand.to_vec(), share));
        (decision, hands.collect::<Vec<_>>(), belief.unexplained().collect::<Vec<_>>())
    };
    let (rows, single) = (decide(Box::new(bot.clone())), decide(Box::new(Hidden(bot.clone()))));
    assert!(rows.0.actions.iter().any(|action| action.rollouts > 0));
    assert_eq!(rows, single);
}
