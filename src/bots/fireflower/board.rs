//! The table as one seat sees it, which can be played on to look ahead.

use super::cards::{CARDS, Counts, above, above_all, next_on, of_hint};
use crate::rules::{CardSet, Hint, SlotSet, View};

/// Most cards in a hand of the base game.
pub(super) const HAND_SIZE: usize = 5;
/// Most seats.
pub(super) const SEATS: usize = 5;
/// Score of a game in which all cards are played.
pub(super) const MAX_SCORE: u8 = 25;
/// Most information tokens.
pub(super) const MAX_TOKENS: u8 = 8;

/// No kind of card: beyond all of them.
const UNSEEN: u8 = 63;

/// Cards by their number, which is the order in which they leave the deck.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hand {
    /// The cards as a set: a bit each.
    pub set: u64,
    ids: [u8; HAND_SIZE],
    size: u8,
}

impl Hand {
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

    /// The slots and their cards, the newest first: the order of most conventions.
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

/// The cards of a set, the newest first.
pub(super) struct Newest(pub u64);

impl Iterator for Newest {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let id = self.0.checked_ilog2()? as usize;
        self.0 &= !(1 << id);
        Some(id)
    }
}

/// The cards of a set, the oldest first, which is faster.
pub(super) struct Oldest(pub u64);

impl Iterator for Oldest {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let id = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(id)
    }
}

/// What a player may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
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
    /// Some hint, of which nothing is known but that it costs a token.
    SomeHint,
}

/// What is to be thought of each kind of card.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prospects {
    /// Next on its stack.
    pub playable: CardSet,
    /// Can never be played any more.
    pub dead: CardSet,
    /// Not dead, and at most one copy is neither played nor discarded.
    pub critical: CardSet,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Board {
    /// Seats at the table.
    pub players: usize,
    /// Whose eyes these are.
    pub observer: usize,
    pub hands: [Hand; SEATS],
    faces: [u8; CARDS],
    /// The cards that the observer does not see, of those which left the deck.
    pub blind: u64,
    /// The kinds on the stacks.
    pub played: CardSet,
    /// Copies in hands and in the deck.
    pub hidden: Counts,
    /// Copies that the observer does not see: those in the deck and in its own hand.
    pub unseen: Counts,
    pub prospects: Prospects,
    pub tokens: u8,
    pub lives: u8,
    pub score: u8,
    /// Cards in the discard pile.
    pub discarded: u8,
    /// The discards after which the maximum can still be reached.
    pub max_discards: u8,
    /// Hints given ahead of which nothing is known.
    pub some_hints: u8,
    /// Cards left in the deck.
    pub deck: u8,
    pub current: usize,
    /// Turns left, once the deck is empty.
    pub last_turns: Option<u8>,
    /// Whether the game counts as lost as soon as the maximum is out of reach.
    pub all_or_nothing: bool,
    pub starting_hand: usize,
}

impl Board {
    /// The board after the deal.
    pub(super) fn new(view: &View<'_>) -> Board {
        let players = usize::from(view.variant().players());
        let size = usize::from(view.variant().hand_size());
        let played = CardSet::EMPTY;
        let mut board = Board {
            players,
            observer: view.observer(),
            hands: [Hand::default(); SEATS],
            faces: [UNSEEN; CARDS],
            blind: 0,
            played,
            hidden: Counts::DECK,
            unseen: Counts::DECK,
            prospects: Prospects { playable: played, dead: played, critical: played },
            tokens: view.information_tokens(),
            lives: view.life_tokens(),
            score: 0,
            discarded: 0,
            max_discards: (CARDS - players * size + players - usize::from(MAX_SCORE)) as u8,
            some_hints: 0,
            deck: (CARDS - players * size) as u8,
            current: view.current_player(),
            last_turns: None,
            all_or_nothing: false,
            starting_hand: size,
        };
        for seat in 0..players {
            for slot in 0..size {
                board.deal(seat, (seat * size + slot) as u8);
            }
            for (slot, &card) in view.hand_indices(view.offset(seat)).iter().enumerate() {
                board.show(seat * size + slot, CardSet::of(card.into()));
            }
        }
        board.look_ahead();
        board
    }

    /// The kind of a card that the observer sees; nothing for another one.
    pub(super) fn face(&self, id: usize) -> CardSet {
        CardSet(1 << self.faces[id] & !(1 << UNSEEN))
    }

