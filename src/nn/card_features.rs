//! Computed inputs of a plain network: two probabilities for each card.

use crate::encode::Layout;
use crate::rules::Variant;

/// A group of card fields in an observation: the first bit, the stride in bits, and the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CardFields {
    start: usize,
    step: usize,
    count: usize,
}

/// Computed inputs of a network: for each card the probability that it is playable, and the
/// probability that it was played already.
///
/// There are two features for each visible card, which is a single kind. If the observation has
/// card knowledge, two features follow for each card of all hands, with all plausible kinds equally
/// likely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CardFeatures {
    /// The index of the first feature: the number of bits of an observation.
    first: usize,
    /// The first bit of the fireworks section.
    fireworks: usize,
    colors: usize,
    ranks: usize,
    cards: Vec<CardFields>,
}

impl CardFeatures {
    /// The features of observations of this layout, or `None` if it lacks a needed section.
    pub fn new(variant: &Variant, layout: &Layout) -> Option<CardFeatures> {
        let (colors, ranks) = (usize::from(variant.colors()), usize::from(variant.ranks()));
        let (hands, fireworks) = (layout.section("hands")?, layout.section("fireworks")?);
        if fireworks.shape != [colors, ranks] || !hands.shape.ends_with(&[colors, ranks]) {
            return None;
        }
        let cards = |start: usize, length: usize, step: usize| CardFields {
            start,
            step,
            count: length / step,
        };
        let mut groups = vec![cards(hands.range.start, hands.range.len(), colors * ranks)];
        if let Some(knowledge) = layout.section("knowledge") {
            let &step = knowledge.shape.last().filter(|&&step| step >= colors * ranks)?;
            groups.push(cards(knowledge.range.start, knowledge.range.len(), step));
        }
        let fireworks = fireworks.range.start;
        Some(CardFeatures { first: layout.len(), fireworks, colors, ranks, cards: groups })
    }

    /// The number of features.
    pub fn len(&self) -> usize {
        self.cards.iter().map(|cards| 2 * cards.count).sum()
    }

    /// Appends the non-zero features of an observation.
    pub fn push(&self, words: &[u64], inputs: &mut Vec<(u32, f32)>) {
        let (playable, dead) = self.kinds(words);
        let mut index = self.first as u32;
        for cards in &self.cards {
            for card in 0..cards.count {
                let possible =
                    field(words, cards.start + card * cards.step, self.colors * self.ranks);
                let probability = 1.0 / possible.count_ones().max(1) as f32;
                for kinds in [playable, dead] {
                    let count = (possible & kinds).count_ones();
                    if count > 0 {
                        inputs.push((index, count as f32 * probability));
                    }
                    index += 1;
                }
            }
        }
    }

    /// The kinds that are playable, and those that were played.
    fn kinds(&self, words: &[u64]) -> (u64, u64) {
        let (mut playable, mut dead) = (0, 0);
        for suit in 0..self.colors {
            let first = suit * self.ranks;
            // One-hot; 0 for an empty stack.
            let height = field(words, self.fireworks + first, self.ranks);
            let next = if height == 0 { 1 } else { height << 1 };
            let all = (1 << self.ranks) - 1;
            playable |= (next & all) << first;
            dead |= (height | height.saturating_sub(1)) << first;
        }
        (playable, dead)
    }
}

/// Extracts `width` bits, fewer than 64, from bit `start` on.
fn field(words: &[u64], start: usize, width: usize) -> u64 {
    let (word, shift) = (start / 64, start % 64);
    let mut bits = words[word] >> shift;
    if shift + width > 64 {
        bits |= words[word + 1] << (64 - shift);
    }
    bits & ((1 << width) - 1)
}
