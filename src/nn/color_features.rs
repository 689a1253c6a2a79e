//! Features by colour: an observation as one row of numbers for each colour, all laid out alike,
//! and a row for what belongs to no colour. A permutation of the colours permutes the rows of the
//! colours and leaves the other row as it is.
//!
//! They are a function of the bits of a canonical observation, so that rollouts, stored games and
//! files keep the bits.

use crate::encode::{Layout, Section};
use crate::rules::{
    Belief, CardSet, MAX_CARD_KINDS, MAX_COLORS, MAX_HAND_SIZE, MAX_PLAYERS, Outlook, Variant,
    named,
};

named!("weights",
    /// How the cards of the observer's hand are weighed.
    #[derive(Default)]
    CardWeights {
        /// Each slot by itself: the unseen copies of the cards that its hints allow.
        #[default]
        Slots = "slots",
        /// All slots together: the exact marginals of [`Belief`].
        Hands = "hands",
    }
);

/// The most kinds of cards.
const KINDS: usize = MAX_CARD_KINDS;

/// The features of observations of one layout.
///
/// Each row of a colour has these sections; a slot without a card is 0:
/// - `cards` (offsets, slots, ranks): the visible cards of the colour;
/// - `card_flags` (offsets, slots, 3): whether they are playable, dead, critical
///   ([`View::outlook`](crate::rules::View::outlook));
/// - `own` (slots, ranks): the probability of each card of the colour in each slot of the observer;
/// - `plausible` (offsets, slots, ranks): the cards of the colour that the hints to the other seats
///   allow;
/// - `hinted` (seats, slots): whether the colour was hinted, the observer's hand first;
/// - `firework` (ranks): its height, one-hot; nothing for an empty one;
/// - `discarded`, `unseen` (ranks): copies, as shares of all copies of the card;
/// - `dead`, `critical` (ranks): of the cards of the colour;
/// - `last_color`: whether the last turn hinted the colour;
/// - `last_card` (ranks): the card of the last play or discard;
/// - `announced`, with timed display: whether the last play announced the colour;
/// - `copies` (ranks), if the colours have different copies: as shares of the most copies of any
///   card.
///
/// The other row has:
/// - `own_flags` (slots, 3): the probability that a card of the observer is playable, dead,
///   critical;
/// - `flags` (offsets, slots, 3): the same of the visible cards;
/// - `card_ranks` (offsets, slots, ranks): their ranks;
/// - `hinted_ranks` (seats, slots, ranks);
/// - the sections of the observation that no colour is part of, as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct ColorFeatures {
    variant: Variant,
    weights: CardWeights,
    /// The number of bits of an observation.
    bits: usize,
    colors: usize,
    ranks: usize,
    players: usize,
    hand_size: usize,
    row: Layout,
    rest: Layout,
    starts: Starts,
    /// The sections that are copied into the other row.
    copied: Vec<Section>,
    /// Whether all colours have the same copies.
    same_copies: bool,
    /// Copies of each card.
    copies: [u8; KINDS],
    /// The inverse of the number of copies of each card.
    shares: [f32; KINDS],
}

/// The first bits of the sections that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Starts {
    hands: usize,
    fireworks: usize,
    discards: usize,
    last_color: usize,
    last_card: usize,
    knowledge: usize,
    announced: Option<usize>,
}

/// The sections that no colour is part of.
const COPIED: [&str; 12] = [
    "short_hands",
    "deck_size",
    "information_tokens",
    "life_tokens",
    "last_player",
    "last_type",
    "last_target",
    "last_rank",
    "last_touched",
    "last_slot",
    "last_added",
    "last_regained",
];

/// What a canonical observation says.
struct Observation {
    /// The visible card of each offset and slot, as a set of one or none.
    cards: [[u64; MAX_HAND_SIZE]; MAX_PLAYERS],
    /// What the hints say of each card: the plausible kinds, then the hinted colour and rank.
    knowledge: [[u64; MAX_HAND_SIZE]; MAX_PLAYERS],
    outlook: Outlook,
    heights: [u8; MAX_COLORS],
    discarded: [u8; KINDS],
    unseen: [u8; KINDS],
    /// The probability of each card in each own slot.
    own: [[f32; KINDS]; MAX_HAND_SIZE],
}

