//! One game of a batch outside its block: as the rules know it.

use super::block::{Field, GameLane, count, counter, ending, hand_start};
use super::lanes::Word;
use super::variant::{
    ABSENT, CARD_INDEX, COLOR_HINT, Constants, DISCARD, PLAY, RANK_HINT, TYPES, ones,
};
use crate::rules::{
    ActionSet, EpisodeSeed, Event, GameRng, Hand, Hint, Knowledge, MAX_COLORS, MAX_PLAYERS, Move,
    Offset, Position, RandomDeck, RandomGame, Rank, Seat, Slot, SlotSet, Suit, Variant,
};

/// One game of a batch.
#[derive(Clone, Debug)]
pub struct Game {
    pub position: Position,
    pub deck: RandomDeck,
    pub seed: EpisodeSeed,
    /// Turns played.
    pub length: u8,
}

impl Game {
    /// Deals the game of this seed.
    pub fn new(variant: &Variant, seed: EpisodeSeed) -> Game {
        let RandomGame { position, deck } = RandomGame::deal(variant, seed);
        Game { position, deck, seed, length: 0 }
    }

    /// The legal actions.
    fn legal(&self, variant: &Variant) -> ActionSet {
        self.position.legal_actions(variant)
    }

    /// Writes the game into a lane of a block.
    pub fn put(
        &self,
        block: &mut [Word],
        GameLane { lane, acting_hand }: GameLane,
        variant: &Variant,
    ) {
        let (position, constants) = (&self.position, Constants::of(variant));
        let mut set = |field: Field, value: u64| block[field as usize].0[lane] = value;
        set(Field::Deck, self.deck.left);
        set(Field::Discards, position.discards);
        let (mut next, mut fireworks) = (0, 0);
        for (suit, &height) in position.fireworks(variant).iter().enumerate() {
            let reached = 1 << height << (suit * constants.ranks);
            next |=
                reached & constants.all_cards() & ones(constants.ranks) << (suit * constants.ranks);
            fireworks |= if height > 0 { reached >> 1 } else { 0 };
        }
        set(Field::Next, next);
        set(Field::Fireworks, fireworks);
        set(Field::Counters, self.counters());
        let event = position.last_event;
        set(Field::Event, event.map_or(0, |event| event_word(constants, &event)));
        set(Field::Rng, self.deck.rng.state());
        let legal = self.legal(variant).0;
        set(Field::LowActions, legal as u64);
        set(Field::HighActions, (legal >> 64) as u64);
        for offset in 0..constants.players {
            let hand = &position.hands[seat_at(variant, position.current_player, offset)];
            let start = hand_start(constants, acting_hand, offset);
            for slot in 0..constants.hand_size {
                block[start + slot].0[lane] = match hand.cards().get(slot) {
                    Some(&index) => constants.card(index.into(), hand.knowledge[slot].bits()),
                    None => ABSENT,
                };
            }
        }
    }

    /// The word of the game's counters.
    pub fn counters(&self) -> u64 {
        let position = &self.position;
        [
            (counter::INFORMATION, position.information_tokens),
            (counter::LIVES, position.life_tokens),
            (counter::DECK, position.deck_size),
            (counter::TURNS, position.last_turns),
            (counter::SCORE, position.fireworks_sum()),
            (counter::ENDING, position.ending.map_or(0, |ending| ending.code() as u8)),
            (counter::PLAYER, position.current_player.into()),
            (counter::LENGTH, self.length),
        ]
        .into_iter()
        .fold(0, |word, (shift, value)| word | u64::from(value) << shift)
    }

    /// Reads the game in a lane of a block.
    pub fn read(
        block: &[Word],
        GameLane { lane, acting_hand }: GameLane,
        variant: &Variant,
        seed: EpisodeSeed,
    ) -> Game {
        let constants = Constants::of(variant);
        let get = |field: Field| block[field as usize].0[lane];
        let counters = get(Field::Counters);
        let current_player = Seat::new_unchecked(count(counters, counter::PLAYER).into());
        let mut fireworks = [0; MAX_COLORS];
        for (suit, height) in fireworks.iter_mut().enumerate().take(constants.colors) {
            let stack = get(Field::Fireworks) >> (suit * constants.ranks) & ones(constants.ranks);
            *height = (64 - stack.leading_zeros()) as u8;
        }
        let mut hands = [Hand::default(); MAX_PLAYERS];
        for offset in 0..constants.players {
            let hand = &mut hands[seat_at(variant, current_player, offset)];
            let start = hand_start(constants, acting_hand, offset);
            for slot in 0..constants.hand_size {
                let card = block[start + slot].0[lane];
                if card != ABSENT {
                    hand.cards[slot] = (card >> CARD_INDEX) as u8;
                    hand.knowledge[slot] = Knowledge(card & ones(constants.knowledge()));
                    hand.size += 1;
                }
            }
        }
        let mut position = Position {
            hands,
            discards: get(Field::Discards),
            fireworks,
            information_tokens: count(counters, counter::INFORMATION),
            life_tokens: count(counters, counter::LIVES),
            deck_size: count(counters, counter::DECK),
            current_player,
            last_turns: count(counters, counter::TURNS),
            ending: ending(counters),
            last_event: None,
        };
        position.last_event = last_event(constants, get(Field::Event), variant, &position);
        let deck = RandomDeck {
            left: get(Field::Deck),
            size: count(counters, counter::DECK),
            rng: GameRng::from_state(get(Field::Rng)),
        };
        Game { position, deck, seed, length: count(counters, counter::LENGTH) }
    }
}

