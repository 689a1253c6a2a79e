use super::layer::Inputs;
use crate::encode::Layout;
use crate::rules::Variant;

/// Cards of an observation: where their fields begin, and how far apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cards {
    start: usize,
    step: usize,
    count: usize,
}

/// Says of each card how probably it can be played now, and how probably never again.
///
/// A card in sight is taken for itself, and every card, the own ones too, once more for each that
/// its hints allow, all equally likely. They are two numbers for each card, first those in sight,
/// then those that hints tell of where the observation has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CardFeatures {
    /// Bits of an observation, after which these features come.
    first: usize,
    fireworks: usize,
    colors: usize,
    ranks: usize,
    cards: Vec<Cards>,
}

impl CardFeatures {
    /// Of observations of this layout, or `None` where it lacks the sections.
    pub fn new(variant: &Variant, layout: &Layout) -> Option<CardFeatures> {
        let (colors, ranks) = (usize::from(variant.colors()), usize::from(variant.ranks()));
        let (hands, fireworks) = (layout.section("hands")?, layout.section("fireworks")?);
        if fireworks.shape != [colors, ranks] || !hands.shape.ends_with(&[colors, ranks]) {
            return None;
        }
        let cards =
            |start: usize, length: usize, step: usize| Cards { start, step, count: length / step };
        let mut groups = vec![cards(hands.range.start, hands.range.len(), colors * ranks)];
        if let Some(knowledge) = layout.section("knowledge") {
            let &step = knowledge.shape.last().filter(|&&step| step >= colors * ranks)?;
            groups.push(cards(knowledge.range.start, knowledge.range.len(), step));
        }
        let fireworks = fireworks.range.start;
        Some(CardFeatures { first: layout.len(), fireworks, colors, ranks, cards: groups })
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.cards.iter().map(|cards| 2 * cards.count).sum()
    }

    /// Appends those of an observation that are not zero.
    pub fn push(&self, words: &[u64], inputs: &mut Inputs) {
        let (playable, dead) = self.kinds(words);
        let mut index = self.first as u32;
        for cards in &self.cards {
            for card in 0..cards.count {
                let possible =
                    field(words, cards.start + card * cards.step, self.colors * self.ranks);
                let share = 1.0 / possible.count_ones().max(1) as f32;
                for kinds in [playable, dead] {
                    let count = (possible & kinds).count_ones();
                    if count > 0 {
                        inputs.push((index, count as f32 * share));
                    }
                    index += 1;
                }
            }
        }
    }

    /// The cards that can be played next, and those that have been played.
    fn kinds(&self, words: &[u64]) -> (u64, u64) {
        let (mut playable, mut dead) = (0, 0);
        for suit in 0..self.colors {
            let first = suit * self.ranks;
            // A one for the height, from 1.
            let height = field(words, self.fireworks + first, self.ranks);
            let next = if height == 0 { 1 } else { height << 1 };
            let all = (1 << self.ranks) - 1;
            playable |= (next & all) << first;
            dead |= (height | height.saturating_sub(1)) << first;
        }
        (playable, dead)
    }
}

/// So many bits, fewer than 64, from this one on.
fn field(words: &[u64], start: usize, width: usize) -> u64 {
    let (word, shift) = (start / 64, start % 64);
    let mut bits = words[word] >> shift;
    if shift + width > 64 {
        bits |= words[word + 1] << (64 - shift);
    }
    bits & ((1 << width) - 1)
}
