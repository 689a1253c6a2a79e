use super::super::*;
use super::*;
use crate::bots::{Bot, Noise, Noisy};
use crate::rules::{Move, View};

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
    let policy = shipped_policy("ippo-2p").unwrap().policy().unwrap();
    let noise = Noise::new(0.1).unwrap();
    let random = [
        Player::bot(Mine),
        player(&variant, "random"),
        player(&variant, "iggi"),
        Player::bot(PolicyBot::new(policy, true, &variant).unwrap()),
        Player::bot(Noisy::new(Box::new(Mine), noise)),
    ];
    for player in random {
        assert_eq!(refusal(player), Some(BlueprintError::Random(given())));
    }
    assert_eq!(refusal(Player::Cheater), Some(BlueprintError::Open(given())));
    assert_eq!(refusal(Player::External), Some(BlueprintError::External));
}
