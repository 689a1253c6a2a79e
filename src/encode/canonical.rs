//! The canonical observation of the Hanabi Learning Environment (Bard et al., "The Hanabi
//! Challenge", 2020) in its three types, equal to HLE's to the bit. Timed display, which HLE does
//! not have, appends one section.

use super::bits::BitWriter;
use super::layout::Layout;
use crate::rules::{Hint, Knowledge, Move, Offset, SeerView, Slot, Variant, View};

/// The lengths of the axes of the sections.
struct Axes {
    players: usize,
    colors: usize,
    ranks: usize,
    hand_size: usize,
    cards: usize,
}

impl Axes {
    fn of(variant: &Variant) -> Axes {
        Axes {
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

/// Writes an observation of what a seat sees, with or without the hints of each card.
pub(super) fn encode_view(view: &View<'_>, has_knowledge: bool, bits: &mut BitWriter<'_>) {
    let axes = Axes::of(view.variant());
    encode_all_but_knowledge(view, &axes, bits, |bits| {
        if has_knowledge {
            encode_knowledge(&axes, bits, |offset, slot| {
                view.knowledge(offset, slot).map_or(0, Knowledge::bits)
            });
        }
    });
}

/// Writes an observation that shows the observer's own hand, with the knowledge of every card.
pub(super) fn encode_seer_view(view: &SeerView<'_>, bits: &mut BitWriter<'_>) {
    let axes = Axes::of(view.seat_view().variant());
    encode_all_but_knowledge(view.seat_view(), &axes, bits, |bits| {
        encode_knowledge(&axes, bits, |offset, slot| {
            view.knowledge(offset, slot).map_or(0, Knowledge::bits)
        });
    });
}

pub(super) fn layout(variant: &Variant, has_knowledge: bool) -> Layout {
    let axes = Axes::of(variant);
    let mut layout = Layout::default()
        .with_section("hands", &[axes.players - 1, axes.hand_size, axes.colors, axes.ranks])
        .with_section("short_hands", &[axes.players])
        .with_section("deck_size", &[variant.dealt_deck_size().into()])
        .with_section("fireworks", &[axes.colors, axes.ranks])
        .with_section("information_tokens", &[variant.max_information_tokens().into()])
        .with_section("life_tokens", &[variant.max_life_tokens().into()])
        .with_section("discards", &[variant.deck_size().into()])
        .with_section("last_player", &[axes.players])
        .with_section("last_type", &[4])
        .with_section("last_target", &[axes.players])
        .with_section("last_color", &[axes.colors])
        .with_section("last_rank", &[axes.ranks])
        .with_section("last_touched", &[axes.hand_size])
        .with_section("last_slot", &[axes.hand_size])
        .with_section("last_card", &[axes.colors, axes.ranks])
        .with_section("last_added", &[1])
        .with_section("last_regained", &[1]);
    if has_knowledge {
        layout =
            layout.with_section("knowledge", &[axes.players, axes.hand_size, axes.knowledge()]);
    }
    if variant.timed_display() {
        layout = layout.with_section("last_announced", &[axes.colors]);
    }
    layout
}

/// Writes all sections; `knowledge` writes that of the hints.
fn encode_all_but_knowledge<'w>(
    view: &View<'_>,
    axes: &Axes,
    bits: &mut BitWriter<'w>,
    knowledge: impl FnOnce(&mut BitWriter<'w>),
) {
    encode_hands(view, axes, bits);
    encode_board(view, axes, bits);
    bits.push(view.discards(), view.variant().deck_size().into());
    encode_last_event(view, axes, bits);
    knowledge(bits);
    if view.variant().timed_display() {
        encode_announcement(view, axes, bits);
    }
}

/// Fields collected in one word, which is cheaper than writing each by itself.
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

fn encode_hands(view: &View<'_>, axes: &Axes, bits: &mut BitWriter<'_>) {
    let mut short_hands =
        Fields::default().add(u64::from(view.hand_size(Offset::OWN) < axes.hand_size), 1);
    for offset in 1..axes.players {
        let cards = view.hand_indices(Offset::new_unchecked(offset));
        for &card in cards {
            bits.push(1 << card, axes.cards);
        }
        let missing = axes.hand_size - cards.len();
        bits.skip(missing * axes.cards);
        short_hands = short_hands.add(u64::from(missing > 0), 1);
    }
    short_hands.write(bits);
}

fn encode_board(view: &View<'_>, axes: &Axes, bits: &mut BitWriter<'_>) {
    let variant = view.variant();
    bits.thermometer(view.deck_size(), variant.dealt_deck_size().into());
    let mut board = Fields::default();
    for &height in view.fireworks() {
        board = board.add((1 << height) >> 1, axes.ranks);
    }
    board
        .thermometer(view.information_tokens(), variant.max_information_tokens())
        .thermometer(view.life_tokens(), variant.max_life_tokens())
        .write(bits);
}

fn encode_last_event(view: &View<'_>, axes: &Axes, bits: &mut BitWriter<'_>) {
    let Some(event) = view.last_event() else {
        let hand_fields = 2 * axes.hand_size;
        bits.skip(2 * axes.players + 4 + axes.knowledge() + hand_fields + 2);
        return;
    };
    let actor = view.offset(event.seat);
    let (kind, slot, hinted) = match event.played {
        Move::Play { slot } | Move::AnnouncedPlay { slot, .. } => {
            (0, 1 << slot.index(), Fields::default())
        }
        Move::Discard { slot } => (1, 1 << slot.index(), Fields::default()),
        Move::Hint { offset, hint } => {
            let target = view.offset(view.variant().seat_after_unchecked(event.seat, offset));
            encode_hint(1 << target.index(), hint, axes)
        }
    };
    let hint_width = axes.players + axes.colors + axes.ranks;
    Fields::default()
        .add(1 << actor.index(), axes.players)
        .add(1 << kind, 4)
        .add(hinted.value, hint_width)
        .add(event.touched.0.into(), axes.hand_size)
        .add(slot, axes.hand_size)
        .write(bits);
    let card = event.card.map_or(0, |card| 1 << view.variant().card_index_unchecked(card));
    let regained = kind == 0 && event.regained > 0;
    Fields::default()
        .add(card, axes.cards)
        .add(event.added.into(), 1)
        .add(regained.into(), 1)
        .write(bits);
}

/// The kind of a hint, its slot bits (none), and the fields of its target, colour and rank.
fn encode_hint(target: u64, hint: Hint, axes: &Axes) -> (usize, u64, Fields) {
    let target = Fields::default().add(target, axes.players);
    match hint {
        Hint::Color(suit) => (2, 0, target.add(1 << suit.index(), axes.colors)),
        Hint::Rank(rank) => (3, 0, target.add(0, axes.colors).add(1 << rank.index(), axes.ranks)),
    }
}

fn encode_announcement(view: &View<'_>, axes: &Axes, bits: &mut BitWriter<'_>) {
    let announced = match view.last_event().map(|event| event.played) {
        Some(Move::AnnouncedPlay { suit, .. }) => 1 << suit.index(),
        _ => 0,
    };
    bits.push(announced, axes.colors);
}

fn encode_knowledge(
    axes: &Axes,
    bits: &mut BitWriter<'_>,
    knowledge: impl Fn(Offset, Slot) -> u64,
) {
    for offset in 0..axes.players {
        for slot in 0..axes.hand_size {
            bits.push(
                knowledge(Offset::new_unchecked(offset), Slot::new_unchecked(slot)),
                axes.knowledge(),
            );
        }
    }
}
