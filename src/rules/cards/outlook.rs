//! Which kinds of cards are playable, dead or critical.

use crate::rules::cards::card_set::CardSet;
use crate::rules::cards::select::gather_bits;
use crate::rules::variants::variant::Variant;

/// Which kinds of cards are playable, dead or critical, by the fireworks and the discard pile. A
/// card in none of the sets is needed later, and more than one copy of it is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// Next on its stack.
    pub playable: CardSet,
    /// Can never be played: already on its stack, or all copies of it or of a lower card are discarded.
    pub dead: CardSet,
    /// Can still be played, and all its other copies are discarded.
    pub critical: CardSet,
}

impl Outlook {
    /// The outlook of these fireworks (heights by suit) and discards (a set of copies, as in
    /// [`View::discards`](crate::rules::View::discards)).
    #[must_use]
    pub(crate) fn new(variant: &Variant, fireworks: &[u8], discards: u64) -> Outlook {
        let tables = variant.tables();
        let ranks = usize::from(variant.ranks());
        let (mut played, mut playable) = (0, 0);
        for (suit, &height) in fireworks.iter().enumerate() {
            let next = 1u64 << height << (suit * ranks);
            let suit_cards = tables.suit_cards[suit];
            played |= next.wrapping_sub(1) & suit_cards;
            playable |= next & suit_cards;
        }
        let exhausted = gather_bits(discards, tables.last_copies) & !played;
        let lonely = gather_bits(discards | tables.single_copies, tables.last_copy_left);
        let mut blocked = exhausted;
        for _ in 1..ranks {
            blocked |= blocked << 1 & !tables.rank_cards[0];
        }
        let dead = played | blocked & tables.all_cards;
        Outlook {
            playable: CardSet(playable & !dead),
            dead: CardSet(dead),
            critical: CardSet(lonely & !dead),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::rules::{EpisodeSeed, GameRng, PRESETS, State};

    /// The definitions, card by card.
    fn naive(state: &State) -> Outlook {
        let (variant, position) = (state.variant(), state.position());
        let mut outlook = Outlook::default();
        for card in variant.card_kinds() {
            let height = usize::from(position.fireworks(variant)[card.suit.index()]);
            let set = CardSet::of(variant.card_index_unchecked(card));
            let left = |card| variant.copies(card) - position.discarded(variant, card);
            let mut path = variant.card_kinds().filter(|other| {
                other.suit == card.suit
                    && (height..=card.rank.index()).contains(&other.rank.index())
            });
            if height > card.rank.index() || path.any(|needed| left(needed) == 0) {
                outlook.dead |= set;
                continue;
            }
            if height == card.rank.index() {
                outlook.playable |= set;
            }
            if left(card) == 1 {
                outlook.critical |= set;
            }
        }
        outlook
    }

    #[test]
    fn the_outlook_equals_its_definition() {
        for row in PRESETS {
            let variant = Arc::new(Variant::new(row.parameters()).unwrap());
            for game in 0..20 {
                let seed = EpisodeSeed { seed: 3, game, episode: 0 };
                let mut state = State::new(variant.clone(), seed);
                let mut rng = GameRng::for_samples(game);
                while state.ending().is_none() {
                    assert_eq!(state.position().outlook(&variant), naive(&state), "{state}");
                    let legal: Vec<_> = state.legal_actions().iter().collect();
                    // The first actions are discards and plays, which change the outlook.
                    let chosen = rng.below(legal.len().min(10) as u32) as usize;
                    state.apply(legal[chosen]).unwrap();
                }
            }
        }
    }
}
