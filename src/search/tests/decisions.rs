use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::*;
use super::*;
use crate::bots::{
    Bot, GameRunner, GamesError, GamesOptions, MoveValue, Player, PolicyBot, SeatedPlayer, Turn,
    TurnValues, play_games,
};
use crate::nn::{PolicyScratch, shipped_policy};
use crate::rules::{ActionId, GameRng, Move, Offset, Seat, State, View, first_seen};
use crate::threads::{Stop, stoppable};

#[test]
fn the_worse_half_of_the_moves_gets_fewer_rollouts() {
    let variant = variant_of("standard", 2);
    let state = game_before_a_turn(&variant, "smart", Seat::FIRST, 3, 8);
    let searcher = searcher(&variant, "smart", 640, 100);
    let (decision, _) = searcher.decide(&state, 7).unwrap();
    let mut counts: Vec<usize> = decision.moves.iter().map(|value| value.games).collect();
    counts.sort_unstable();
    let (moves, total) = (counts.len(), counts.iter().sum::<usize>());
    assert!(moves > 8 && total <= 640 && total > 600, "{counts:?}");
    assert!(counts[moves - 1] > 2 * total / moves && counts[moves / 2 - 1] < total / moves);
    let blueprint = |value: &&MoveValue| value.candidate == decision.blueprint;
    let own = decision.moves.iter().find(blueprint).unwrap();
    assert!(own.is_kept);
}

#[test]
fn recorded_games_have_the_values_of_all_searched_moves() {
    let variant = variant_of("standard", 2);
    let table = [Player::bot(searcher(&variant, "smart", 100, 30)), player(&variant, "smart")];
    let play = |table: &[Player]| {
        let options = GamesOptions { seed: 5, num_threads: 2 };
        play_games(variant.clone(), table, [3, 8], options).unwrap()
    };
    let games = play(&table);
    let TurnValues { means, standard_errors } = games.turn_values.unwrap();
    let rows = |numbers: Vec<f32>| {
        let rows = numbers.chunks(variant.num_actions()).map(<[f32]>::to_vec);
        rows.collect::<Vec<_>>().into_iter()
    };
    let mut rows = rows(means).zip(rows(standard_errors));
    for (recorded, game) in [3, 8].into_iter().enumerate() {
        let mut state = State::new(variant.clone(), seed(game));
        for &action in games.recording.game(recorded).actions() {
            let row = rows.next().unwrap();
            let actions = (0..variant.num_actions()).filter(|&action| !row.0[action].is_nan());
            let moves: Vec<Move> = actions.clone().map(|at| variant.tables().moves[at]).collect();
            let searches = state.current_player() == Seat::FIRST && state.legal_moves().len() > 1;
            let expected = if searches { state.legal_moves().collect() } else { Vec::new() };
            assert_eq!(moves, expected);
            assert!({ actions }.all(|action| row.1[action] >= 0.0));
            state.apply(ActionId::new(action.into()).unwrap()).unwrap();
        }
        assert_eq!(state, games.recording.game(recorded).state().unwrap());
        assert!(state.ending().is_some());
    }
    assert_eq!(games.recording.games().len(), 2);
    let unsearched = play(&[table[1].clone(), table[1].clone()]);
    assert!(unsearched.turn_values.is_none() && rows.next().is_none());
}

/// A decision as numbers that can be compared.
#[derive(Debug, PartialEq)]
struct Found {
    decision: Decision,
    hands: Vec<(Vec<u8>, f64)>,
    unexplained: Vec<usize>,
}

fn found((decision, belief): (Decision, BlueprintBelief)) -> Found {
    let hands = belief.hand_indices().map(|(hand, share)| (hand.to_vec(), share));
    Found { hands: hands.collect(), unexplained: belief.unexplained().collect(), decision }
}

#[test]
fn a_search_is_the_same_for_any_number_of_threads() {
    let variant = variant_of("standard", 2);
    let state = game_before_a_turn(&variant, "smart", Seat::FIRST, 3, 8);
    let decide = |num_threads| {
        let options =
            SearchOptions { rollouts: 600, hands: 100, num_threads, ..SearchOptions::default() };
        let searcher =
            Searcher::new(blueprint(&variant, "smart"), variant.clone(), options).unwrap();
        found(searcher.decide(&state, 7).unwrap())
    };
    let alone = decide(1);
    assert!(alone.decision.moves.iter().map(|value| value.games).sum::<usize>() <= 600);
    assert_eq!(alone, decide(2));
    assert_eq!(alone, decide(5));
    assert_eq!(alone, decide(usize::MAX));
}

