use super::counts::Counts;
use crate::rules::{CardSet, Variant, View};

/// What lies open to everybody, as sets of kinds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Piles {
    /// The discards that are the last copies of their kinds.
    exhausted: u64,
    /// On its stack already.
    pub played: CardSet,
    /// The next card of each stack, even where its copies are all discarded.
    pub next: CardSet,
    /// Above a card whose copies are all discarded, or such a card itself.
    pub blocked: CardSet,
}

impl Piles {
    /// Can never be played.
    pub fn dead(&self) -> CardSet {
        self.played | self.blocked
    }

    /// Learns what was played and discarded since the last time.
    #[inline]
    pub fn catch_up(&mut self, view: &View<'_>) {
        let tables = view.variant().tables();
        let lowest = tables.rank_cards[0];
        let ranks = usize::from(view.variant().ranks());
        // A bit above each stack's top minus the lowest bit of its suit: all cards of the stack.
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

    /// What these last copies block.
    fn block(&mut self, variant: &Variant, exhausted: u64) {
        let tables = variant.tables();
        self.exhausted = exhausted;
        let copies = CardSet(exhausted).iter();
        let mut blocked: CardSet = copies.map(|copy| tables.copy_card[copy].into()).collect();
        for _ in 1..variant.ranks() {
            blocked |= CardSet(blocked.0 << 1 & !tables.rank_cards[0]);
        }
        self.blocked = blocked & CardSet(tables.all_cards);
    }
}

/// The copies of each kind that are played or discarded, as far as somebody asked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gone {
    counts: Counts,
    discards: u64,
    played: CardSet,
}

impl Gone {
    /// The copies that are gone now, when these cards are played.
    pub fn count(&mut self, view: &View<'_>, played: CardSet) -> Counts {
        let tables = view.variant().tables();
        let discards = view.discards();
        for copy in CardSet(discards & !self.discards).iter() {
            self.counts.add(tables.copy_card[copy].into());
        }
        for kind in (played - self.played).iter() {
            self.counts.add(kind);
        }
        (self.discards, self.played) = (discards, played);
        self.counts
    }
}