    /// The observer comes to know a card that it did not see.
    pub(super) fn show(&mut self, id: usize, card: CardSet) {
        if self.faces[id] == UNSEEN && !card.is_empty() {
            self.blind &= !(1 << id);
            self.faces[id] = card.0.trailing_zeros() as u8;
            self.unseen.take(card);
        }
    }

    /// The seat after this one.
    pub(super) const fn after(&self, seat: usize) -> usize {
        if seat + 1 == self.players { 0 } else { seat + 1 }
    }

    /// The seats from the one to act on.
    pub(super) fn seats_in_turn(&self) -> impl Iterator<Item = usize> + use<> {
        let (first, players) = (self.current, self.players);
        (first..first + players).map(move |seat| if seat < players { seat } else { seat - players })
    }

    /// The hands by seat.
    pub(super) fn all_hands(&self) -> &[Hand] {
        &self.hands[..self.players]
    }

    /// All cards in hands as a set.
    pub(super) fn held(&self) -> u64 {
        self.all_hands().iter().fold(0, |set, hand| set | hand.set)
    }

    /// The kinds that follow the ones next on the stacks.
    pub(super) fn one_away(&self) -> CardSet {
        above(self.prospects.playable)
    }

    /// The slots of a hand that the observer sees at which a hint points.
    pub(super) fn touched(&self, seat: usize, hint: Hint) -> SlotSet {
        let cards = of_hint(hint);
        let hand = self.hands[seat].ids().iter().enumerate();
        SlotSet(
            hand.fold(0, |set, (slot, &id)| {
                set | u8::from(self.face(id.into()).meets(cards)) << slot
            }),
        )
    }

    /// Sets what the observer makes of the kinds of cards.
    pub(super) fn look_ahead(&mut self) {
        let mut dead = self.played;
        if !self.all_or_nothing {
            dead |= above_all(above(self.exhausted()));
        }
        let critical = (self.hidden.one() | self.hidden.none()) - dead;
        self.prospects = Prospects { playable: next_on(self.played), dead, critical };
    }

    /// The needed kinds of which every copy is discarded.
    pub(super) fn exhausted(&self) -> CardSet {
        self.hidden.none() - self.played
    }

    /// Whether a deed is a play that fits.
    pub(super) fn fits(&self, card: CardSet) -> bool {
        self.prospects.playable.meets(card)
    }

    /// Plays on by the player to act. The kind of a card that it plays or discards is known.
    pub(super) fn apply(&mut self, deed: Deed) {
        match deed {
            Deed::Play { slot } => {
                let card = self.face(self.hands[self.current].id(slot));
                if self.fits(card) {
                    self.add(card)
                } else {
                    self.misplay(card)
                }
                self.replace(slot);
            }
            Deed::Discard { slot } => {
                self.pile(self.face(self.hands[self.current].id(slot)));
                self.tokens += 1;
                self.replace(slot);
            }
            Deed::Hint { .. } => self.tokens -= 1,
            Deed::SomeHint => {
                self.tokens -= 1;
                self.some_hints += 1;
            }
        }
        self.current = self.after(self.current);
        self.last_turns = self.last_turns.map(|turns| turns.saturating_sub(1));
    }

    fn add(&mut self, card: CardSet) {
        self.played |= card;
        self.hidden.take(card);
        self.score += 1;
        if card.meets(super::cards::of_rank(4)) {
            self.tokens = MAX_TOKENS.min(self.tokens + 1);
        }
        self.look_ahead();
    }

    fn misplay(&mut self, card: CardSet) {
        self.pile(card);
        self.lives = self.lives.saturating_sub(1);
    }

    fn pile(&mut self, card: CardSet) {
        self.hidden.take(card & self.hidden.some());
        self.discarded += 1;
        self.look_ahead();
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

    /// Whether the game is over, or counts as over.
    pub(super) fn is_over(&self) -> bool {
        self.lives == 0
            || self.last_turns == Some(0)
            || self.score == MAX_SCORE
            || self.all_or_nothing && self.is_flawed()
    }

    /// Whether the maximum is out of reach.
    pub(super) fn is_flawed(&self) -> bool {
        self.discarded > self.max_discards || !self.exhausted().is_empty()
    }
}