#[test]
fn a_searcher_plays_alike_at_a_table_that_somebody_else_runs() {
    let variant = variant_of("standard", 3);
    let mut state = State::new(variant.clone(), seed(2));
    let observer = Seat::ALL[1];
    let mut seen = first_seen(&state, observer);
    let mut bots = [searcher(&variant, "smart", 60, 20), searcher(&variant, "smart", 60, 20)];
    let [full, hidden] = &mut bots;
    full.start(&state.view(observer), GameRng::for_samples(3));
    hidden.start(&seen.view(), GameRng::for_samples(3));
    let mut rng = GameRng::for_samples(4);
    while state.ending().is_none() {
        let moves: Vec<Move> = state.legal_moves().collect();
        let mut played = *rng.pick(&moves).unwrap();
        if state.current_player() == observer {
            played = full.act(&state.view(observer));
            assert_eq!(hidden.act(&seen.view()), played);
            assert_eq!(hidden.values(), full.values());
        }
        let before = state.clone();
        let event = state.play(played).unwrap();
        seen.play(played, event.revealed_to(&variant, observer)).unwrap();
        let (before, after) = (before.view(observer), state.view(observer));
        full.observe(&Turn { before, event: event.seen_by(observer), after });
        hidden.observe(&Turn::last_seen(&seen).unwrap());
    }
    assert!(state.length() > 10);
}

#[test]
fn a_search_that_may_change_nothing_plays_as_the_blueprint() {
    for (name, players, bot) in [("standard", 3, "smart"), ("small", 2, RULES)] {
        let variant = variant_of(name, players);
        let method = Method::Single { threshold: 100.0 };
        let options = SearchOptions { rollouts: 50, hands: 20, method, ..SearchOptions::default() };
        let table: Vec<Player> = (0..players).map(|_| player(&variant, bot)).collect();
        let mut searching = table.clone();
        let searcher = Searcher::new(blueprint(&variant, bot), variant.clone(), options);
        searching[1] = Player::bot(searcher.unwrap());
        let play = |table: &[Player]| {
            let played = play_games(variant.clone(), table, 0..6, GamesOptions::seeded(4));
            played.unwrap().outcomes
        };
        assert_eq!(play(&searching), play(&table));
    }
}

#[test]
fn a_search_gains_points() {
    let variant = variant_of("small", 2);
    let table: Vec<Player> = (0..2).map(|_| player(&variant, RULES)).collect();
    let mut searching = table.clone();
    searching[0] = Player::bot(searcher(&variant, RULES, 300, 100));
    let total = |table: &[Player]| -> u32 {
        let played = play_games(variant.clone(), table, 0..60, GamesOptions::seeded(4)).unwrap();
        played.outcomes.iter().map(|outcome| u32::from(outcome.score)).sum()
    };
    let (found, before) = (total(&searching), total(&table));
    assert!(found > before + 30, "{found} for {before}");
}

