//! The canonical observation of the Hanabi Learning Environment (Bard et al., "The Hanabi
//! Challenge", 2020), equal to HLE's to the bit, in its three types.

use super::bits::BitWriter;
use super::layout::{Layout, LayoutBuilder};
use super::Encoder;
use crate::rules::{Event, Hint, Move, Sight, Variant, View};

/// One of HLE's three observation types.
#[derive(Clone, Copy, Debug)]
pub struct Canonical {
    name: &'static str,
    sight: Sight,
    with_knowledge: bool,
}

/// HLE's `card_knowledge`: what hints have said about every card is part of the observation.
pub static CANONICAL: Canonical = Canonical {
    name: "canonical",
    sight: Sight::Seat,
    with_knowledge: true,
};

/// HLE's `minimal`: without card knowledge.
pub static CANONICAL_MINIMAL: Canonical = Canonical {
    name: "canonical-minimal",
    sight: Sight::Seat,
    with_knowledge: false,
};

/// HLE's `seer`: card knowledge as if every card had been fully hinted when it was dealt, so that
/// the observer knows its own hand.
pub static CANONICAL_SEER: Canonical = Canonical {
    name: "canonical-seer",
    sight: Sight::Seer,
    with_knowledge: true,
};

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
        self.sight
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
        if !self.with_knowledge {
            return builder.build();
        }
        builder.section("knowledge", &[sizes.players, sizes.hand_size, sizes.knowledge()]).build()
    }

    fn encode(&self, view: &View<'_>, bits: &mut BitWriter<'_>) {
        let sizes = Sizes::of(view.variant());
        encode_hands(view, &sizes, bits);
        encode_board(view, &sizes, bits);
        bits.push(view.discards(), view.variant().deck_size().into());
        encode_last_event(view, &sizes, bits);
        if self.with_knowledge {
            encode_knowledge(view, &sizes, bits);
        }
    }
}

fn encode_hands(view: &View<'_>, sizes: &Sizes, bits: &mut BitWriter<'_>) {
    for offset in 1..sizes.players {
        let cards = view.hand_indices(offset);
        for &card in cards {
            bits.push(1 << card, sizes.cards);
        }
        bits.skip((sizes.hand_size - cards.len()) * sizes.cards);
    }
    for offset in 0..sizes.players {
        bits.push(u64::from(view.hand_size(offset) < sizes.hand_size), 1);
    }
}

fn encode_board(view: &View<'_>, sizes: &Sizes, bits: &mut BitWriter<'_>) {
    let variant = view.variant();
    bits.thermometer(view.deck_size(), variant.dealt_deck_size().into());
    for &height in view.fireworks() {
        bits.push((1 << height) >> 1, sizes.ranks);
    }
    bits.thermometer(view.information_tokens(), variant.max_information_tokens().into());
    bits.thermometer(view.life_tokens(), variant.max_life_tokens().into());
}

fn encode_last_event(view: &View<'_>, sizes: &Sizes, bits: &mut BitWriter<'_>) {
    let Some(event) = view.last_event() else {
        let hand_fields = 2 * sizes.hand_size;
        bits.skip(2 * sizes.players + 4 + sizes.knowledge() + hand_fields + 2);
        return;
    };
    bits.one_hot(Some(view.offset(event.seat.into())), sizes.players);
    match event.played {
        Move::Play { slot } => encode_card_event(0, slot, &event, view, sizes, bits),
        Move::Discard { slot } => encode_card_event(1, slot, &event, view, sizes, bits),
        Move::Hint { offset, hint } => encode_hint_event(offset, hint, &event, view, sizes, bits),
    }
}

fn encode_card_event(
    kind: usize,
    slot: u8,
    event: &Event,
    view: &View<'_>,
    sizes: &Sizes,
    bits: &mut BitWriter<'_>,
) {
    let is_play = kind == 0;
    bits.one_hot(Some(kind), 4);
    bits.skip(sizes.players + sizes.colors + sizes.ranks + sizes.hand_size);
    bits.one_hot(Some(slot.into()), sizes.hand_size);
    bits.one_hot(event.card.map(|card| view.variant().card_index(card)), sizes.cards);
    bits.push(u64::from(event.added), 1);
    bits.push(u64::from(is_play && event.regained > 0), 1);
}

fn encode_hint_event(
    offset: u8,
    hint: Hint,
    event: &Event,
    view: &View<'_>,
    sizes: &Sizes,
    bits: &mut BitWriter<'_>,
) {
    let (kind, suit, rank) = match hint {
        Hint::Color(suit) => (2, Some(suit.index()), None),
        Hint::Rank(rank) => (3, None, Some(rank.index())),
    };
    let target = view.offset(event.seat.into()) + usize::from(offset);
    bits.one_hot(Some(kind), 4);
    bits.one_hot(Some(target % sizes.players), sizes.players);
    bits.one_hot(suit, sizes.colors);
    bits.one_hot(rank, sizes.ranks);
    bits.push(event.touched.0.into(), sizes.hand_size);
    bits.skip(sizes.hand_size + sizes.cards + 2);
}

fn encode_knowledge(view: &View<'_>, sizes: &Sizes, bits: &mut BitWriter<'_>) {
    for offset in 0..sizes.players {
        for slot in 0..sizes.hand_size {
            bits.push(view.knowledge(offset, slot).bits(), sizes.knowledge());
        }
    }
}
