use std::time::Duration;

use super::*;
use crate::bots::{GamesOptions, play_games};
use crate::nn::POLICIES;
use crate::rules::{EpisodeSeed, Parameters, State, Variant, error_text};
use crate::search::{SearchError, SearchOptions, Searcher};

const RULES: &str = "rules: play-safe; hint-playable; discard-osawa; discard-oldest; hint-most";

#[test]
fn a_blueprint_must_be_a_deterministic_player() {
    for name in ["random", "iggi", "noisy: 0.1; smart", "policy: ippo-2p; sampled"] {
        let text = format!("search: {name}").parse::<PlayerSpec>().unwrap_err();
        assert!(matches!(text, PlayerSpecError::Search(SearchError::Random(_))), "{text}");
    }
    let rules = |rules: &str| format!("search: rules: {rules}").parse::<PlayerSpec>();
    for gap in [
        "play-safe",
        "play-safe; hint-playable; discard-oldest",
        "hint-most if life_tokens > 1; discard-oldest",
        "play-probably-safe 0.1",
    ] {
        let error = rules(gap).unwrap_err();
        assert!(matches!(error, PlayerSpecError::Search(SearchError::Random(_))), "{error}");
    }
    for whole in ["play-safe; play-probably-safe 0", "discard-probably-useless 0; hint-most"] {
        assert!(rules(whole).is_ok(), "{whole}");
    }
    let tokenless = Parameters { max_information_tokens: 0, ..Parameters::default() };
    let tokenless = Variant::new(tokenless).unwrap();
    let only_plays = rules("play-safe; play-probably-safe 0").unwrap();
    assert!(only_plays.player(&tokenless).is_ok());
    let error = rules("discard-oldest; hint-most").unwrap().player(&tokenless).unwrap_err();
    assert!(error.to_string().contains("play-probably-safe"), "{error}");
    let same = rules("discard-oldest; hint-most").unwrap().searcher(&tokenless).unwrap_err();
    assert_eq!((&*same.name, &same), ("rules: discard-oldest; hint-most", &error));
    let other = Variant::new(Parameters { colors: 4, ..Parameters::default() }).unwrap();
    let error = "search: smart".parse::<PlayerSpec>().unwrap().searcher(&other).unwrap_err();
    assert_eq!(error.name, "smart");
    let cheater = "search: cheater".parse::<PlayerSpec>().unwrap_err();
    assert!(matches!(cheater, PlayerSpecError::Search(SearchError::Open(_))), "{cheater}");
}

#[test]
fn a_time_limit_is_any_duration_but_whole_milliseconds_in_a_text() {
    let variant = Variant::default();
    let smart: PlayerSpec = "smart".parse().unwrap();
    for (nanoseconds, has_text) in [(0, false), (1_500_000, false), (2_000_000, true)] {
        let time_limit = Some(Duration::from_nanos(nanoseconds));
        let options =
            SearchOptions { time_limit, rollouts: 50, hands: 5, ..SearchOptions::default() };
        let bot = smart.player(&variant).unwrap().into_bot().unwrap();
        let searcher = Searcher::new(bot, variant.clone(), options).unwrap();
        searcher.decide(&State::new(variant.clone(), EpisodeSeed::default()), 1).unwrap();
        assert_eq!(smart.clone().with_search(options).is_ok(), has_text);
    }
}

#[test]
fn names_are_displayed_as_they_are_parsed() {
    let text = format!("search: {RULES}; rollouts=500; milliseconds=20; hands=64; threshold=0.05");
    for text in [
        "smart",
        "noisy: 0.1; smart",
        "search: smart",
        "search: smart; rollouts=100",
        "search: smart; method=mirror",
        "search: smart; hands=9; method=mirror; step=2.5",
        "search: smart; threshold=0.05",
        "search: ippo-2p; depth=16; threshold=0.05",
        &text,
    ] {
        assert_eq!(text.parse::<PlayerSpec>().unwrap().to_string(), text);
    }
    let error = |text: &str| text.parse::<PlayerSpec>().unwrap_err().to_string();
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
    assert!(error("search: policy: ippo-2p; depth=0").contains("1 to 1000"));
    assert!(error("search: smart; depth=16").contains("expected a trained policy"));
    assert!(error("search: smart; method=both").contains("single or mirror"));
    assert!(error("search: smart; step=5").contains("method=mirror"));
    assert!(error("search: smart; method=mirror; step=0").contains("above 0"));
    let mirror = error("search: smart; threshold=0.1; method=mirror");
    assert!(mirror.contains("no threshold with \"method=mirror\""), "{mirror}");
    assert!(error("search:").contains("bot"));
    assert!(error("search: search: smart").contains("bot"));
}

#[test]
fn bots_are_displayed_as_they_are_parsed() {
    let rules = "rules: play-safe; play-probably-safe 0.6 if life_tokens > 1";
    let texts = ["smart", rules, "noisy: 0.1; smart", &format!("noisy: 0.25; {rules}")];
    for text in texts.into_iter().chain(POLICIES.iter().map(|shipped| shipped.name)) {
        assert_eq!(text.parse::<PlayerSpec>().unwrap().to_string(), text);
    }
    let error = |text: &str| text.parse::<PlayerSpec>().unwrap_err();
    assert!(matches!(error("smrat"), PlayerSpecError::Unknown(_)));
    assert!(matches!(error("rules: play-saef"), PlayerSpecError::Rule(_)));
    assert!(matches!(error("rules:"), PlayerSpecError::Rule(_)));
    assert!(matches!(error("policy:"), PlayerSpecError::Policy(_)));
    for text in ["noisy: 1.5; smart", "noisy: nan; smart", "noisy: ; smart", "noisy: -0.1; smart"] {
        assert!(matches!(error(text), PlayerSpecError::Noise(_)), "{text}");
    }
    let nested = "noisy:0;".repeat(100_000) + "smart"; // too deep for the stack of a parser that recurses
    for text in ["noisy: 0.1", "noisy: 0.1; noisy: 0.1; smart", &nested] {
        assert!(matches!(error(text), PlayerSpecError::NoisyText(_)), "{text}");
    }
    assert!(matches!(error("noisy: 0.1; smrat"), PlayerSpecError::Unknown(_)));
}

#[test]
fn a_text_without_a_policy_is_refused_with_the_reason() {
    let error = |text: &str| error_text(&text.parse::<PlayerSpec>().unwrap_err());
    assert!(error("policy: src").ends_with(": it cannot be read: not a file"));
    assert!(error("policy: ippo-2").contains("did you mean \"ippo-2p\"?"));
}

#[test]
fn any_number_of_seats_may_search() {
    let variant = Variant::default();
    let player = |text: &str| text.parse::<PlayerSpec>().unwrap().player(&variant).unwrap();
    let single = "search: smart; rollouts=10; hands=5";
    let mirror = "search: smart; rollouts=10; hands=5; method=mirror";
    for seats in [[single, single], [mirror, single], [mirror, mirror]] {
        let played = play_games(variant.clone(), &seats.map(player), 0..1, GamesOptions::seeded(1));
        assert!(played.is_ok(), "{seats:?}");
    }
    assert!("search: smart; seats=all".parse::<PlayerSpec>().is_err());
}

#[test]
fn spaces_around_a_text_are_ignored() {
    for text in ["smart", "search: smart", "noisy: 0.1; smart", "rules: play-safe", "ippo-2p-small"]
    {
        let spaced = format!(" {text} ").parse::<PlayerSpec>().unwrap();
        assert_eq!(spaced.to_string(), text);
    }
}
