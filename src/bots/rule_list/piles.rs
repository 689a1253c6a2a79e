use super::counts::Counts;
use crate::rules::{CardSet, Variant, View};

/// What lies open to everybody, brought up to date at each of the bot's own turns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Piles {
    discards: u64,
    exhausted: u64,
    /// Copies that are neither played nor discarded.
    pub left: Counts,
    /// On its stack already.
    pub played: CardSet,
    /// The next card of each stack, even where its copies are all discarded.
    pub next: CardSet,
    /// Above a card whose copies are all discarded, or such a card itself.
    pub blocked: CardSet,
    /// The cards of complete stacks.
    pub complete_suits: CardSet,
    /// The cards of the ranks that every stack has reached.
    pub complete_ranks: CardSet,
}

impl Piles {
    /// Before the first turn.
    pub fn new(variant: &Variant) -> Piles {
        let next = CardSet(variant.tables().rank_cards[0]);
        Piles { left: Counts::all(variant), next, ..Piles::default() }
    }

    /// Can never be played.
    pub fn dead(&self) -> CardSet {
        self.played | self.blocked
    }

    /// Learns what was played and discarded since the last time.
    pub fn catch_up(&mut self, view: &View<'_>) {
        let discarded = view.discards() & !self.discards;
        if discarded != 0 {
            self.add_discards(view.variant(), discarded);
        }
        let tables = view.variant().tables();
        let ranks = usize::from(view.variant().ranks());
        // A bit above each stack's top minus the lowest bit of its suit: all cards of the stack.
        let above = view.fireworks().iter().enumerate();
        let above: u64 = above.map(|(suit, &height)| 1 << height << (suit * ranks)).sum();
        let played = CardSet(above - tables.rank_cards[0]);
        if played != self.played {
            self.add_plays(view.variant(), played);
        }
    }

    fn add_discards(&mut self, variant: &Variant, mut copies: u64) {
        let tables = variant.tables();
        self.discards |= copies;
        while copies != 0 {
            let copy = copies.trailing_zeros() as usize;
            copies &= copies - 1;
            let kind = usize::from(tables.copy_card[copy]);
            self.left.remove(kind);
            self.exhausted |= (tables.last_copies >> copy & 1) << kind;
        }
        self.blocked = CardSet(self.exhausted);
        for _ in 1..variant.ranks() {
            self.blocked |= CardSet(self.blocked.0 << 1 & !tables.rank_cards[0]);
        }
        self.blocked &= CardSet(tables.all_cards);
    }

    fn add_plays(&mut self, variant: &Variant, played: CardSet) {
        let tables = variant.tables();
        for kind in (played - self.played).iter() {
            self.left.remove(kind);
        }
        self.played = played;
        let next = (played.0 << 1 | tables.rank_cards[0]) & tables.all_cards;
        self.next = CardSet(next) - played;
        let (suits, ranks) = (usize::from(variant.colors()), usize::from(variant.ranks()));
        self.complete_suits = complete(&tables.suit_cards[..suits], played);
        self.complete_ranks = complete(&tables.rank_cards[..ranks], played);
    }
}

/// All cards of those sets that are played as a whole.
fn complete(sets: &[u64], played: CardSet) -> CardSet {
    let complete = sets.iter().filter(|&&cards| CardSet(cards).is_subset(played));
    CardSet(complete.fold(0, |all, cards| all | cards))
}
