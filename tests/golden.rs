//! Every golden trace of the Hanabi Learning Environment, position by position and seat by seat.
//! `tests/data/make_golden.py` made the traces.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::GzDecoder;
use serde::Deserialize;
use starmine::encode::Encoder;
use starmine::rules::{ActionId, Card, Parameters, Seat, State, Variant};

#[derive(Deserialize)]
struct Trace {
    variant: Parameters,
    encoder: String,
    observation_bits: usize,
    games: Vec<Game>,
}

#[derive(Deserialize)]
struct Game {
    deck: String,
    start_player: Seat,
    actions: Vec<i64>,
    current_player: Vec<i64>,
    legal: Vec<String>,
    rewards: Vec<i16>,
    scores: Vec<u8>,
    information_tokens: Vec<u8>,
    life_tokens: Vec<u8>,
    deck_sizes: Vec<u8>,
    ending: String,
    digests: String,
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden");
    let entries = folder.read_dir().expect("the golden traces are in the repository");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn read(path: &Path) -> Trace {
    let mut text = String::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn deal(variant: &Arc<Variant>, game: &Game) -> State {
    let letters: Vec<char> = game.deck.chars().collect();
    let card = |text: &[char]| text.iter().collect::<String>().parse::<Card>().unwrap();
    let cards = letters.chunks(2).map(card).collect();
    State::from_deck(variant.clone(), cards, game.start_player).unwrap()
}

fn digest(encoder: Encoder, state: &State, seat: Seat, words: &mut [u64]) -> String {
    encoder.encode_into(&state.seer_view(seat), words);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    format!("{:08x}", crc32fast::hash(&bytes))
}

fn check_position(encoder: Encoder, state: &State, game: &Game, turn: usize, place: &str) {
    let position = state.view(state.current_player());
    assert_eq!(state.score(), game.scores[turn], "{place}: score");
    assert_eq!(
        position.information_tokens(),
        game.information_tokens[turn],
        "{place}: information"
    );
    assert_eq!(position.life_tokens(), game.life_tokens[turn], "{place}: lives");
    assert_eq!(position.deck_size(), game.deck_sizes[turn], "{place}: deck size");
    let legal = u128::from_str_radix(&game.legal[turn], 16).unwrap();
    assert_eq!(state.legal_actions().bits(), legal, "{place}: legal actions");
    if state.ending().is_none() {
        assert_eq!(
            i64::from(u8::from(position.current_player())),
            game.current_player[turn],
            "{place}: player"
        );
    }
    let players = usize::from(state.variant().players());
    let mut words = vec![0; encoder.layout(state.variant()).words()];
    for seat in state.variant().seats() {
        let start = 8 * (turn * players + seat.index());
        let found = digest(encoder, state, seat, &mut words);
        assert_eq!(found, game.digests[start..start + 8], "{place}: observation of seat {seat}");
    }
}

#[test]
fn every_position_is_as_in_hle() {
    let files = files();
    assert!(files.len() >= 30, "only {} golden files", files.len());
    for path in files {
        let trace = read(&path);
        let encoder: Encoder = trace.encoder.parse().unwrap();
        let variant = Arc::new(Variant::new(trace.variant).unwrap());
        assert_eq!(encoder.layout(&variant).len(), trace.observation_bits);
        assert!(trace.games.len() >= 20);
        for (index, game) in trace.games.iter().enumerate() {
            let mut state = deal(&variant, game);
            for (turn, &action) in game.actions.iter().enumerate() {
                let place = format!("{}, game {index}, turn {turn}", path.display());
                check_position(encoder, &state, game, turn, &place);
                let reward =
                    state.apply(ActionId::new(action as usize).expect(&place)).expect(&place);
                assert_eq!(reward, game.rewards[turn], "{place}: reward");
            }
            let place = format!("{}, game {index}, at the end", path.display());
            check_position(encoder, &state, game, game.actions.len(), &place);
            assert_eq!(state.ending().expect(&place).name(), game.ending, "{place}");
        }
    }
}
