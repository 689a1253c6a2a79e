//! A game as one seat has seen it, which is played again with any hand of that seat.

use std::sync::Arc;

use crate::bots::Turn;
use crate::rules::{Event, MAX_CARDS, MAX_HAND_SIZE, Offset, Position, Seat, Variant, View};

/// The observer's cards in the order of their slots, each as its number: 0 for its first card of
/// the game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OwnCards {
    numbers: [u8; MAX_HAND_SIZE],
    size: usize,
}

impl OwnCards {
    fn remove(&mut self, slot: usize) -> usize {
        let number = self.numbers[slot];
        self.numbers.copy_within(slot + 1..self.size, slot);
        self.size -= 1;
        number.into()
    }

    fn push(&mut self, number: usize) {
        self.numbers[self.size] = number as u8;
        self.size += 1;
    }
}

/// A game as one seat has seen it, so that it can be played again for any hand that this seat may
/// hold.
#[derive(Clone, Debug)]
pub(super) struct SupposedGame {
    variant: Arc<Variant>,
    observer: Seat,
    /// The positions before the first turn and after each turn; the observer's cards are not in
    /// them.
    positions: Vec<Position>,
    own_cards: Vec<OwnCards>,
    /// The turns. Own draws are hidden.
    events: Vec<Event>,
    /// The cards that left the observer's hand, by their number.
    revealed: [u8; MAX_CARDS],
    /// The number of own cards so far.
    owned: usize,
}

/// A turn of a game if the observer held certain cards.
pub(super) struct SupposedTurn {
    pub before: Position,
    pub event: Event,
    pub after: Position,
}

impl SupposedGame {
    pub fn new(view: &View<'_>) -> SupposedGame {
        let owned = view.hand_size(Offset::OWN);
        let mut own = OwnCards::default();
        (0..owned).for_each(|number| own.push(number));
        SupposedGame {
            variant: Arc::new(view.variant().clone()),
            observer: view.observer(),
            positions: vec![blank(view)],
            own_cards: vec![own],
            events: Vec::new(),
            revealed: [0; MAX_CARDS],
            owned,
        }
    }

    pub const fn variant(&self) -> &Arc<Variant> {
        &self.variant
    }

    pub const fn observer(&self) -> Seat {
        self.observer
    }

    /// The number of turns.
    pub const fn length(&self) -> usize {
        self.events.len()
    }

    pub const fn event(&self, turn: usize) -> &Event {
        &self.events.as_slice()[turn]
    }

    /// The size of the observer's hand before a turn, or after the last one.
    pub const fn hand_size(&self, turn: usize) -> usize {
        self.own_cards.as_slice()[turn].size
    }

    /// The view before a turn, or after the last one.
    pub fn view(&self, turn: usize) -> View<'_> {
        View::new(&self.variant, &self.positions[turn], self.observer)
    }

    /// A turn as the observer saw it.
    pub fn seen_turn(&self, turn: usize) -> Turn<'_> {
        Turn { before: self.view(turn), event: self.events[turn], after: self.view(turn + 1) }
    }

    /// Whether the observer moved in a turn.
    pub fn is_own(&self, turn: usize) -> bool {
        self.event(turn).seat == self.observer
    }

    /// The game as it was before a turn.
    pub fn before(&self, turn: usize) -> SupposedGame {
        let own_cards = self.own_cards[..=turn].to_vec();
        let numbers = own_cards.iter().flat_map(|own| &own.numbers[..own.size]);
        SupposedGame {
            variant: self.variant.clone(),
            observer: self.observer,
            positions: self.positions[..=turn].to_vec(),
            events: self.events[..turn].to_vec(),
            revealed: self.revealed,
            owned: numbers.max().map_or(0, |&newest| usize::from(newest) + 1),
            own_cards,
        }
    }

    /// Adds a turn.
    pub fn add(&mut self, turn: &Turn<'_>) {
        let mut own = *self.own_cards.last().expect("the start is there");
        let event = turn.event.seen_by(self.observer);
        if event.seat == self.observer
            && let Some(card) = event.card
        {
            let number = own.remove(event.played.slot().expect("a card left the hand").index());
            self.revealed[number] = self.variant.kind_of(card) as u8;
            if turn.after.hand_size(Offset::OWN) > own.size {
                own.push(self.owned);
                self.owned += 1;
            }
        }
        self.positions.push(blank(&turn.after));
        self.own_cards.push(own);
        self.events.push(event);
    }

    /// All cards of the observer in the game by their number, if this is its hand now.
    pub fn cards(&self, hand: &[u8]) -> [u8; MAX_CARDS] {
        let mut cards = self.revealed;
        let own = self.own_cards.last().expect("the start is there");
        for (&number, &card) in own.numbers[..own.size].iter().zip(hand) {
            cards[usize::from(number)] = card;
        }
        cards
    }

    /// The position before a turn, or after the last one, if these are the observer's cards.
    pub fn position(&self, turn: usize, cards: &[u8; MAX_CARDS]) -> Position {
        let own = &self.own_cards[turn];
        let mut hand = [0; MAX_HAND_SIZE];
        for (card, &number) in hand.iter_mut().zip(&own.numbers[..own.size]) {
            *card = cards[usize::from(number)];
        }
        View::new(&self.variant, &self.positions[turn], self.observer)
            .position_with_hand(&hand[..own.size])
    }

    /// A turn, if these are the observer's cards.
    pub fn turn(&self, turn: usize, cards: &[u8; MAX_CARDS]) -> SupposedTurn {
        let mut event = self.events[turn];
        let after = self.position(turn + 1, cards);
        let (had, has) = (&self.own_cards[turn], &self.own_cards[turn + 1]);
        if event.seat == self.observer && event.card.is_some() && has.size == had.size {
            let drawn = cards[usize::from(has.numbers[has.size - 1])];
            event.drawn = Some(self.variant.card_at(drawn));
        }
        SupposedTurn { before: self.position(turn, cards), event, after }
    }
}

/// The position without the observer's cards.
fn blank(view: &View<'_>) -> Position {
    view.position_with_hand(&[0; MAX_HAND_SIZE][..view.hand_size(Offset::OWN)])
}
