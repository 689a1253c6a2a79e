//! Sets of card kinds of the base game, for bots that support no other variant. The index of a
//! kind is `suit * RANKS + rank`, with both from 0.

use crate::rules::{CardSet, Hint, LostGameScore, Parameters, UnsupportedVariantError, Variant};

/// Refuses a variant in which more differs from the base game than these bots allow.
pub(in crate::bots) fn check(name: &str, variant: &Variant) -> Result<(), UnsupportedVariantError> {
    let parameters = variant.brief_parameters();
    let base = Parameters {
        players: parameters.players,
        random_start_player: parameters.random_start_player,
        lost_game_score: LostGameScore::Zero,
        edition: parameters.edition,
        ..Parameters::default()
    };
    if (Parameters { lost_game_score: LostGameScore::Zero, ..parameters }) == base {
        return Ok(());
    }
    Err(UnsupportedVariantError::new(
        name,
        variant,
        "the base game, where only players, random_start_player, lost_game_score and \
                   edition may differ",
    ))
}

/// Suits of the base game.
pub(in crate::bots) const SUITS: usize = 5;
/// Ranks of the base game.
pub(in crate::bots) const RANKS: usize = 5;
/// Cards in the largest hand of the base game.
pub(in crate::bots) const HAND_SIZE: usize = 5;

/// All kinds.
pub(in crate::bots) const ALL: CardSet = CardSet((1 << (SUITS * RANKS)) - 1);
/// The kinds of the lowest rank: three copies each.
pub(in crate::bots) const LOWEST: CardSet = CardSet(0x10_8421);
/// The kinds of the highest rank: one copy each.
pub(in crate::bots) const HIGHEST: CardSet = of_rank(RANKS - 1);

/// The kinds of a suit.
pub(in crate::bots) const fn of_suit(suit: usize) -> CardSet {
    CardSet(((1 << RANKS) - 1) << (suit * RANKS))
}

/// The kinds of a rank.
pub(in crate::bots) const fn of_rank(rank: usize) -> CardSet {
    CardSet(LOWEST.0 << rank)
}

/// The kinds that match a hint.
pub(in crate::bots) const fn of_hint(hint: Hint) -> CardSet {
    match hint {
        Hint::Color(suit) => of_suit(suit.index()),
        Hint::Rank(rank) => of_rank(rank.index()),
    }
}

/// The suit of a kind.
pub(in crate::bots) const fn suit_of(kind: usize) -> usize {
    kind / RANKS
}

/// The rank of a kind.
pub(in crate::bots) const fn rank_of(kind: usize) -> usize {
    kind % RANKS
}

/// The rank that all kinds share. The set must not be empty.
pub(in crate::bots) fn common_rank(kinds: CardSet) -> Option<usize> {
    let rank = rank_of(kinds.0.trailing_zeros() as usize);
    kinds.is_subset(of_rank(rank)).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_share_a_rank_or_not() {
        assert_eq!(common_rank(of_rank(3)), Some(3));
        assert_eq!(common_rank(of_suit(3)), None);
    }
}