/// The row of a colour.
fn row_layout(variant: &Variant, has_announced: bool, same_copies: bool) -> Layout {
    let (players, ranks) = (usize::from(variant.players()), variant.ranks().into());
    let (others, hand_size) = (players - 1, variant.hand_size().into());
    let mut row = Layout::default()
        .with_section("cards", &[others, hand_size, ranks])
        .with_section("card_flags", &[others, hand_size, 3])
        .with_section("own", &[hand_size, ranks])
        .with_section("plausible", &[others, hand_size, ranks])
        .with_section("hinted", &[players, hand_size])
        .with_section("firework", &[ranks])
        .with_section("discarded", &[ranks])
        .with_section("unseen", &[ranks])
        .with_section("dead", &[ranks])
        .with_section("critical", &[ranks])
        .with_section("last_color", &[1])
        .with_section("last_card", &[ranks]);
    if has_announced {
        row = row.with_section("announced", &[1]);
    }
    if same_copies { row } else { row.with_section("copies", &[ranks]) }
}

/// The other row, with the sections that are copied.
fn rest_layout(variant: &Variant, copied: &[Section]) -> Layout {
    let (players, ranks) = (usize::from(variant.players()), variant.ranks().into());
    let (others, hand_size) = (players - 1, variant.hand_size().into());
    let rest = Layout::default()
        .with_section("own_flags", &[hand_size, 3])
        .with_section("flags", &[others, hand_size, 3])
        .with_section("card_ranks", &[others, hand_size, ranks])
        .with_section("hinted_ranks", &[players, hand_size, ranks]);
    let add = |layout: Layout, section: &Section| layout.with_section(section.name, &section.shape);
    copied.iter().fold(rest, add)
}

impl ColorFeatures {
    /// The features of observations of this layout, or `None` if it lacks a section that they need.
    #[must_use]
    pub fn new(variant: &Variant, layout: &Layout, weights: CardWeights) -> Option<ColorFeatures> {
        let start = |name: &str| layout.section(name).map(|section| section.range.start);
        let starts = Starts {
            hands: start("hands")?,
            fireworks: start("fireworks")?,
            discards: start("discards")?,
            last_color: start("last_color")?,
            last_card: start("last_card")?,
            knowledge: start("knowledge")?,
            announced: start("last_announced"),
        };
        let (players, hand_size) = (variant.players().into(), variant.hand_size().into());
        let (colors, ranks) = (variant.colors().into(), variant.ranks().into());
        let copied: Vec<Section> =
            COPIED.iter().filter_map(|name| layout.section(name)).cloned().collect();
        let (mut copies, mut shares) = ([0; KINDS], [0.0; KINDS]);
        for card in variant.card_kinds() {
            copies[variant.card_index_unchecked(card)] = variant.copies(card);
            shares[variant.card_index_unchecked(card)] = 1.0 / f32::from(variant.copies(card));
        }
        let same_copies =
            copies[..colors * ranks].chunks(ranks).all(|suit| suit == &copies[..ranks]);
        let row = row_layout(variant, starts.announced.is_some(), same_copies);
        let rest = rest_layout(variant, &copied);
        let (variant, bits) = (variant.clone(), layout.len());
        Some(ColorFeatures {
            variant,
            weights,
            bits,
            colors,
            ranks,
            players,
            hand_size,
            row,
            rest,
            starts,
            copied,
            same_copies,
            copies,
            shares,
        })
    }

    /// The number of bits of an observation.
    #[must_use]
    pub const fn bits(&self) -> usize {
        self.bits
    }

    /// The number of colours.
    #[must_use]
    pub const fn colors(&self) -> usize {
        self.colors
    }

    /// The sections of the row of a colour.
    #[must_use]
    pub const fn row(&self) -> &Layout {
        &self.row
    }

    /// The sections of the row of what belongs to no colour.
    #[must_use]
    pub const fn rest(&self) -> &Layout {
        &self.rest
    }

    /// The number of features: the rows of all colours, then the other row.
    #[must_use]
    pub fn len(&self) -> usize {
        self.colors * self.row.len() + self.rest.len()
    }

