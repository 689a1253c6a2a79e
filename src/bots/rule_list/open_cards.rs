//! The fireworks and the discard pile, as sets of kinds and as counts.

use crate::bots::common::copy_counts::CopyCounts;
use crate::rules::{CardSet, Variant, View};

/// The fireworks and the discard pile, as sets of kinds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpenCards {
    /// The discards that were the last copies of their kinds, as a set of copies.
    exhausted: u64,
    /// On its stack.
    pub played: CardSet,
    /// The next kind of each stack, even if its copies are all discarded.
    pub next: CardSet,
    /// Kinds whose copies are all discarded, and all kinds above them.
    pub blocked: CardSet,
}

impl OpenCards {
    /// The kinds that can never be played.
    pub fn dead(&self) -> CardSet {
        self.played | self.blocked
    }

    /// Brings the sets up to date with the view.
    #[inline]
    pub fn update(&mut self, view: &View<'_>) {
        let tables = view.variant().tables();
        let lowest = tables.rank_cards[0];
        let ranks = usize::from(view.variant().ranks());
        // For each suit, the bit above the stack's top minus the lowest bit is the whole stack.
        let heights = view.fireworks().iter().enumerate();
        let above: u64 = heights.map(|(suit, &height)| 1 << height << (suit * ranks)).sum();
        let played = above - lowest;
        self.played = CardSet(played);
        self.next = CardSet((played << 1 | lowest) & tables.all_cards & !played);
        let exhausted = view.discards() & tables.last_copies;
        if exhausted != self.exhausted {
            self.block(view.variant(), exhausted);
        }
    }

    /// Recomputes `blocked` from the exhausted kinds.
    fn block(&mut self, variant: &Variant, exhausted: u64) {
        let tables = variant.tables();
        self.exhausted = exhausted;
        let copies = CardSet(exhausted).iter();
        let mut blocked = CardSet::from_iter(copies.map(|copy| tables.copy_card[copy].into()));
        for _ in 1..variant.ranks() {
            blocked |= CardSet(blocked.0 << 1 & !tables.rank_cards[0]);
        }
        self.blocked = blocked & CardSet(tables.all_cards);
    }
}

/// The number of played or discarded copies of each kind, updated on demand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GoneCopies {
    counts: CopyCounts,
    discards: u64,
    played: CardSet,
}

impl GoneCopies {
    /// The copies that are gone now, given the played kinds.
    pub fn count(&mut self, view: &View<'_>, played: CardSet) -> CopyCounts {
        let tables = view.variant().tables();
        let discards = view.discards();
        for copy in CardSet(discards & !self.discards).iter() {
            self.counts.add(CardSet::of(tables.copy_card[copy].into()));
        }
        self.counts.add(played - self.played);
        (self.discards, self.played) = (discards, played);
        self.counts
    }
}
