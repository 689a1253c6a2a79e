//! `fireflower`: David Wu's bot FireFlower, <https://github.com/lightvector/fireflower>, move for
//! move.
//!
//! Conventions define the meaning of a turn:
//! - A hint that touches its receiver's next discard, or an expected play that is critical, means
//!   to keep the touched cards, unless it has certain signs of a play hint.
//! - Any other hint that touches cards that may be playable means to play them, the newest first,
//!   and after the cards of the same suit that are already to be played.
//! - A hint that touches a card one step from playable means that a player in between holds the
//!   missing card: a finesse.
//! - A hint that touches only dead cards means to keep the older cards.
//! - The discard of a playable card means that another player holds the same card.
//!
//! The bot chooses by a search: it tries every sensible move, then the likely replies of the next
//! player, and takes the move with the best expected evaluation.
//!
//! - `seat_state`: the game as one seat sees it, which the search can advance
//! - `beliefs`, `reasoner`: what a player knows and believes
//! - `turn_meaning`, `hint_meaning`, `finesse`, `revision`: how turns change that
//! - `forecast`, `evaluation`: the value of a position
//! - `search`: the choice of a move

mod beliefs;
mod evaluation;
mod finesse;
mod forecast;
mod hint_meaning;
mod reasoner;
mod revision;
mod search;
mod seat_state;
#[cfg(test)]
mod tests;
mod turn_meaning;

use crate::rules::{
    BitIndices, CardSet, Event, GameRng, Move, Offset, Seat, Slot, UnsupportedVariantError,
    Variant, View,
};

use super::bot::{Bot, Turn};
use super::common::base_game;
use beliefs::BeliefArchive;
use reasoner::{BeliefState, PastTurns, Reasoner};
use seat_state::{CARDS, SeatMove, SeatState};

/// Plays by conventions and a search of two turns. Supports the base game.
#[derive(Clone, Debug)]
pub struct Fireflower {
    game: Option<SeatState>,
    beliefs: BeliefState,
    past: PastTurns,
    archive: BeliefArchive,
}

impl Fireflower {
    fn reasoner(&mut self) -> Reasoner<'_> {
        Reasoner { beliefs: &mut self.beliefs, past: &mut self.past, archive: &mut self.archive }
    }
}

impl Default for Fireflower {
    fn default() -> Fireflower {
        Fireflower {
            game: None,
            beliefs: BeliefState::NONE,
            past: PastTurns::NONE,
            archive: BeliefArchive::EMPTY,
        }
    }
}

impl Bot for Fireflower {
    fn check_variant(&self, variant: &Variant) -> Result<(), UnsupportedVariantError> {
        base_game::check("fireflower", variant)
    }

    fn is_deterministic(&self, _: &Variant) -> bool {
        true
    }

    fn start(&mut self, view: &View<'_>, _: GameRng) {
        let state = SeatState::new(view);
        (self.beliefs, self.past) = (BeliefState::NONE, PastTurns::NONE);
        let mut reasoner = self.reasoner();
        for id in BitIndices(state.held() & !state.blind).rev() {
            reasoner.see(id, state.face(id));
        }
        reasoner.update_knowledge(&state);
        self.game = Some(state);
    }

    fn observe(&mut self, turn: &Turn<'_>) {
        let Some(before) = self.game else { return };
        let mut after = before;
        let variant = turn.after.variant();
        let face = |card| CardSet::of(variant.card_index_unchecked(card));
        let played = seat_move_of(&turn.event, variant);
        if let (SeatMove::Play { slot } | SeatMove::Discard { slot }, Some(card)) =
            (played, turn.event.card)
        {
            after.show(before.hands[before.current].id(slot), face(card));
        }
        after.apply(played);
        let mut reasoner = self.reasoner();
        if let Some(card) = turn.event.drawn {
            let drawn = CARDS - usize::from(before.deck);
            after.show(drawn, face(card));
            reasoner.see(drawn, face(card));
        }
        reasoner.observe(played, &before, &after);
        self.game = Some(after);
    }

    fn act(&mut self, view: &View<'_>) -> Move {
        let fallback = Move::Play { slot: Slot::at(view.hand_size(Offset::OWN).saturating_sub(1)) };
        let Some(mut state) = self.game else { return fallback };
        // As long as the maximum score is reachable, any game that misses it counts as lost.
        state.all_or_nothing = !state.is_flawed();
        state.update_status();
        let chosen = self.reasoner().choose(&state).and_then(|played| move_of(played, view));
        chosen.filter(|&chosen| view.is_legal(chosen)).unwrap_or(fallback)
    }
}

fn seat_move_of(event: &Event, variant: &Variant) -> SeatMove {
    match event.played {
        Move::Discard { slot } => SeatMove::Discard { slot: slot.index() },
        Move::Play { slot } | Move::AnnouncedPlay { slot, .. } => {
            SeatMove::Play { slot: slot.index() }
        }
        Move::Hint { offset, hint } => {
            let seat = variant.seat_after_unchecked(event.seat, offset);
            SeatMove::Hint { seat: seat.index(), hint, touched: event.touched }
        }
    }
}

fn move_of(played: SeatMove, view: &View<'_>) -> Option<Move> {
    match played {
        SeatMove::Discard { slot } => Some(Move::Discard { slot: Slot::at(slot) }),
        SeatMove::Play { slot } => Some(Move::Play { slot: Slot::at(slot) }),
        SeatMove::Hint { seat, hint, .. } => {
            Some(Move::Hint { offset: view.offset(Seat::at(seat)), hint })
        }
        SeatMove::UnknownHint => None,
    }
}