#[test]
fn the_game_of_a_searcher_is_a_function_of_its_seed() {
    let variant = variant_of("standard", 2);
    let table = [Player::bot(searcher(&variant, "smart", 60, 30)), player(&variant, "smart")];
    let alone = GameRunner::new(variant.clone(), table.to_vec(), seed(9)).unwrap();
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
fn the_view_of_a_supposed_hand_hides_the_true_one() {
    let variant = variant_of("standard", 2);
    let state = game_before_a_turn(&variant, "smart", Seat::FIRST, 4, 6);
    let view = state.view(Seat::FIRST);
    let size = view.hand_size(Offset::OWN);
    let supposed = view.position_with_hand(&[0; 6][..size]);
    let seen = View::new(&variant, &supposed, Seat::ALL[1]);
    assert!(seen.hand_indices(Offset::NEXT).iter().all(|&card| card == 0));
    assert_eq!(View::new(&variant, &supposed, Seat::FIRST).last_event(), view.last_event());
}

/// A network's bot behind a type that does not show the network.
#[derive(Clone)]
struct Hidden(PolicyBot);

impl Bot for Hidden {
    fn is_deterministic(&self, _: &Variant) -> bool {
        true
    }

    fn start(&mut self, view: &View<'_>, rng: GameRng) {
        self.0.start(view, rng);
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        self.0.act(view)
    }
}

#[test]
fn many_positions_at_once_give_the_decisions_of_single_ones() {
    let name = "ippo-2p-small";
    let policy = shipped_policy(name).unwrap().policy().unwrap();
    let variant = Arc::new(policy.variant().clone());
    let bot = PolicyBot::new(policy, MoveChoice::Greedy, &variant).unwrap();
    assert!(bot.greedy_policy().is_some());
    let mut games =
        (0..).map(|game| game_before_a_turn(&variant, "ippo-2p-small", Seat::ALL[1], game, 9));
    let state = games.find(|state| state.ending().is_none()).unwrap();
    let decide = |bot: Box<dyn Bot>| {
        let num_threads = 2;
        let options =
            SearchOptions { rollouts: 40, hands: 12, num_threads, ..SearchOptions::default() };
        let searcher = Searcher::new(bot, variant.clone(), options).unwrap();
        found(searcher.decide(&state, 7).unwrap())
    };
    let (rows, single) = (decide(Box::new(bot.clone())), decide(Box::new(Hidden(bot.clone()))));
    assert!(rows.decision.moves.iter().any(|searched| searched.games > 0));
    assert_eq!(rows, single);
}

/// What a search of a policy's game decides, the seat 0 to act, and the hands of its belief.
fn decision_of_policy(rollouts: u32, depth: Option<u32>) -> (State, Decision, Vec<Vec<u8>>) {
    let variant = variant_of("standard", 2);
    let mut games =
        (0..).map(|game| game_before_a_turn(&variant, "ippo-2p-small", Seat::FIRST, game, 8));
    let state = games.find(|state| state.ending().is_none()).unwrap();
    let options = SearchOptions { rollouts, hands: 1, depth, ..SearchOptions::default() };
    let name = "ippo-2p-small";
    let searcher = Searcher::new(blueprint(&variant, name), variant.clone(), options).unwrap();
    let (decision, belief) = searcher.decide(&state, 7).unwrap();
    let hands = belief.hand_indices().map(|(hand, _)| hand.to_vec()).collect();
    (state, decision, hands)
}

#[test]
fn a_rollout_of_a_depth_ends_with_the_value_of_the_network() {
    let (state, decision, hands) = decision_of_policy(400, Some(1));
    let (variant, view) = (state.variant(), state.view(Seat::FIRST));
    let policy = shipped_policy("ippo-2p-small").unwrap().policy().unwrap();
    let [hand] = &hands[..] else { panic!("{hands:?}") };
    let is_hint = |value: &&MoveValue| matches!(value.candidate, Move::Hint { .. });
    let hints: Vec<&MoveValue> = decision.moves.iter().filter(is_hint).collect();
    assert!(hints.len() > 5 && hints.iter().all(|searched| searched.games > 0));
    for searched in hints {
        // A hint draws no card: the position after it follows from the hand.
        let mut position = view.position_with_hand(hand);
        position.apply_unchecked(variant, searched.candidate, || None);
        let view = View::new(variant, &position, Seat::ALL[1]);
        let outputs = policy.evaluate([view], &mut PolicyScratch::default()).unwrap();
        let expected = f64::from(f32::from(position.score(variant)) + outputs.value(0));
        assert!((searched.mean - expected).abs() < 1e-4, "{expected} {searched:?}");
    }
}

#[test]
fn a_depth_beyond_the_game_changes_nothing() {
    let [full, deep, shallow] =
        [None, Some(1000), Some(1)].map(|depth| decision_of_policy(20, depth));
    assert!(full.1.moves.iter().all(|value| value.games > 0));
    assert_eq!((&full.1, &full.2), (&deep.1, &deep.2));
    assert_ne!(full.1.moves, shallow.1.moves);
}

/// A bot that counts in how many turns it chose a move, and how many it only went through.
#[derive(Clone)]
struct Counting(Arc<[AtomicUsize; 2]>);

impl Bot for Counting {
    fn is_deterministic(&self, _: &Variant) -> bool {
        true
    }

    fn start(&mut self, _: &View<'_>, _: GameRng) {}

    fn act(&mut self, view: &View<'_>) -> Move {
        self.0[0].fetch_add(1, Ordering::Relaxed);
        let action = view.legal_actions().iter().next().unwrap();
        view.variant().action_to_move(action).unwrap()
    }

    fn follow_turn(&mut self, _: &View<'_>) {
        self.0[1].fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_seated_player_chooses_no_move_in_past_turns() {
    let variant = variant_of("standard", 2);
    let state = game_before_a_turn(&variant, "smart", Seat::FIRST, 3, 8);
    assert_eq!((state.ending(), state.length() % 2), (None, 0));
    let counts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let mut seated = SeatedPlayer::new(Player::bot(Counting(counts.clone())), Seat::FIRST, 0);
    for _ in 0..2 {
        seated.act(&state).unwrap();
        let found: Vec<usize> = counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        assert_eq!(found, [1, state.length() / 2]);
    }
}

#[test]
fn a_searcher_that_was_not_asked_before_decides_as_one_that_was() {
    // All hands, and a sample of them.
    for (name, rollouts, hands) in [("small", 300, 5_000), ("standard", 20, 20)] {
        compare_fresh_searchers(&variant_of(name, 2), rollouts, hands);
    }
}

fn compare_fresh_searchers(variant: &Arc<Variant>, rollouts: u32, hands: usize) {
    let searching = || Player::bot(searcher(variant, RULES, rollouts, hands));
    let mut compared = 0;
    for game in 0..12 {
        let mut asked = SeatedPlayer::new(searching(), Seat::FIRST, game);
        let mut other = SeatedPlayer::new(player(variant, RULES), Seat::ALL[1], game);
        let mut state = State::new(variant.clone(), seed(game));
        while state.ending().is_none() {
            let is_own = state.position().current_player == Seat::FIRST;
            let played = if is_own { asked.act(&state) } else { other.act(&state) }.unwrap();
            if is_own && state.length() >= 6 {
                let mut fresh = SeatedPlayer::new(searching(), Seat::FIRST, game);
                assert_eq!(fresh.act(&state).unwrap(), played, "game {game}");
                compared += 1;
                break;
            }
            state.apply(variant.move_to_action(played).unwrap()).unwrap();
        }
    }
    assert!(compared > 5, "{compared}");
}

#[test]
fn a_search_that_was_stopped_can_be_asked_again() {
    let variant = variant_of("standard", 2);
    let state = game_before_a_turn(&variant, "smart", Seat::FIRST, 3, 8);
    let stop = Stop::default();
    stop.set();
    let mut searching = searcher(&variant, "smart", 200, 100);
    let stopped = |call: &mut dyn FnMut()| stoppable(Some(stop.clone()), call);
    stopped(&mut || assert!(matches!(searching.decide(&state, 7), Err(SearchError::Stopped))));
    searching.catch_up(&state, Seat::FIRST, 7);
    let view = state.view(Seat::FIRST);
    stopped(&mut || assert!(state.is_legal(searching.act(&view))));
    assert_eq!(searching.values(), Some(&[][..]));
    // A decision does not touch the game that the bot follows.
    let (decision, decided) = searching.decide(&state, 8).unwrap();
    assert_eq!(searching.belief().unwrap().hand_indices().count(), 0);
    assert!(state.is_legal(decision.chosen) && state.is_legal(searching.act(&view)));
    for belief in [&decided, searching.belief().unwrap()] {
        assert_eq!(belief.hand_indices().count(), 100);
    }
    let searching = Player::bot(searcher(&variant, "smart", 100, 30));
    let table = [searching.clone(), player(&variant, "smart")];
    let mut seated = SeatedPlayer::new(searching, Seat::FIRST, 7);
    stopped(&mut || assert_eq!(seated.act(&state), Err(GamesError::Stopped)));
    assert!(seated.act(&state).is_ok());
    let mut runner = GameRunner::new(variant.clone(), table.to_vec(), seed(9)).unwrap();
    stopped(&mut || runner.run().unwrap());
    assert_eq!((runner.length(), runner.ending()), (0, None));
    runner.run().unwrap();
    assert!(runner.ending().is_some());
    stopped(&mut || {
        let played = play_games(variant.clone(), &table, 3..4, GamesOptions::seeded(5));
        assert_eq!(played.unwrap_err(), GamesError::Stopped);
    });
}
