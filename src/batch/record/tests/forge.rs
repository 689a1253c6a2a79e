//! Changes of the fields of a stored batch.

use super::{Stored, below, pick};
use crate::batch::record::game::{StoredGame, StoredPartnerGame};
use crate::batch::record::settings::Settings;
use crate::batch::{AutoresetMode, Dtype, IllegalAction};
use crate::rules::{
    Card, Ending, EpisodeSeed, Event, GameRng, Hint, Move, Named, Rank, SlotSet, Suit,
};

/// Another number: a neighbour, an end of the range, with one bit flipped, or any.
fn other(rng: &mut GameRng, number: u64, bits: u32) -> u64 {
    let all = u64::MAX >> (64 - bits);
    let changed = match rng.below(6) {
        0 => number.wrapping_add(1),
        1 => number.wrapping_sub(1),
        2 => pick(rng, &[0, all]),
        3 | 4 => number ^ 1 << rng.below(bits),
        _ => rng.below_u64(u64::MAX),
    };
    changed & all
}

fn forge_byte(rng: &mut GameRng, byte: &mut u8) {
    *byte = other(rng, (*byte).into(), 8) as u8;
}

fn forge_word(rng: &mut GameRng, word: &mut u64) {
    *word = other(rng, *word, 64);
}

fn forge_event(rng: &mut GameRng, event: &mut Option<Event>) {
    let card = Card::new(pick(rng, &Suit::ALL), pick(rng, &Rank::ALL));
    let seat = rng.below(5) as u8;
    let event = event.get_or_insert(Event {
        seat,
        played: Move::Discard { slot: 0 },
        touched: SlotSet::default(),
        card: None,
        added: false,
        regained: 0,
        drawn: None,
    });
    match rng.below(7) {
        0 => forge_byte(rng, &mut event.seat),
        1 => forge_byte(rng, &mut event.touched.0),
        2 => event.card = event.card.is_none().then_some(card),
        3 => event.added = !event.added,
        4 => forge_byte(rng, &mut event.regained),
        5 => event.drawn = event.drawn.is_none().then_some(card),
        _ => {
            let (slot, offset) = (rng.below(8) as u8, rng.below(6) as u8);
            event.played = match rng.below(5) {
                0 => Move::Discard { slot },
                1 => Move::Play { slot },
                2 => Move::AnnouncedPlay { slot, suit: card.suit },
                3 => Move::Hint { offset, hint: Hint::Color(card.suit) },
                _ => Move::Hint { offset, hint: Hint::Rank(card.rank) },
            };
        }
    }
}

fn forge_seed(rng: &mut GameRng, seed: &mut EpisodeSeed) {
    let EpisodeSeed { seed, game, episode } = seed;
    match rng.below(3) {
        0 => forge_word(rng, seed),
        1 => forge_word(rng, game),
        _ => forge_word(rng, episode),
    }
}

fn forge_game(rng: &mut GameRng, game: &mut StoredGame) {
    let StoredGame { seed, length, position } = game;
    match rng.below(14) {
        0 => forge_seed(rng, seed),
        1 => forge_byte(rng, length),
        2 => forge_word(rng, &mut position.discards),
        3 => {
            let suit = below(rng, position.fireworks.len());
            forge_byte(rng, &mut position.fireworks[suit]);
        }
        4 => forge_byte(rng, &mut position.information_tokens),
        5 => forge_byte(rng, &mut position.life_tokens),
        6 => forge_byte(rng, &mut position.deck_size),
        7 => forge_byte(rng, &mut position.current_player),
        8 => forge_byte(rng, &mut position.last_turns),
        9 => {
            let ending = pick(rng, Ending::ALL);
            position.ending = pick(rng, &[None, Some(ending)]);
        }
        10 => forge_event(rng, &mut position.last_event),
        11 => position.last_event = None,
        _ => {
            let seat = below(rng, position.hands.len());
            let hand = &mut position.hands[seat];
            let slot = below(rng, hand.cards.len());
            match rng.below(4) {
                0 => forge_byte(rng, &mut hand.size),
                1 => forge_byte(rng, &mut hand.cards[slot]),
                2 => hand.cards.swap(slot, 0),
                _ => forge_word(rng, &mut hand.knowledge[slot].0),
            }
        }
    }
}

fn forge_partner_game(rng: &mut GameRng, game: &mut StoredPartnerGame) {
    let StoredPartnerGame { seed, actions, forfeited } = game;
    match rng.below(5) {
        0 => forge_seed(rng, seed),
        1 => *forfeited = !*forfeited,
        2 => actions.push(rng.below(256) as u8),
        3 => _ = actions.pop(),
        _ => {
            let turn = below(rng, actions.len().max(1));
            actions.get_mut(turn).into_iter().for_each(|action| forge_byte(rng, action));
        }
    }
}

fn forge_finished(rng: &mut GameRng, stored: &mut Stored) {
    let running = stored.games.first().cloned();
    let finished = &mut stored.finished;
    let Some((index, game)) = finished.last_mut() else {
        finished.extend(running.map(|game| (0, game)));
        return;
    };
    match rng.below(5) {
        0 => *index = other(rng, *index as u64, 64) as usize,
        1 => *game = running.unwrap_or_else(|| game.clone()),
        2 => finished.extend_from_within(..1),
        3 => finished.reverse(),
        _ => forge_game(rng, game),
    }
}

fn forge_settings(rng: &mut GameRng, settings: &mut Settings) {
    let parameters = &mut settings.parameters;
    match rng.below(15) {
        0 => parameters.players = 2 + i64::from(rng.below(5)),
        1 => parameters.colors = 1 + i64::from(rng.below(7)),
        2 => parameters.hand_size = pick(rng, &[None, Some(3), Some(-1)]),
        3 => parameters.copies = None,
        4 => parameters.max_life_tokens = rng.below(10).into(),
        5 => parameters.max_information_tokens = rng.below(18).into(),
        6 => parameters.timed_display ^= true,
        7 => parameters.crowning_piece ^= true,
        8 => settings.encoder.push('-'),
        9 => settings.dtype = pick(rng, Dtype::ALL),
        10 => settings.autoreset_mode = pick(rng, AutoresetMode::ALL),
        11 => settings.illegal_action = pick(rng, IllegalAction::ALL),
        12 => settings.fresh ^= true,
        13 => settings
            .partners
            .weights
            .push((below(rng, 3), vec![2.0, f64::from(rng.below(3)) - 1.0])),
        _ => settings.partners.seats.push((below(rng, 7), vec!["iggi".to_owned()])),
    }
}

/// Changes one field of a stored batch.
pub fn forge(rng: &mut GameRng, stored: &mut Stored) {
    let game = rng.below(1 << 30) as usize;
    match rng.below(8) {
        0 => forge_settings(rng, &mut stored.settings),
        1 => forge_finished(rng, stored),
        2 => stored.games.truncate(1),
        _ if stored.games.is_empty() => {
            let index = game % stored.partner_games.len();
            forge_partner_game(rng, &mut stored.partner_games[index]);
        }
        _ => {
            let index = game % stored.games.len();
            forge_game(rng, &mut stored.games[index]);
        }
    }
}
