use super::edition::Edition;
use super::lost_game_score::LostGameScore;
use super::names::Named;
use super::parameters::Parameters;
use super::variant::Variant;

/// A random variant from the whole supported range, for property tests of whatever plays every
/// variant. `below(n)` returns a random number less than `n`.
///
/// ```
/// use starmine::rules::random_variant;
///
/// let zeros = random_variant(|_| 0);
/// assert_eq!((zeros.players(), zeros.colors(), zeros.ranks()), (2, 1, 1));
/// ```
///
/// A `below` that always returns zero gives an allowed variant, so the loop ends with a source that
/// has run dry.
#[must_use]
pub fn random_variant(mut below: impl FnMut(u32) -> u32) -> Variant {
    loop {
        if let Ok(variant) = Variant::new(random_parameters(&mut below)) {
            return variant;
        }
    }
}

/// Random parameters, each within its range. Some combinations are no variant: hands that need more
/// cards than there are, or too many cards.
#[must_use]
pub fn random_parameters(mut below: impl FnMut(u32) -> u32) -> Parameters {
    let mut between = |low: usize, high: usize| low + below((high + 1 - low) as u32) as usize;
    let (colors, ranks) = (between(1, 6), between(1, 5));
    let has_copies = between(0, 1) == 1;
    let mut row = || (0..ranks).map(|_| between(1, 3) as i64).collect();
    let copies = has_copies.then(|| (0..colors).map(|_| row()).collect());
    // Every field is named, so that a new rule switch cannot be left out.
    Parameters {
        players: between(2, 5) as i64,
        colors: colors as i64,
        ranks: ranks as i64,
        hand_size: (between(0, 2) < 2).then(|| between(1, 6) as i64),
        // Without a token the crowning piece can leave a player without a legal action.
        max_information_tokens: if between(0, 2) < 2 { between(0, 16) as i64 } else { 0 },
        max_life_tokens: between(1, 8) as i64,
        copies,
        random_start_player: between(0, 1) == 1,
        empty_hints: between(0, 1) == 1,
        crowning_piece: between(0, 1) == 1,
        timed_display: between(0, 1) == 1,
        lost_game_score: LostGameScore::ALL[between(0, LostGameScore::ALL.len() - 1)],
        edition: Edition::ALL[between(0, Edition::ALL.len() - 1)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{EpisodeSeed, GameRng};

    #[test]
    fn every_switch_is_drawn_both_ways() {
        let mut rng = GameRng::new(EpisodeSeed::default());
        let drawn: Vec<_> = (0..200)
            .map(|_| random_variant(|bound| rng.below(bound)).parameters().clone())
            .collect();
        let fields = |parameters: &Parameters| serde_json::to_value(parameters).unwrap();
        let names: Vec<String> = fields(&drawn[0]).as_object().unwrap().keys().cloned().collect();
        for name in names {
            let first = fields(&drawn[0])[&name].clone();
            let differs = drawn.iter().any(|parameters| fields(parameters)[&name] != first);
            assert!(differs, "{name} is always {first}");
        }
    }
}
