//! The game as one seat sees it, which the search can advance. Cards are identified by their
//! number: the order in which they leave the deck.

use crate::bots::common::base_game::{
    ALL, HAND_SIZE, RANKS, above, above_all, next_on, of_hint, of_rank,
};
use crate::bots::common::copy_counts::CopyCounts;
use crate::rules::{CardSet, Hint, MAX_PLAYERS, Seat, SlotSet, View};

/// Cards in the deck.
pub(super) const CARDS: usize = 50;
/// The maximum score.
pub(super) const MAX_SCORE: u8 = 25;
/// The maximum number of information tokens.
pub(super) const MAX_TOKENS: u8 = 8;

/// In place of the kind of a card that the observer does not see.
const UNSEEN: u8 = 63;

/// The cards of a hand, the oldest first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HandCards {
    /// The cards as a bit set.
    pub set: u64,
    ids: [u8; HAND_SIZE],
    size: u8,
}

impl HandCards {
    pub(super) fn size(&self) -> usize {
        self.size.into()
    }

    /// The cards, the oldest first.
    pub(super) fn ids(&self) -> &[u8] {
        &self.ids[..self.size()]
    }

    /// The card in this slot.
    pub(super) fn id(&self, slot: usize) -> usize {
        self.ids[slot].into()
    }

    /// Slots and cards, the newest first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.ids().iter().enumerate().rev().map(|(slot, &id)| (slot, usize::from(id)))
    }

    fn push(&mut self, id: u8) {
        self.set |= 1 << id;
        self.ids[self.size()] = id;
        self.size += 1;
    }

    fn remove(&mut self, slot: usize) {
        self.set &= !(1 << self.ids[slot]);
        for index in 0..HAND_SIZE - 1 {
            self.ids[index] = self.ids[index + usize::from(index >= slot)];
        }
        self.size -= 1;
    }
}

/// A move in terms of seats and touched slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeatMove {
    Play {
        slot: usize,
    },
    Discard {
        slot: usize,
    },
    Hint {
        seat: usize,
        hint: Hint,
        touched: SlotSet,
    },
    /// A hint in the search of which nothing is known but its cost of one token.
    UnknownHint,
}

/// The status of each kind of card, by FireFlower's definitions.
#[derive(Clone, Copy, Debug)]
pub(super) struct CardStatus {
    /// Next on its stack, also if all copies are discarded.
    pub playable: CardSet,
    /// Can never be played.
    pub dead: CardSet,
    /// Not dead, and at most one copy is neither played nor discarded.
    pub critical: CardSet,
}

/// The game as one seat sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeatState {
    pub players: usize,
    /// The seat that sees it.
    pub observer: usize,
    pub hands: [HandCards; MAX_PLAYERS],
    faces: [u8; CARDS],
    /// The cards outside the deck that the observer does not see, as a bit set.
    pub blind: u64,
    /// The kinds on the stacks.
    pub played: CardSet,
    /// Copies in hands and in the deck.
    pub hidden: CopyCounts,
    /// Copies that the observer does not see, in the deck and in its own hand.
    pub unseen: CopyCounts,
    pub status: CardStatus,
    pub tokens: u8,
    pub lives: u8,
    pub score: u8,
    /// Cards in the discard pile.
    pub discarded: u8,
    /// The number of discards up to which the maximum score is reachable.
    pub max_discards: u8,
    /// Number of [`SeatMove::UnknownHint`]s so far.
    pub unknown_hints: u8,
    /// Cards left in the deck.
    pub deck: u8,
    pub current: usize,
    /// Turns left once the deck is empty.
    pub last_turns: Option<u8>,
    /// Whether the game counts as lost as soon as the maximum score is unreachable.
    pub all_or_nothing: bool,
    pub starting_hand: usize,
}

impl SeatState {
    /// The state after the deal.
    pub(super) fn new(view: &View<'_>) -> SeatState {
        let players = usize::from(view.variant().players());
        let size = usize::from(view.variant().hand_size());
        let played = CardSet::EMPTY;
        let mut state = SeatState {
            players,
            observer: view.observer().index(),
            hands: [HandCards::default(); MAX_PLAYERS],
            faces: [UNSEEN; CARDS],
            blind: 0,
            played,
            hidden: CopyCounts::BASE_GAME,
            unseen: CopyCounts::BASE_GAME,
            status: CardStatus { playable: played, dead: played, critical: played },
            tokens: view.information_tokens(),
            lives: view.life_tokens(),
            score: 0,
            discarded: 0,
            max_discards: (CARDS - players * size + players - usize::from(MAX_SCORE)) as u8,
            unknown_hints: 0,
            deck: (CARDS - players * size) as u8,
            current: view.current_player().index(),
            last_turns: None,
            all_or_nothing: false,
            starting_hand: size,
        };
        for seat in 0..players {
            for slot in 0..size {
                state.deal(seat, (seat * size + slot) as u8);
            }
            for (slot, &card) in view.hand_indices(view.offset(Seat::at(seat))).iter().enumerate() {
                state.show(seat * size + slot, CardSet::of(card.into()));
            }
        }
        state.update_status();
        state
    }

