//! The canonical observation of the Hanabi Learning Environment (Bard et al., "The Hanabi
//! Challenge", 2020), equal to HLE's to the bit, in its three types. Timed display, which HLE does
//! not know, appends one section.

use super::Encoder;
use super::bits::BitWriter;
use super::layout::{Layout, LayoutBuilder};
use crate::rules::{Hint, Move, Sight, Variant, View};

/// What a canonical observation says about what hints have said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CanonicalKnowledge {
    /// Nothing: the section is left out.
    Left,
    /// What each hint has said.
    Hinted,
    /// As if every card had been fully hinted.
    Full,
}

/// One of HLE's three observation types.
#[derive(Clone, Copy, Debug)]
pub struct Canonical {
    name: &'static str,
    knowledge: CanonicalKnowledge,
}

/// HLE's `card_knowledge`: what hints have said about every card is part of the observation.
pub static CANONICAL: Canonical =
    Canonical { name: "canonical", knowledge: CanonicalKnowledge::Hinted };

/// HLE's `minimal`: without card knowledge.
pub static CANONICAL_MINIMAL: Canonical =
    Canonical { name: "canonical-minimal", knowledge: CanonicalKnowledge::Left };

/// HLE's `seer`: card knowledge as if every card had been fully hinted when it was dealt, so that
/// the observer knows its own hand.
pub static CANONICAL_SEER: Canonical =
    Canonical { name: "canonical-seer", knowledge: CanonicalKnowledge::Full };

/// The sizes that every section is made of.
struct Sizes {
    players: usize,
    colors: usize,
    ranks: usize,
    hand_size: usize,
    cards: usize,
}

impl Sizes {
    fn of(variant: &Variant) -> Sizes {
        Sizes {
            players: variant.players().into(),
            colors: variant.colors().into(),
            ranks: variant.ranks().into(),
            hand_size: variant.hand_size().into(),
            cards: variant.num_card_kinds(),
        }
    }

    const fn knowledge(&self) -> usize {
        self.cards + self.colors + self.ranks
    }
}

impl Encoder for Canonical {
    fn name(&self) -> &'static str {
        self.name
    }

    fn sight(&self) -> Sight {
        match self.knowledge {
            CanonicalKnowledge::Full => Sight::Seer,
            CanonicalKnowledge::Left | CanonicalKnowledge::Hinted => Sight::Seat,
        }
    }

    fn canonical_knowledge(&self) -> Option<CanonicalKnowledge> {
        Some(self.knowledge)
    }

    fn layout(&self, variant: &Variant) -> Layout {
        let sizes = Sizes::of(variant);
        let builder = LayoutBuilder::default()
            .section("hands", &[sizes.players - 1, sizes.hand_size, sizes.colors, sizes.ranks])
            .section("short_hands", &[sizes.players])
            .section("deck_size", &[variant.dealt_deck_size().into()])
            .section("fireworks", &[sizes.colors, sizes.ranks])
            .section("information_tokens", &[variant.max_information_tokens().into()])
            .section("life_tokens", &[variant.max_life_tokens().into()])
            .section("discards", &[variant.deck_size().into()])
            .section("last_player", &[sizes.players])
            .section("last_type", &[4])
            .section("last_target", &[sizes.players])
            .section("last_color", &[sizes.colors])
            .section("last_rank", &[sizes.ranks])
            .section("last_touched", &[sizes.hand_size])
            .section("last_slot", &[sizes.hand_size])
            .section("last_card", &[sizes.colors, sizes.ranks])
            .section("last_added", &[1])
            .section("last_regained", &[1]);
        let knowledge = [sizes.players, sizes.hand_size, sizes.knowledge()];
        let builder = match self.knowledge {
            CanonicalKnowledge::Left => builder,
            _ => builder.section("knowledge", &knowledge),
        };
        if variant.timed_display() {
            builder.section("last_announced", &[sizes.colors]).build()
        } else {
            builder.build()
        }
    }

    fn encode(&self, view: &View<'_>, bits: &mut BitWriter<'_>) {
        let sizes = Sizes::of(view.variant());
        encode_hands(view, &sizes, bits);
        encode_board(view, &sizes, bits);
        bits.push(view.discards(), view.variant().deck_size().into());
        encode_last_event(view, &sizes, bits);
        if self.knowledge != CanonicalKnowledge::Left {
            encode_knowledge(view, &sizes, bits);
        }
        if view.variant().timed_display() {
            encode_announcement(view, &sizes, bits);
        }
    }
}

