//! How eight games lie in memory, and how one of them gets in and out.
//!
//! A block is a run of [`Word`]s: those named here, then a word for each slot of each hand. Seats
//! are stored relative to the player to act: as every game goes on by one seat in a step, the hand
//! of the player to act lies in the same place in all games of a batch, at the number of steps
//! modulo the players.

use super::game::Game;
use super::lanes::{LANES, Word};
use super::plan::{ABSENT, CARD_INDEX, COLOR_HINT, DISCARD, PLAY, RANK_HINT, Sizes, TYPES, ones};
use crate::rules::{
    Ending, EpisodeSeed, Event, GameRng, Hand, Hint, Knowledge, Move, Named, Position, RandomDeck,
    Rank, SlotSet, Suit, Variant,
};

/// The copies that are left in the deck, a bit each.
pub const DECK: usize = 0;
/// The discarded copies, each card's filled from the lowest bit.
pub const DISCARDS: usize = 1;
/// The next card of each firework.
pub const NEXT: usize = 2;
/// The highest card of each firework.
pub const FIREWORKS: usize = 3;
/// The counters, a byte each.
pub const COUNTERS: usize = 4;
/// The last turn, without its player, who always sits just before the player to act.
pub const EVENT: usize = 5;
/// The state of the random numbers.
pub const RNG: usize = 6;
/// The legal actions below 64, and those from 64 on.
pub const LEGAL: [usize; 2] = [7, 8];
/// The first card.
pub const HANDS: usize = 9;

/// Where the counters' word has each of them.
pub mod counter {
    pub const INFORMATION: usize = 0;
    pub const LIVES: usize = 8;
    pub const DECK: usize = 16;
    /// Turns that are left once the deck is empty.
    pub const TURNS: usize = 24;
    pub const SCORE: usize = 32;
    pub const ENDING: usize = 40;
    pub const PLAYER: usize = 48;
    /// Turns played. No game has 256: it takes a card or a token, and cards bring back at most two.
    pub const LENGTH: usize = 56;
}

/// A counter from the word.
pub const fn count(counters: u64, shift: usize) -> u8 {
    (counters >> shift) as u8
}

impl Sizes {
    /// Words of a block.
    #[inline(always)]
    pub const fn block_words(self) -> usize {
        HANDS + self.players * self.hand_size
    }

    /// Where the hand at this offset from the player to act begins after so many steps.
    #[inline(always)]
    pub const fn hand(self, step: usize, offset: usize) -> usize {
        // Both are below the number of players.
        let sum = step + offset;
        HANDS + if sum >= self.players { sum - self.players } else { sum } * self.hand_size
    }

    /// Puts a game into a lane of a block.
    pub fn put(
        &self,
        block: &mut [Word],
        lane: usize,
        step: usize,
        variant: &Variant,
        game: &Game,
    ) {
        let position = &game.position;
        let mut set = |word: usize, value: u64| block[word].0[lane] = value;
        set(DECK, game.deck.left);
        set(DISCARDS, position.discards);
        let (mut next, mut fireworks) = (0, 0);
        for (suit, &height) in position.fireworks(variant).iter().enumerate() {
            let reached = 1 << height << (suit * self.ranks);
            next |= reached & self.all_cards() & ones(self.ranks) << (suit * self.ranks);
            fireworks |= if height > 0 { reached >> 1 } else { 0 };
        }
        set(NEXT, next);
        set(FIREWORKS, fireworks);
        set(COUNTERS, self.counters(game));
        set(EVENT, position.last_event.map_or(0, |event| self.event(&event)));
        set(RNG, game.deck.rng.state());
        let legal = game.legal(variant).0;
        set(LEGAL[0], legal as u64);
        set(LEGAL[1], (legal >> 64) as u64);
        for offset in 0..self.players {
            let seat = variant.seat_after(position.current_player(), offset);
            let hand = &position.hands[seat];
            for slot in 0..self.hand_size {
                let card = match hand.cards().get(slot) {
                    Some(&index) => self.card(index.into(), hand.knowledge[slot].bits()),
                    None => ABSENT,
                };
                set(self.hand(step, offset) + slot, card);
            }
        }
    }

    /// The counters of a game.
    pub fn counters(&self, game: &Game) -> u64 {
        let position = &game.position;
        [
            (counter::INFORMATION, position.information_tokens),
            (counter::LIVES, position.life_tokens),
            (counter::DECK, position.deck_size),
            (counter::TURNS, position.last_turns),
            (counter::SCORE, position.fireworks_sum()),
            (counter::ENDING, position.ending.map_or(0, |ending| ending.code() as u8)),
            (counter::PLAYER, position.current_player),
            (counter::LENGTH, game.length),
        ]
        .into_iter()
        .fold(0, |word, (shift, value)| word | u64::from(value) << shift)
    }

