//! Rules and lists: legal moves in every variant, sets of cards, openings and texts.

use std::sync::Arc;

use super::*;
use crate::bots::common::copy_counts::CopyCounts;
use crate::bots::{GameRunner, GamesOptions, Player, bot, play_games};
use crate::rules::{
    Card, CardSet, EpisodeSeed, Hint, Offset, PRESETS, Parameters, Rank, Seat, Slot, State, Suit,
    Variant, random_variant,
};

const LISTS: [&[&str]; 6] = [IGGI, PIERS, VAN_DEN_BERGH, OUTER, INTERNAL, FLAWED];

/// Every rule as a list of its own, and the published lists.
fn players() -> Vec<Player> {
    let alone = RULES.iter().map(|kind| {
        let probability = if kind.takes_probability() { " 0.3" } else { "" };
        RuleList::parse(&[format!("{}{probability}", kind.name)])
    });
    let listed = LISTS.iter().map(|list| RuleList::parse(list));
    alone.chain(listed).map(|list| Player::bot(list.unwrap())).collect()
}

fn seed(game: u64) -> EpisodeSeed {
    EpisodeSeed { seed: 11, game, episode: 0 }
}

/// Plays games of the variant with the player in every other seat beside `random`, then in
/// self-play. An illegal move fails.
fn play(variant: Variant, player: &Player, games: u64) {
    let variant = Arc::new(variant);
    let other = bot("random").unwrap().player(&variant).unwrap();
    let seats = usize::from(variant.players());
    let mixed: Vec<Player> =
        (0..seats).map(|seat| if seat % 2 == 0 { player } else { &other }.clone()).collect();
    for players in [mixed, vec![player.clone(); seats]] {
        play_games(variant.clone(), &players, 0..games, GamesOptions::seeded(7)).unwrap();
    }
}

#[test]
fn every_rule_and_list_plays_every_preset() {
    for row in PRESETS {
        for count in 2..=5 {
            let parameters = Parameters { players: count, ..row.parameters() };
            let Ok(variant) = Variant::new(parameters) else { continue };
            for player in players() {
                play(variant.clone(), &player, 5);
            }
        }
    }
}

#[test]
fn every_rule_and_list_plays_random_variants() {
    let mut rng = GameRng::for_samples(0);
    for _ in 0..100 {
        let variant = random_variant(|bound| rng.below(bound));
        for player in players() {
            play(variant.clone(), &player, 2);
        }
    }
}

#[test]
fn a_bot_forgets_earlier_games() {
    let variant = Arc::new(Variant::new(Parameters::default()).unwrap());
    for player in players() {
        let seats = vec![player; 2];
        let games = play_games(variant.clone(), &seats, 0..20, GamesOptions::seeded(11)).unwrap();
        for (game, &outcome) in games.outcomes.iter().enumerate() {
            let mut runner =
                GameRunner::new(variant.clone(), seats.clone(), seed(game as u64)).unwrap();
            runner.run().unwrap();
            assert_eq!(runner.outcome(), Some(outcome));
        }
    }
}

#[test]
fn open_cards_agree_with_the_rules() {
    for row in PRESETS {
        let variant = Arc::new(Variant::new(row.parameters()).unwrap());
        let all = CardSet(variant.tables().all_cards);
        for game in 0..20 {
            let (mut open, mut rng) = (OpenCards::default(), GameRng::for_samples(game));
            let mut gone = GoneCopies::default();
            let players = vec![Player::External; usize::from(variant.players())];
            let mut runner = GameRunner::new(variant.clone(), players, seed(game)).unwrap();
            while runner.ending().is_none() {
                let view = runner.view(runner.current_player());
                open.update(&view);
                let left = CopyCounts::of_deck(&variant).minus(gone.count(&view, open.played));
                let outlook = view.outlook();
                assert_eq!(
                    (open.dead(), open.next - open.blocked),
                    (outlook.dead, outlook.playable)
                );
                for card in variant.card_kinds() {
                    let gone =
                        view.discarded(card) + u8::from(height(&view, card) > card.rank.index());
                    let kind = CardSet::of(variant.card_index_unchecked(card));
                    assert_eq!(left.total(kind), u32::from(variant.copies(card) - gone));
                }
                let hands = variant.seats().map(|seat| view.hand_size(view.offset(seat)));
                let hidden = hands.sum::<usize>() + usize::from(view.deck_size());
                assert_eq!(left.total(all) as usize, hidden);
                let played = any_legal(&view, &mut rng);
                let event = runner.play(played).unwrap();
                assert_eq!(runner.history().last(), Some(&event));
            }
        }
    }
}

fn height(view: &View<'_>, card: Card) -> usize {
    view.stack(card.suit).into()
}