    /// The kind of a card as a set; empty if the observer does not see it.
    pub(super) fn face(&self, id: usize) -> CardSet {
        CardSet(1 << self.faces[id] & !(1 << UNSEEN))
    }

    /// The observer sees the kind of a card for the first time.
    pub(super) fn show(&mut self, id: usize, card: CardSet) {
        if self.faces[id] == UNSEEN && !card.is_empty() {
            self.blind &= !(1 << id);
            self.faces[id] = card.0.trailing_zeros() as u8;
            self.unseen.remove(card);
        }
    }

    /// The seat after this one.
    pub(super) const fn after(&self, seat: usize) -> usize {
        if seat + 1 == self.players { 0 } else { seat + 1 }
    }

    /// The seats in turn, the one to act first.
    pub(super) fn seats_in_turn(&self) -> impl Iterator<Item = usize> + use<> {
        let (first, players) = (self.current, self.players);
        (first..first + players).map(move |seat| if seat < players { seat } else { seat - players })
    }

    /// The hands by seat.
    pub(super) fn all_hands(&self) -> &[HandCards] {
        &self.hands[..self.players]
    }

    /// All cards in hands as a bit set.
    pub(super) fn held(&self) -> u64 {
        self.all_hands().iter().fold(0, |set, hand| set | hand.set)
    }

    /// The kinds one step from playable.
    pub(super) fn one_away(&self) -> CardSet {
        above(self.status.playable)
    }

    /// The slots of a visible hand that a hint touches.
    pub(super) fn touched(&self, seat: usize, hint: Hint) -> SlotSet {
        let cards = of_hint(hint);
        let hand = self.hands[seat].ids().iter().enumerate();
        SlotSet(hand.fold(0, |set, (slot, &id)| {
            set | u8::from(self.face(id.into()).intersects(cards)) << slot
        }))
    }

    /// Recomputes the status of the kinds.
    pub(super) fn update_status(&mut self) {
        let mut dead = self.played;
        if !self.all_or_nothing {
            dead |= above_all(above(self.exhausted()));
        }
        let critical = (self.hidden.one() | (ALL - self.hidden.some())) - dead;
        self.status = CardStatus { playable: next_on(self.played), dead, critical };
    }

    /// The unplayed kinds whose copies are all discarded.
    pub(super) fn exhausted(&self) -> CardSet {
        (ALL - self.hidden.some()) - self.played
    }

    /// Whether a card of this kind is playable. False for the empty set.
    pub(super) fn fits(&self, card: CardSet) -> bool {
        self.status.playable.intersects(card)
    }

    /// Applies a move of the player to act. The kind of a card that it plays or discards must be
    /// visible.
    pub(super) fn apply(&mut self, played: SeatMove) {
        match played {
            SeatMove::Play { slot } => {
                let card = self.face(self.hands[self.current].id(slot));
                if self.fits(card) {
                    self.add(card)
                } else {
                    self.misplay(card)
                }
                self.replace(slot);
            }
            SeatMove::Discard { slot } => {
                self.discard(self.face(self.hands[self.current].id(slot)));
                self.tokens += 1;
                self.replace(slot);
            }
            SeatMove::Hint { .. } => self.tokens -= 1,
            SeatMove::UnknownHint => {
                self.tokens -= 1;
                self.unknown_hints += 1;
            }
        }
        self.current = self.after(self.current);
        self.last_turns = self.last_turns.map(|turns| turns.saturating_sub(1));
    }

    fn add(&mut self, card: CardSet) {
        self.played |= card;
        self.hidden.remove(card);
        self.score += 1;
        if card.intersects(of_rank(RANKS - 1)) {
            self.tokens = MAX_TOKENS.min(self.tokens + 1);
        }
        self.update_status();
    }

    fn misplay(&mut self, card: CardSet) {
        self.discard(card);
        self.lives = self.lives.saturating_sub(1);
    }

    fn discard(&mut self, card: CardSet) {
        self.hidden.remove(card & self.hidden.some());
        self.discarded += 1;
        self.update_status();
    }

    fn replace(&mut self, slot: usize) {
        self.hands[self.current].remove(slot);
        if self.deck == 0 {
            return;
        }
        self.deal(self.current, CARDS as u8 - self.deck);
        self.deck -= 1;
        if self.deck == 0 {
            self.last_turns = Some(self.players as u8 + 1);
        }
    }

    fn deal(&mut self, seat: usize, id: u8) {
        self.hands[seat].push(id);
        self.blind |= 1 << id;
    }

    /// Whether the game has ended, or counts as lost.
    pub(super) fn is_over(&self) -> bool {
        self.lives == 0
            || self.last_turns == Some(0)
            || self.score == MAX_SCORE
            || self.all_or_nothing && self.is_flawed()
    }

    /// Whether the maximum score is unreachable.
    pub(super) fn is_flawed(&self) -> bool {
        self.discarded > self.max_discards || !self.exhausted().is_empty()
    }
}
