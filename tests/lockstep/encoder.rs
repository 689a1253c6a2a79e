//! An encoder as in another crate: the batch has no code of its own for it.

use starmine::encode::{BitWriter, Encoder, Layout};
use starmine::rules::{Card, Offset, Slot, Variant, View};

/// Encodes everything that a view shows.
pub struct Outside;

fn knowledge_bits(variant: &Variant) -> usize {
    variant.num_card_kinds() + usize::from(variant.colors() + variant.ranks())
}

fn offsets(variant: &Variant) -> impl Iterator<Item = Offset> {
    Offset::ALL.into_iter().take(variant.players().into())
}

impl Encoder for Outside {
    fn name(&self) -> &'static str {
        "outside"
    }

    fn layout(&self, variant: &Variant) -> Layout {
        let (players, hand_size) = (variant.players().into(), variant.hand_size().into());
        Layout::default()
            .with_section("sizes", &[players, 3])
            .with_section("cards", &[players, hand_size, 5])
            .with_section("knowledge", &[players, hand_size, knowledge_bits(variant)])
            .with_section("table", &[variant.colors().into(), 3])
            .with_section("discards", &[variant.num_card_kinds(), 3])
            .with_section("counters", &[6, 7])
            .with_section("legal", &[2, 64])
            .with_section("event", &[6, 8])
    }

    fn encode(&self, view: &View<'_>, bits: &mut BitWriter<'_>) {
        let variant = view.variant();
        let hand_size = variant.hand_size().into();
        check_cards(view);
        offsets(variant).for_each(|offset| bits.push(view.hand_size(offset) as u64, 3));
        for offset in offsets(variant) {
            let mut cards = view.hand(offset);
            for _ in 0..hand_size {
                bits.push(cards.next().map_or(31, |card| variant.card_index(card) as u64), 5);
            }
        }
        for offset in offsets(variant) {
            for slot in Slot::ALL.into_iter().take(hand_size) {
                let known = view.knowledge(offset, slot).map_or(0, |known| known.bits());
                bits.push(known, knowledge_bits(variant));
            }
        }
        view.fireworks().iter().for_each(|&height| bits.push(height.into(), 3));
        for card in variant.card_kinds() {
            bits.push(view.discarded(card).into(), 3);
        }
        let tokens = [view.information_tokens(), view.life_tokens()];
        let seats = [view.current_player().into(), view.offset(view.current_player()).into()];
        let [information, lives] = tokens;
        for counter in [information, lives, view.deck_size(), view.score(), seats[0], seats[1]] {
            bits.push(counter.into(), 7);
        }
        let legal = view.legal_actions().bits();
        bits.push(legal as u64, 64);
        bits.push((legal >> 64) as u64, 64);
        for number in event(view) {
            bits.push(number.into(), 8);
        }
    }
}

/// Checks that no card is visible more often than it has copies.
fn check_cards(view: &View<'_>) {
    let variant = view.variant();
    for card in variant.card_kinds() {
        let held = offsets(variant).flat_map(|offset| view.hand(offset));
        let held = held.filter(|&other| other == card).count() as u8;
        let played = u8::from(usize::from(view.stack(card.suit)) > card.rank.index());
        assert!(held + played + view.discarded(card) <= variant.copies(card), "too many {card}");
    }
}

fn event(view: &View<'_>) -> [u8; 6] {
    let variant = view.variant();
    let number = |card: Option<Card>| card.map_or(0, |card| 1 + variant.card_index(card) as u8);
    view.last_event().map_or([0; 6], |event| {
        let action = variant.move_to_action(event.played).expect("it was played");
        let rest = event.regained << 1 | u8::from(event.added);
        let drawn = number(event.drawn);
        let touched = event.touched.iter().map(|slot| 1 << slot.index()).sum();
        [u8::from(event.seat) + 1, action.into(), touched, number(event.card), rest, drawn]
    })
}
