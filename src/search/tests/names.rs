use super::super::*;
use super::*;
use crate::bots::Bot;
use crate::rules::{Move, View};

#[test]
fn a_blueprint_must_be_a_deterministic_player() {
    let variant = variant_of("standard", 2);
    for name in ["random", "iggi", "noisy: 0.1; smart", "policy: ippo-2p; sampled"] {
        let found = Searcher::new(&player(&variant, name), &variant, SearchOptions::default(), 1);
        assert_eq!(found.err(), Some(BlueprintError::Random("the given player".to_owned())));
        let text = format!("search: {name}").parse::<PlayerSpec>().unwrap_err();
        assert!(matches!(text, PlayerSpecError::Blueprint(BlueprintError::Random(_))), "{text}");
    }
    let cheater = "search: cheater".parse::<PlayerSpec>().unwrap_err();
    assert!(matches!(cheater, PlayerSpecError::Blueprint(BlueprintError::Open(_))), "{cheater}");
}

#[test]
fn names_are_displayed_as_they_are_parsed() {
    let text = format!(
        "search: {RULES}; rollouts=500; milliseconds=20; hands=64; threshold=0.05; seats=all"
    );
    for text in [
        "smart",
        "noisy: 0.1; smart",
        "search: smart",
        "search: smart; rollouts=100",
        "search: smart; method=mirror",
        "search: smart; hands=9; method=mirror; step=2.5",
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
    assert!(error("search: smart; depth=16").contains("no memory"));
    assert!(error("search: smart; method=both").contains("single or mirror"));
    assert!(error("search: smart; step=5").contains("method=mirror"));
    assert!(error("search: smart; method=mirror; step=0").contains("above 0"));
    assert!(error("search:").contains("bot"));
    assert!(error("search: search: smart").contains("bot"));
}

#[test]
fn several_seats_search_only_if_all_allow_it() {
    let name = |text: &str| text.parse::<PlayerSpec>().unwrap();
    let (one, all) = (name("search: smart"), name("search: smart; seats=all"));
    let check = |seats: &[Option<&PlayerSpec>]| PlayerSpec::check_table(seats.iter().copied());
    assert!(check(&[Some(&one), None, Some(&name("smart"))]).is_ok());
    assert!(check(&[Some(&all), None, Some(&all)]).is_ok());
    let mirror = name("search: smart; method=mirror");
    assert!(check(&[Some(&mirror), Some(&mirror)]).is_ok());
    assert!(check(&[Some(&mirror), Some(&one)]).is_err());
    let refused = check(&[Some(&one), None, Some(&all)]).unwrap_err().to_string();
    assert!(refused.contains("seats 0 and 2"), "{refused}");
}

#[test]
fn only_a_bot_that_says_so_is_a_blueprint() {
    #[derive(Clone)]
    struct Mine;

    impl Bot for Mine {
        fn act(&mut self, view: &View<'_>) -> Move {
            view.legal_moves().next().unwrap()
        }
    }

    let variant = variant_of("standard", 2);
    let refusal = |player| Searcher::new(&player, &variant, SearchOptions::default(), 1).err();
    let given = || "the given player".to_owned();
    assert_eq!(refusal(Player::bot(Mine)), Some(BlueprintError::Random(given())));
    assert_eq!(refusal(Player::Cheater), Some(BlueprintError::Open(given())));
    assert_eq!(refusal(Player::External), Some(BlueprintError::External));
}