    /// The word of the last turn.
    fn event(&self, event: &Event) -> u64 {
        let (kind, hinted, target, slot) = match event.played {
            Move::Play { slot } => (PLAY, 0, 0, 1 << slot),
            Move::Discard { slot } => (DISCARD, 0, 0, 1 << slot),
            Move::AnnouncedPlay { slot, suit } => (PLAY, 1 << suit.index(), 0, 1 << slot),
            Move::Hint { offset, hint: Hint::Color(suit) } => {
                (COLOR_HINT, 1 << suit.index(), 1 << (offset - 1), 0)
            }
            Move::Hint { offset, hint: Hint::Rank(rank) } => {
                (RANK_HINT, 1 << (self.colors + rank.index()), 1 << (offset - 1), 0)
            }
        };
        // A play points out no slots; their first bit says there that two tokens were regained.
        let touched = u64::from(event.touched.0) | u64::from(event.regained == 2);
        let card =
            event.card.map_or(0, |card| 1 << (card.suit.index() * self.ranks + card.rank.index()));
        let regained = kind == PLAY && event.regained > 0;
        kind | target << TYPES
            | hinted << self.event_hinted()
            | touched << self.event_touched()
            | slot << self.event_slot()
            | card << Sizes::EVENT_CARD
            | u64::from(event.added) << self.event_added()
            | u64::from(regained) << (self.event_added() + 1)
    }

    /// Takes a copy of a game from a lane of a block.
    pub fn take(
        &self,
        block: &[Word],
        lane: usize,
        step: usize,
        variant: &Variant,
        seed: EpisodeSeed,
    ) -> Game {
        let get = |word: usize| block[word].0[lane];
        let counters = get(COUNTERS);
        let current_player = count(counters, counter::PLAYER);
        let mut fireworks = [0; crate::rules::MAX_COLORS];
        for (suit, height) in fireworks.iter_mut().enumerate().take(self.colors) {
            let stack = get(FIREWORKS) >> (suit * self.ranks) & ones(self.ranks);
            *height = (64 - stack.leading_zeros()) as u8;
        }
        let mut hands = [Hand::default(); crate::rules::MAX_PLAYERS];
        for offset in 0..self.players {
            let hand = &mut hands[variant.seat_after(current_player.into(), offset)];
            for slot in 0..self.hand_size {
                let card = get(self.hand(step, offset) + slot);
                if card != ABSENT {
                    hand.cards[slot] = (card >> CARD_INDEX) as u8;
                    hand.knowledge[slot] = Knowledge(card & ones(self.knowledge()));
                    hand.size += 1;
                }
            }
        }
        let mut position = Position {
            hands,
            discards: get(DISCARDS),
            fireworks,
            information_tokens: count(counters, counter::INFORMATION),
            life_tokens: count(counters, counter::LIVES),
            deck_size: count(counters, counter::DECK),
            current_player,
            last_turns: count(counters, counter::TURNS),
            ending: ending(counters),
            last_event: None,
        };
        position.last_event = self.last_event(get(EVENT), variant, &position);
        let deck = RandomDeck {
            left: get(DECK),
            size: count(counters, counter::DECK),
            rng: GameRng::from_state(get(RNG)),
        };
        Game { position, deck, seed, length: count(counters, counter::LENGTH) }
    }

    fn last_event(&self, word: u64, variant: &Variant, position: &Position) -> Option<Event> {
        let kind = word & ones(TYPES);
        if kind == 0 {
            return None;
        }
        let field = |start: usize, width: usize| word >> start & ones(width);
        let seat = variant.seat_after(position.current_player(), self.players - 1);
        let slot = field(self.event_slot(), self.hand_size).trailing_zeros() as u8;
        let offset = field(TYPES, self.players).trailing_zeros() as u8 + 1;
        let suit = field(self.event_hinted(), self.colors).trailing_zeros() as usize;
        let rank = field(self.event_hinted() + self.colors, self.ranks).trailing_zeros() as usize;
        let touched = field(self.event_touched(), self.hand_size) as u8;
        let played = match kind {
            DISCARD => Move::Discard { slot },
            PLAY if suit < self.colors => Move::AnnouncedPlay { slot, suit: Suit::ALL[suit] },
            PLAY => Move::Play { slot },
            COLOR_HINT => Move::Hint { offset, hint: Hint::Color(Suit::ALL[suit]) },
            _ => Move::Hint { offset, hint: Hint::Rank(Rank::ALL[rank]) },
        };
        let is_play = kind == PLAY;
        let regained_some = field(self.event_added() + 1, 1) as u8;
        let card = field(Sizes::EVENT_CARD, self.cards()).trailing_zeros() as usize;
        let card = variant.tables().card.get(card).copied().filter(|_| card < self.cards());
        let hand = &position.hands[seat];
        // As long as there are cards to draw a hand is full, so the last card is the drawn one.
        let newest = hand.cards().get(self.hand_size - 1);
        let drawn = newest.map(|&index| variant.tables().card[usize::from(index)]);
        Some(Event {
            seat: seat as u8,
            played,
            touched: SlotSet(if is_play { 0 } else { touched }),
            card,
            added: field(self.event_added(), 1) == 1,
            regained: if is_play { regained_some + touched } else { u8::from(kind == DISCARD) },
            drawn: drawn.filter(|_| card.is_some()),
        })
    }
}

/// How the game ended.
pub fn ending(counters: u64) -> Option<Ending> {
    let code = usize::from(count(counters, counter::ENDING));
    code.checked_sub(1).map(|index| Ending::ALL[index])
}

/// A block in which nothing happens: every game is over.
pub fn idle_block(block: &mut [Word]) {
    block.fill(Word::default());
    block[COUNTERS] = Word([1 << counter::ENDING; LANES]);
}