    /// Writes the features of a packed observation.
    ///
    /// # Panics
    /// If there are fewer words than an observation has, or `out` has another length.
    pub fn write(&self, words: &[u64], out: &mut [f32]) {
        assert!(words.len() >= self.bits.div_ceil(64) && out.len() == self.len());
        let seen = self.see(words);
        let (rows, rest) = out.split_at_mut(self.colors * self.row.len());
        for (color, row) in rows.chunks_exact_mut(self.row.len()).enumerate() {
            self.write_color(words, &seen, color, Writer { out: row, next: 0 });
        }
        self.write_rest(words, &seen, Writer { out: rest, next: 0 });
    }

    /// Reads an observation, and computes what follows from it.
    fn see(&self, words: &[u64]) -> Observation {
        let Starts { hands, fireworks, discards, knowledge, .. } = self.starts;
        let kinds = self.colors * self.ranks;
        let mut cards = [[0; MAX_HAND_SIZE]; MAX_PLAYERS];
        let mut known = [[0; MAX_HAND_SIZE]; MAX_PLAYERS];
        let width = kinds + self.colors + self.ranks;
        for offset in 0..self.players {
            for slot in 0..self.hand_size {
                let place = offset * self.hand_size + slot;
                known[offset][slot] = field(words, knowledge + place * width, width);
                if offset > 0 {
                    let place = place - self.hand_size;
                    cards[offset][slot] = field(words, hands + place * kinds, kinds);
                }
            }
        }
        let mut heights = [0; MAX_COLORS];
        for (color, height) in heights[..self.colors].iter_mut().enumerate() {
            let stack = field(words, fireworks + color * self.ranks, self.ranks);
            *height = (64 - stack.leading_zeros()) as u8;
        }
        let discards = field(words, discards, self.variant.deck_size().into());
        let (mut discarded, mut unseen) = ([0; KINDS], self.copies);
        for kind in 0..kinds {
            let copies = self.variant.tables().copy_field[kind];
            discarded[kind] = (discards & copies).count_ones() as u8;
            let is_played = (kind % self.ranks) < usize::from(heights[kind / self.ranks]);
            unseen[kind] = unseen[kind].saturating_sub(discarded[kind] + u8::from(is_played));
        }
        for card in cards[1..self.players].iter().flat_map(|hand| &hand[..self.hand_size]) {
            for kind in CardSet(*card).iter() {
                unseen[kind] = unseen[kind].saturating_sub(1);
            }
        }
        let outlook = Outlook::new(&self.variant, &heights[..self.colors], discards);
        let own = self.own(&known[0], &unseen);
        Observation { cards, knowledge: known, outlook, heights, discarded, unseen, own }
    }

    /// The probability of each card in each own slot.
    fn own(
        &self,
        known: &[u64; MAX_HAND_SIZE],
        unseen: &[u8; KINDS],
    ) -> [[f32; KINDS]; MAX_HAND_SIZE] {
        let kinds = self.colors * self.ranks;
        let mut own = [[0.0; KINDS]; MAX_HAND_SIZE];
        let plausible = known.map(|known| known & ((1 << kinds) - 1));
        if self.weights == CardWeights::Hands {
            // Cards are drawn to the last slot, and a short hand is short at its end.
            let size = plausible.iter().take_while(|&&set| set != 0).count();
            let mut marginals = [0.0f64; KINDS * MAX_HAND_SIZE];
            let marginals = &mut marginals[..size * kinds];
            let sets = plausible.map(CardSet);
            let size_of_variant = [self.colors as u8, self.ranks as u8];
            Belief::of(&sets[..size], *unseen, size_of_variant).write_marginals(marginals);
            for (own, marginals) in own.iter_mut().zip(marginals.chunks(kinds)) {
                own.iter_mut().zip(marginals).for_each(|(own, &share)| *own = share as f32);
            }
            return own;
        }
        for (own, plausible) in own.iter_mut().zip(plausible) {
            let copies = |kind: usize| f32::from(unseen[kind]);
            let total: f32 = CardSet(plausible).iter().map(copies).sum();
            if total > 0.0 {
                CardSet(plausible).iter().for_each(|kind| own[kind] = copies(kind) / total);
            }
        }
        own
    }

