//! Random variants for property tests, of the crate's unit tests and of its integration tests.

use starmine::rules::{Edition, LostGameScore, Parameters, SWITCHES, Variant};

/// Returns a random variant from the whole supported range. `below(n)` returns a random number less than `n`.
///
/// If `below` always returns zero, the variant is allowed. So the loop ends when a list of numbers is used up.
#[must_use]
pub fn random_variant(mut below: impl FnMut(u32) -> u32) -> Variant {
    loop {
        if let Ok(variant) = Variant::new(random_parameters(&mut below)) {
            return variant;
        }
    }
}

/// Returns random parameters, each within its range. Some combinations are not a variant: the hands need more cards
/// than the deck has, or the deck is too large.
fn random_parameters(mut below: impl FnMut(u32) -> u32) -> Parameters {
    let mut between = |low: i64, high: i64| low + i64::from(below((high + 1 - low) as u32));
    let (colors, ranks) = (between(1, 6), between(1, 5));
    let has_copies = between(0, 1) == 1;
    let mut row = || (0..ranks).map(|_| between(1, 3)).collect();
    let copies = has_copies.then(|| (0..colors).map(|_| row()).collect());
    let mut parameters = Parameters {
        players: between(2, 5),
        colors,
        ranks,
        hand_size: (between(0, 2) < 2).then(|| between(1, 6)),
        // Without a token the crowning piece can leave a player without a legal action.
        max_information_tokens: if between(0, 2) < 2 { between(0, 16) } else { 0 },
        max_life_tokens: between(1, 8),
        copies,
        ..Parameters::default()
    };
    for switch in SWITCHES {
        switch.set(&mut parameters, between(0, 1) == 1);
    }
    let mut choice = |number: usize| between(0, number as i64 - 1) as usize;
    parameters.lost_game_score = LostGameScore::ALL[choice(LostGameScore::ALL.len())];
    parameters.edition = Edition::ALL[choice(Edition::ALL.len())];
    parameters
}
