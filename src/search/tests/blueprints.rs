use super::super::*;
use super::*;
use crate::bots::{Bot, GameRunner, Noise, Noisy};
use crate::nn::MoveChoice;
use crate::rules::{EpisodeSeed, Move, State, View};

#[test]
fn only_a_bot_that_says_so_is_a_blueprint() {
    #[derive(Clone)]
    struct Mine;

    impl Bot for Mine {
        fn start(&mut self, _: &View<'_>, _: GameRng) {}

        fn act(&mut self, view: &View<'_>) -> Move {
            view.legal_moves().next().unwrap()
        }
    }

    let variant = variant_of("standard", 2);
    let refusal =
        |bot: Box<dyn Bot>| Searcher::new(bot, variant.clone(), SearchOptions::default()).err();
    let given = || "the given bot".to_owned();
    let policy = shipped_policy("ippo-2p-small").unwrap().policy().unwrap();
    let noise = Noise::new(0.1).unwrap();
    let random: [Box<dyn Bot>; 5] = [
        Box::new(Mine),
        blueprint(&variant, "random"),
        blueprint(&variant, "iggi"),
        Box::new(PolicyBot::new(policy, MoveChoice::Sampled, &variant).unwrap()),
        Box::new(Noisy::new(Box::new(Mine), noise)),
    ];
    for bot in random {
        assert_eq!(refusal(bot), Some(SearchError::Random(given())));
    }
    let searching = Box::new(searcher(&variant, "smart", 10, 10));
    assert_eq!(refusal(searching), Some(SearchError::Searches(given())));
    let rules = blueprint(&variant, "rules: discard-oldest; hint-most");
    assert_eq!(refusal(rules.clone()), None);
    let tokenless = Parameters { max_information_tokens: 0, ..Parameters::default() };
    let tokenless = Variant::new(tokenless).unwrap();
    let gap = Searcher::new(rules, tokenless, SearchOptions::default()).unwrap_err();
    assert_eq!(gap, SearchError::Random(given()));
    let seven = variant_of("avalanche", 2);
    let smart = blueprint(&variant, "smart");
    let refused = Searcher::new(smart, seven, SearchOptions::default());
    assert!(matches!(refused, Err(SearchError::Variant(_))));
}

#[test]
fn a_search_refuses_other_variants_and_games_that_are_over() {
    let variant = variant_of("standard", 2);
    let options = SearchOptions { rollouts: 10, hands: 10, ..SearchOptions::default() };
    let searcher = Searcher::new(blueprint(&variant, "smart"), variant.clone(), options).unwrap();
    let others = State::new(variant_of("standard", 3), EpisodeSeed::default());
    let error = searcher.clone().decide(&others, 1).err();
    assert!(matches!(error, Some(SearchError::Variant(_))), "{error:?}");
    let players = vec![Player::bot(searcher.clone()); 3];
    let seated = GameRunner::new(variant_of("standard", 3), players, EpisodeSeed::default());
    assert!(seated.is_err());
    let mut over = State::new(variant, EpisodeSeed::default());
    while let Some(played) = over.legal_actions().iter().next() {
        over.apply(played).unwrap();
    }
    let error = searcher.clone().decide(&over, 1).err();
    assert_eq!(error, Some(SearchError::GameOver(over.ending().unwrap())));
}
