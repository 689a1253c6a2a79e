//! FireFlower, after David Wu's bot (`lightvector/fireflower`), whose moves it makes.
//!
//! Conventions say what a turn means:
//! - A hint that touches what its receiver would discard next, or would play although it is
//!   critical, says to keep the cards that it touches, unless its manner speaks against that.
//! - Any other hint at cards that could be playable says to play them, the newest first, and after
//!   the ones of the same suit that are to be played already.
//! - A hint at a card that is one step from playable says that a player in between has the missing
//!   card: a finesse.
//! - A hint at dead cards says to keep the older ones.
//! - Who discards a playable card says that somebody else has the same.
//!
//! They do not say what to do. For that, the bot tries every sensible move, then what the next
//! player will probably do about it, and takes the one after which the table stands best.
//!
//! - `cards`, `board`: the table as one seat sees it, to be played on ahead
//! - `beliefs`, `mind`: what a player knows and believes
//! - `reactions`, `hints`, `finesse`, `tidy`: how turns change that
//! - `prospects`, `value`: how good a position is
//! - `search`: the choice of a move

mod beliefs;
mod board;
mod cards;
mod finesse;
mod hints;
mod mind;
mod prospects;
mod reactions;
mod search;
#[cfg(test)]
mod tests;
mod tidy;
mod value;

use crate::rules::{CardSet, Event, GameRng, Move, Variant, View};

use super::bot::{Bot, Turn};
use beliefs::Archive;
use board::{Board, Deed, Newest};
use cards::CARDS;
use mind::{Memory, Mind, Past};

/// Plays the base game by conventions about what hints ask for, with a look ahead of two turns.
#[derive(Clone, Debug)]
pub struct Fireflower {
    game: Option<Board>,
    memory: Memory,
    past: Past,
    archive: Archive,
}

impl Fireflower {
    /// A bot that waits for its first game.
    #[must_use]
    pub fn new() -> Fireflower {
        Fireflower { game: None, memory: Memory::NONE, past: Past::NONE, archive: Archive::EMPTY }
    }

    fn mind(&mut self) -> Mind<'_> {
        Mind { memory: &mut self.memory, past: &mut self.past, archive: &mut self.archive }
    }
}

impl Default for Fireflower {
    fn default() -> Fireflower {
        Fireflower::new()
    }
}

impl Bot for Fireflower {
    fn start(&mut self, view: &View<'_>, _: GameRng) {
        let board = Board::new(view);
        (self.memory, self.past) = (Memory::NONE, Past::NONE);
        let mut mind = self.mind();
        for id in Newest(board.held() & !board.blind) {
            mind.see(id, board.face(id));
        }
        mind.look(&board);
        self.game = Some(board);
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        let Some(before) = self.game else { return };
        let mut after = before;
        let variant = turn.after.variant();
        let face = |card| CardSet::of(variant.card_index(card));
        let deed = deed_of(&turn.event, variant);
        if let (Some(slot), Some(card)) = (slot_of(deed), turn.event.card) {
            after.show(before.hands[before.current].id(slot), face(card));
        }
        after.apply(deed);
        let mut mind = self.mind();
        if let Some(card) = turn.event.drawn {
            let drawn = CARDS - usize::from(before.deck);
            after.show(drawn, face(card));
            mind.see(drawn, face(card));
        }
        mind.observe(deed, &before, &after);
        self.game = Some(after);
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        let fallback = Move::Play { slot: view.hand_size(0).saturating_sub(1) as u8 };
        let Some(mut board) = self.game else { return fallback };
        // As long as the maximum is in reach, nothing else counts.
        board.all_or_nothing = !board.is_flawed();
        board.look_ahead();
        let chosen = self.mind().choose(&board).and_then(|deed| move_of(deed, view));
        chosen.filter(|&chosen| view.is_legal(chosen)).unwrap_or(fallback)
    }
}

fn slot_of(deed: Deed) -> Option<usize> {
    match deed {
        Deed::Play { slot } | Deed::Discard { slot } => Some(slot),
        Deed::Hint { .. } | Deed::SomeHint => None,
    }
}

fn deed_of(event: &Event, variant: &Variant) -> Deed {
    match event.played {
        Move::Discard { slot } => Deed::Discard { slot: slot.into() },
        Move::Play { slot } | Move::AnnouncedPlay { slot, .. } => Deed::Play { slot: slot.into() },
        Move::Hint { offset, hint } => {
            let seat = variant.seat_after(event.seat.into(), offset.into());
            Deed::Hint { seat, hint, touched: event.touched }
        }
    }
}

fn move_of(deed: Deed, view: &View<'_>) -> Option<Move> {
    match deed {
        Deed::Discard { slot } => Some(Move::Discard { slot: slot as u8 }),
        Deed::Play { slot } => Some(Move::Play { slot: slot as u8 }),
        Deed::Hint { seat, hint, .. } => Some(Move::Hint { offset: view.offset(seat) as u8, hint }),
        Deed::SomeHint => None,
    }
}