/// The index of the seat at this offset from another one.
fn seat_at(variant: &Variant, seat: Seat, offset: usize) -> usize {
    variant.seat_after_unchecked(seat, Offset::new_unchecked(offset)).index()
}

/// The word of the last turn.
fn event_word(constants: Constants, event: &Event) -> u64 {
    let (kind, hinted, target, slot) = match event.played {
        Move::Play { slot } => (PLAY, 0, 0, 1 << slot.index()),
        Move::Discard { slot } => (DISCARD, 0, 0, 1 << slot.index()),
        Move::AnnouncedPlay { slot, suit } => (PLAY, 1 << suit.index(), 0, 1 << slot.index()),
        Move::Hint { offset, hint: Hint::Color(suit) } => {
            (COLOR_HINT, 1 << suit.index(), 1 << (offset.index() - 1), 0)
        }
        Move::Hint { offset, hint: Hint::Rank(rank) } => {
            (RANK_HINT, 1 << (constants.colors + rank.index()), 1 << (offset.index() - 1), 0)
        }
    };
    // A play touches no slots; bit 0 of that field says that it regained two tokens.
    let touched = u64::from(event.touched.0) | u64::from(event.regained == 2);
    let card =
        event.card.map_or(0, |card| 1 << (card.suit.index() * constants.ranks + card.rank.index()));
    let regained = kind == PLAY && event.regained > 0;
    kind | target << TYPES
        | hinted << constants.event_hinted()
        | touched << constants.event_touched()
        | slot << constants.event_slot()
        | card << Constants::EVENT_CARD
        | u64::from(event.added) << constants.event_added()
        | u64::from(regained) << (constants.event_added() + 1)
}

/// The last turn from its word; `position` is the position after it.
fn last_event(
    constants: Constants,
    word: u64,
    variant: &Variant,
    position: &Position,
) -> Option<Event> {
    let kind = word & ones(TYPES);
    if kind == 0 {
        return None;
    }
    let field = |start: usize, width: usize| word >> start & ones(width);
    let seat = variant.seat_after_unchecked(
        position.current_player,
        Offset::new_unchecked(constants.players - 1),
    );
    let slot = || {
        Slot::new_unchecked(
            field(constants.event_slot(), constants.hand_size).trailing_zeros() as usize
        )
    };
    let offset =
        || Offset::new_unchecked(field(TYPES, constants.players).trailing_zeros() as usize + 1);
    let suit = field(constants.event_hinted(), constants.colors).trailing_zeros() as usize;
    let rank = field(constants.event_hinted() + constants.colors, constants.ranks).trailing_zeros()
        as usize;
    let touched = field(constants.event_touched(), constants.hand_size) as u8;
    let played = match kind {
        DISCARD => Move::Discard { slot: slot() },
        PLAY if suit < constants.colors => {
            Move::AnnouncedPlay { slot: slot(), suit: Suit::ALL[suit] }
        }
        PLAY => Move::Play { slot: slot() },
        COLOR_HINT => Move::Hint { offset: offset(), hint: Hint::Color(Suit::ALL[suit]) },
        _ => Move::Hint { offset: offset(), hint: Hint::Rank(Rank::ALL[rank]) },
    };
    let is_play = kind == PLAY;
    let regained_some = field(constants.event_added() + 1, 1) as u8;
    let card = field(Constants::EVENT_CARD, constants.cards()).trailing_zeros() as usize;
    let card = variant.tables().card.get(card).copied().filter(|_| card < constants.cards());
    let hand = &position.hands[seat.index()];
    // While the deck has cards every hand is full, so a drawn card is the last one of its hand.
    let newest = hand.cards().get(constants.hand_size - 1);
    let drawn = newest.map(|&index| variant.card_unchecked(index));
    Some(Event {
        seat,
        played,
        touched: SlotSet(if is_play { 0 } else { touched }),
        card,
        added: field(constants.event_added(), 1) == 1,
        regained: if is_play { regained_some + touched } else { u8::from(kind == DISCARD) },
        drawn: drawn.filter(|_| card.is_some()),
    })
}