/// Fields put together in one word before they are written, which is cheaper than writing each.
#[derive(Default)]
struct Fields {
    value: u64,
    width: usize,
}

impl Fields {
    #[inline]
    fn add(mut self, value: u64, width: usize) -> Fields {
        self.value |= value << self.width;
        self.width += width;
        self
    }

    #[inline]
    fn thermometer(self, count: u8, width: u8) -> Fields {
        self.add((1 << count) - 1, width.into())
    }

    #[inline]
    fn write(self, bits: &mut BitWriter<'_>) {
        bits.push(self.value, self.width);
    }
}

fn encode_hands(view: &View<'_>, sizes: &Sizes, bits: &mut BitWriter<'_>) {
    let mut short_hands = Fields::default().add(u64::from(view.hand_size(0) < sizes.hand_size), 1);
    for offset in 1..sizes.players {
        let cards = view.hand_indices(offset);
        for &card in cards {
            bits.push(1 << card, sizes.cards);
        }
        let missing = sizes.hand_size - cards.len();
        bits.skip(missing * sizes.cards);
        short_hands = short_hands.add(u64::from(missing > 0), 1);
    }
    short_hands.write(bits);
}

fn encode_board(view: &View<'_>, sizes: &Sizes, bits: &mut BitWriter<'_>) {
    let variant = view.variant();
    bits.thermometer(view.deck_size(), variant.dealt_deck_size().into());
    let mut board = Fields::default();
    for &height in view.fireworks() {
        board = board.add((1 << height) >> 1, sizes.ranks);
    }
    board
        .thermometer(view.information_tokens(), variant.max_information_tokens())
        .thermometer(view.life_tokens(), variant.max_life_tokens())
        .write(bits);
}

fn encode_last_event(view: &View<'_>, sizes: &Sizes, bits: &mut BitWriter<'_>) {
    let Some(event) = view.last_event() else {
        let hand_fields = 2 * sizes.hand_size;
        bits.skip(2 * sizes.players + 4 + sizes.knowledge() + hand_fields + 2);
        return;
    };
    let actor = view.offset(event.seat.into());
    let (kind, slot, hinted) = match event.played {
        Move::Play { slot } | Move::AnnouncedPlay { slot, .. } => (0, 1 << slot, Fields::default()),
        Move::Discard { slot } => (1, 1 << slot, Fields::default()),
        Move::Hint { offset, hint } => {
            let target = view.variant().seat_after(actor, offset.into());
            encode_hint(1 << target, hint, sizes)
        }
    };
    let hint_width = sizes.players + sizes.colors + sizes.ranks;
    Fields::default()
        .add(1 << actor, sizes.players)
        .add(1 << kind, 4)
        .add(hinted.value, hint_width)
        .add(event.touched.0.into(), sizes.hand_size)
        .add(slot, sizes.hand_size)
        .write(bits);
    let card = event.card.map_or(0, |card| 1 << view.variant().card_index(card));
    let regained = kind == 0 && event.regained > 0;
    Fields::default()
        .add(card, sizes.cards)
        .add(event.added.into(), 1)
        .add(regained.into(), 1)
        .write(bits);
}

/// The kind of a hint, no slot, and the fields of its target, colour and rank.
fn encode_hint(target: u64, hint: Hint, sizes: &Sizes) -> (usize, u64, Fields) {
    let target = Fields::default().add(target, sizes.players);
    match hint {
        Hint::Color(suit) => (2, 0, target.add(1 << suit.index(), sizes.colors)),
        Hint::Rank(rank) => (3, 0, target.add(0, sizes.colors).add(1 << rank.index(), sizes.ranks)),
    }
}

fn encode_announcement(view: &View<'_>, sizes: &Sizes, bits: &mut BitWriter<'_>) {
    let announced = match view.last_event().map(|event| event.played) {
        Some(Move::AnnouncedPlay { suit, .. }) => 1 << suit.index(),
        _ => 0,
    };
    bits.push(announced, sizes.colors);
}

fn encode_knowledge(view: &View<'_>, sizes: &Sizes, bits: &mut BitWriter<'_>) {
    for offset in 0..sizes.players {
        for slot in 0..sizes.hand_size {
            bits.push(view.knowledge(offset, slot).bits(), sizes.knowledge());
        }
    }
}
