//! The fireworks and the discard pile, as sets of kinds and as counts.

use crate::bots::copy_counts::CopyCounts;
use crate::rules::{KindSet, Variant, View};

/// The fireworks and the discard pile, as sets of kinds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpenCards {
    /// The discards that were the last copies of their kinds, as a set of copies.
    exhausted: u64,
    /// On its stack.
    pub played: KindSet,
    /// The next kind of each stack, even if its copies are all discarded.
    pub next: KindSet,
    /// Kinds whose copies are all discarded, and all kinds above them.
    pub blocked: KindSet,
}

impl OpenCards {
    /// The kinds that can never be played.
    pub fn dead(&self) -> KindSet {
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
        self.played = KindSet(played);
        self.next = KindSet((played << 1 | lowest) & tables.all_cards & !played);
        let exhausted = view.discards() & tables.last_copies;
        if exhausted != self.exhausted {
            self.block(view.variant(), exhausted);
        }
    }

    /// Recomputes `blocked` from the exhausted kinds.
    fn block(&mut self, variant: &Variant, exhausted: u64) {
        let tables = variant.tables();
        self.exhausted = exhausted;
        let copies = KindSet(exhausted).iter();
        let mut blocked = KindSet::from_indices(copies.map(|copy| tables.copy_card[copy].into()));
        for _ in 1..variant.ranks() {
            blocked |= KindSet(blocked.0 << 1 & !tables.rank_cards[0]);
        }
        self.blocked = blocked & KindSet(tables.all_cards);
    }
}

/// The number of played or discarded copies of each kind, updated on demand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GoneCopies {
    counts: CopyCounts,
    discards: u64,
    played: KindSet,
}

impl GoneCopies {
    /// The copies that are gone now, given the played kinds.
    pub fn count(&mut self, view: &View<'_>, played: KindSet) -> CopyCounts {
        let tables = view.variant().tables();
        let discards = view.discards();
        for copy in KindSet(discards & !self.discards).iter() {
            self.counts.add(KindSet::of(tables.copy_card[copy].into()));
        }
        self.counts.add(played - self.played);
        (self.discards, self.played) = (discards, played);
        self.counts
    }
}