    fn write_color(&self, words: &[u64], seen: &Observation, color: usize, mut row: Writer<'_>) {
        let (ranks, first) = (self.ranks, color * self.ranks);
        let kinds = self.colors * ranks;
        let of_color = |set: u64| set >> first & ((1 << ranks) - 1);
        let hands = || seen.cards[1..self.players].iter().map(|hand| &hand[..self.hand_size]);
        let sets = flags(&seen.outlook);
        for &card in hands().flatten() {
            row.bits(of_color(card), ranks);
        }
        for &card in hands().flatten() {
            let card = card & ((1 << ranks) - 1) << first;
            sets.iter().for_each(|set| row.bit(card & set != 0));
        }
        for own in &seen.own[..self.hand_size] {
            row.numbers(&own[first..first + ranks]);
        }
        let known = || seen.knowledge[..self.players].iter().map(|hand| &hand[..self.hand_size]);
        for &card in known().skip(1).flatten() {
            row.bits(of_color(card), ranks);
        }
        for &card in known().flatten() {
            row.bit(card >> (kinds + color) & 1 == 1);
        }
        row.bits(1 << seen.heights[color] >> 1, ranks);
        for kind in first..first + ranks {
            row.number(f32::from(seen.discarded[kind]) * self.shares[kind]);
        }
        for kind in first..first + ranks {
            row.number(f32::from(seen.unseen[kind]) * self.shares[kind]);
        }
        row.bits(of_color(seen.outlook.dead.0), ranks);
        row.bits(of_color(seen.outlook.critical.0), ranks);
        row.bit(field(words, self.starts.last_color + color, 1) == 1);
        row.bits(field(words, self.starts.last_card + first, ranks), ranks);
        if let Some(announced) = self.starts.announced {
            row.bit(field(words, announced + color, 1) == 1);
        }
        if !self.same_copies {
            let most = f32::from(self.copies.iter().copied().max().unwrap_or(1));
            self.copies[first..first + ranks]
                .iter()
                .for_each(|&copies| row.number(f32::from(copies) / most));
        }
        debug_assert_eq!(row.next, row.out.len());
    }

    fn write_rest(&self, words: &[u64], seen: &Observation, mut row: Writer<'_>) {
        let kinds = self.colors * self.ranks;
        let sets = flags(&seen.outlook);
        for own in &seen.own[..self.hand_size] {
            for set in sets {
                row.number(CardSet(set).iter().fold(0.0, |sum, kind| sum + own[kind]));
            }
        }
        let hands = || seen.cards[1..self.players].iter().map(|hand| &hand[..self.hand_size]);
        for &card in hands().flatten() {
            sets.iter().for_each(|set| row.bit(card & set != 0));
        }
        for &card in hands().flatten() {
            let kind = CardSet(card).iter().next();
            row.bits(kind.map_or(0, |kind| 1 << (kind % self.ranks)), self.ranks);
        }
        for hand in &seen.knowledge[..self.players] {
            for &card in &hand[..self.hand_size] {
                row.bits(card >> (kinds + self.colors), self.ranks);
            }
        }
        for section in &self.copied {
            for start in section.range.clone().step_by(32) {
                let width = (section.range.end - start).min(32);
                row.bits(field(words, start, width), width);
            }
        }
        debug_assert_eq!(row.next, row.out.len());
    }
}

/// The sets of playable, dead and critical cards.
fn flags(outlook: &Outlook) -> [u64; 3] {
    [outlook.playable.0, outlook.dead.0, outlook.critical.0]
}

/// Writes numbers one after the other.
struct Writer<'a> {
    out: &'a mut [f32],
    next: usize,
}

impl Writer<'_> {
    #[inline]
    fn number(&mut self, number: f32) {
        self.out[self.next] = number;
        self.next += 1;
    }

    #[inline]
    fn bit(&mut self, bit: bool) {
        self.number(f32::from(u8::from(bit)));
    }

    /// The lowest bits of a word.
    #[inline]
    fn bits(&mut self, word: u64, width: usize) {
        for (index, out) in self.out[self.next..][..width].iter_mut().enumerate() {
            *out = (word >> index & 1) as f32;
        }
        self.next += width;
    }

    #[inline]
    fn numbers(&mut self, numbers: &[f32]) {
        self.out[self.next..][..numbers.len()].copy_from_slice(numbers);
        self.next += numbers.len();
    }
}

/// Extracts `width` bits, 1 to 64, from bit `start` on.
#[inline]
fn field(words: &[u64], start: usize, width: usize) -> u64 {
    let (word, shift) = (start / 64, start % 64);
    let mut bits = words[word] >> shift;
    if shift + width > 64 {
        bits |= words[word + 1] << (64 - shift);
    }
    bits & u64::MAX >> (64 - width)
}