/// The first two moves of a two-player game of a list, in which seat 1 is dealt this hand.
fn opening(rules: &[&str], hand: [&str; 5]) -> (Move, Move) {
    let variant = Variant::new(Parameters::default()).unwrap();
    let hand = hand.map(|card| card.parse::<Card>().unwrap());
    let mut rest: Vec<Card> = variant
        .card_kinds()
        .flat_map(|card| {
            let held = hand.iter().filter(|&&other| other == card).count();
            (held..variant.copies(card).into()).map(move |_| card)
        })
        .collect();
    rest.splice(5..5, hand);
    let mut state = State::from_deck(variant, rest, Seat::FIRST).unwrap();
    let moves = [0, 1].map(|seat| {
        let mut list = RuleList::parse(rules).unwrap();
        let view = state.view(Seat::ALL[seat]);
        list.start(&view, GameRng::for_samples(0));
        let chosen = list.act(&view);
        state.play(chosen).unwrap();
        chosen
    });
    moves.into()
}

#[test]
fn a_playable_card_is_hinted_by_rank_and_played() {
    let hand = ["R2", "Y4", "B1", "G3", "W5"];
    let hint = Move::Hint { offset: Offset::NEXT, hint: Hint::Rank(Rank::ALL[0]) };
    for rules in [IGGI, PIERS, VAN_DEN_BERGH, OUTER] {
        assert_eq!(opening(rules, hand), (hint, Move::Play { slot: Slot::ALL[2] }), "{rules:?}");
    }
}

#[test]
fn the_first_of_the_hints_that_touch_most_is_given() {
    let hand = ["R2", "B4", "B3", "Y3", "W5"];
    let hint = Move::Hint { offset: Offset::NEXT, hint: Hint::Color(Suit::ALL[4]) };
    assert_eq!(opening(VAN_DEN_BERGH, hand).0, hint);
}

#[test]
fn rules_are_parsed_and_displayed() {
    for text in PIERS.iter().chain(VAN_DEN_BERGH) {
        assert_eq!(&text.parse::<Rule>().unwrap().to_string(), text);
    }
    let error = |text: &str| text.parse::<Rule>().unwrap_err();
    for text in ["play-saef", ""] {
        assert!(matches!(error(text), RuleError::Unknown(_)), "{text}");
    }
    for text in ["play-probably-safe if deck_size = 0", "play-probably-safe 60", "play-safe 0.6"] {
        assert!(matches!(error(text), RuleError::Probability { .. }), "{text}");
    }
    for text in ["play-safe if lives > 1", "play-safe if life_tokens > 1 and"] {
        assert!(matches!(error(text), RuleError::Condition { .. }), "{text}");
    }
}

#[test]
fn a_deterministic_list_draws_nothing() {
    let lists = [
        "play-probably-safe 0",
        "play-probably-safe 0; hint-most",
        "hint-most; discard-oldest",
        "hint-most; discard-probably-useless 0",
    ];
    let small = |players, crowning_piece, hand_size| Parameters {
        players,
        colors: 2,
        max_information_tokens: 2,
        max_life_tokens: 8,
        hand_size: Some(hand_size),
        crowning_piece,
        ..Parameters::default()
    };
    let mut rng = GameRng::for_samples(1);
    let mut found = [0; 2]; // turns with an empty hand; answers of deterministic lists
    for round in 0..400_i64 {
        let parameters = small(2 + round % 4, round % 8 < 4, 1 + round % 3);
        let variant = Arc::new(Variant::new(parameters).unwrap());
        let mut state = State::new(variant.clone(), seed(round as u64));
        while state.ending().is_none() {
            let view = state.view(state.current_player());
            found[0] += usize::from(view.hand_size(Offset::OWN) == 0);
            for list in lists {
                let rules: Vec<&str> = list.split("; ").collect();
                let mut bot = RuleList::parse(&rules).unwrap();
                if bot.is_deterministic(&variant) {
                    let before = rng.clone();
                    bot.start(&view, before.clone());
                    bot.act(&view);
                    let next = [bot.rng, before].map(|mut rng| rng.below(u32::MAX));
                    assert_eq!(next[0], next[1], "{list}: {variant}");
                    found[1] += 1;
                }
            }
            // A random move: if possible one that scores, or at least one that does not end the game.
            let moves: Vec<Move> = view.legal_moves().collect();
            let worth = |&chosen: &Move| {
                let mut next = state.clone();
                next.play(chosen).unwrap();
                (next.ending().is_none(), next.position().fireworks_sum())
            };
            let best = moves.iter().map(worth).max();
            let best: Vec<Move> =
                moves.iter().filter(|&chosen| Some(worth(chosen)) == best).copied().collect();
            let chosen = *rng.pick(&best).unwrap();
            state.play(chosen).unwrap();
        }
    }
    assert!(found.iter().all(|&turns| turns > 50), "{found:?}");
}
