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

/// The suit that all kinds share; `None` for the empty set.
pub(in crate::bots) fn common_suit(kinds: CardSet) -> Option<usize> {
    let suit = suit_of(kinds.0.trailing_zeros() as usize);
    (!kinds.is_empty() && kinds.is_subset(of_suit(suit))).then_some(suit)
}

/// The rank that all kinds share. The set must not be empty.
pub(in crate::bots) fn common_rank(kinds: CardSet) -> Option<usize> {
    let rank = rank_of(kinds.0.trailing_zeros() as usize);
    kinds.is_subset(of_rank(rank)).then_some(rank)
}

/// The kinds one rank above, of the same suit.
pub(in crate::bots) const fn above(kinds: CardSet) -> CardSet {
    CardSet(kinds.0 << 1 & ALL.0 & !LOWEST.0)
}

/// The kinds themselves and all higher ones of the same suits.
pub(in crate::bots) fn above_all(kinds: CardSet) -> CardSet {
    if kinds.is_empty() {
        return kinds;
    }
    let two = kinds | above(kinds);
    two | above(above(two)) | above(above(above(above(two))))
}

/// The kinds one rank below, of the same suit.
pub(in crate::bots) const fn below(kinds: CardSet) -> CardSet {
    CardSet((kinds.0 & !LOWEST.0) >> 1)
}

/// The next kind of each stack, given the kinds that are played.
pub(in crate::bots) const fn next_on(played: CardSet) -> CardSet {
    CardSet((played.0 << 1 | LOWEST.0) & !played.0 & ALL.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suits_do_not_run_into_each_other() {
        assert_eq!(above(CardSet::of(4)), CardSet::EMPTY);
        assert_eq!(above_all(CardSet::of(10)), of_suit(2));
        assert_eq!(below(CardSet::of(5)), CardSet::EMPTY);
        assert_eq!(next_on(of_suit(0)), of_rank(0) - CardSet::of(0));
        assert_eq!(common_suit(of_suit(3)), Some(3));
        assert_eq!(common_suit(of_rank(2)), None);
        assert_eq!(common_suit(CardSet::EMPTY), None);
        assert_eq!(common_rank(of_rank(3)), Some(3));
        assert_eq!(common_rank(of_suit(3)), None);
    }
}
