//! The numbers and tables of a variant that the kernel computes with.

use super::lanes::Table;
use super::pcg32::jump;
use crate::encode::Encoder;
use crate::rules::{Hint, LostGameScore, Move, Slot, Variant};

/// The index of an absent card. A shift by it leaves no bit.
const NO_CARD: u64 = 0xff;
/// The bit at which a card's index begins in its word.
pub const CARD_INDEX: usize = 56;
/// The word of an empty slot: no knowledge, no suit, no rank.
pub const ABSENT: u64 = NO_CARD << CARD_INDEX;

// The bits of an action's type, in the order of the observation.
pub const PLAY: u64 = 1;
pub const DISCARD: u64 = 1 << 1;
pub const COLOR_HINT: u64 = 1 << 2;
pub const RANK_HINT: u64 = 1 << 3;
/// The number of action types.
pub const TYPES: usize = 4;

/// The numbers and switches of a variant, apart from [`Variant`], because the kernels of the base game have them as
/// constants: without these a step takes 8 to 56 % more instructions (`README.md` here).
///
/// The word of a card has from bit 0 on its [`crate::rules::Knowledge`] (`knowledge` bits), then
/// its suit and its rank (one bit each), and from bit [`CARD_INDEX`] on its index.
///
/// The word of an action has from bit 0 on the cards that a hint names (`cards` bits) and the
/// hinted colour or rank as in the knowledge (`colors + ranks` bits), then its type, the hinted
/// player (bit 0 is the next player), the slot that it takes a card from and the colour that a play
/// announces (one bit each).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    pub players: usize,
    pub hand_size: usize,
    pub colors: usize,
    pub ranks: usize,
    /// The lowest card of each suit, as a set of cards.
    pub lowest: u64,
    pub deck_size: usize,
    pub max_information_tokens: usize,
    pub max_life_tokens: usize,
    pub random_start_player: bool,
    pub empty_hints: bool,
    pub crowning_piece: bool,
    pub timed_display: bool,
    /// Whether a lost game scores 0.
    pub forfeits: bool,
}

/// A variant as the kernel computes with it.
#[derive(Clone, Debug)]
pub struct KernelVariant {
    pub constants: Constants,
    /// The word of each action.
    pub actions: Table<128>,
    /// For each card its copies, as a set of copies.
    pub copies: Table<32>,
    /// The word of each copy when it is drawn. The entries past the last copy are not used.
    pub drawn: Table<128>,
    /// The factor and the summand that advance the random number generator past the deal.
    pub dealt: (u64, u64),
}

impl KernelVariant {
    pub fn new(variant: &Variant) -> KernelVariant {
        let constants = Constants::of(variant);
        let mut kernel_variant = KernelVariant {
            constants,
            actions: Table([0; _]),
            copies: Table([0; _]),
            drawn: Table([0; _]),
            dealt: jump(constants.dealt_cards()),
        };
        for (action, &played) in variant.tables().moves.iter().enumerate() {
            kernel_variant.actions.0[action] = constants.action(variant, played);
        }
        let cards = constants.cards();
        kernel_variant.copies.0[..cards].copy_from_slice(&variant.tables().copy_field[..cards]);
        for copy in 0..constants.deck_size {
            let card = variant.tables().copy_card[copy];
            kernel_variant.drawn.0[copy] = constants.card(card.into(), constants.all_cards());
        }
        kernel_variant
    }
}

impl Constants {
    /// The base game for this many players.
    pub const fn standard(players: usize) -> Constants {
        Constants {
            players,
            hand_size: if players < 4 { 5 } else { 4 },
            colors: 5,
            ranks: 5,
            lowest: lowest(5, 5),
            deck_size: 50,
            max_information_tokens: 8,
            max_life_tokens: 3,
            random_start_player: false,
            empty_hints: false,
            crowning_piece: false,
            timed_display: false,
            forfeits: true,
        }
    }

    /// These cards and hands, with the tokens and switches of `other`.
    #[inline(always)]
    pub const fn with_rules_of(self, other: Constants) -> Constants {
        let Constants { players, hand_size, colors, ranks, lowest, deck_size, .. } = self;
        Constants { players, hand_size, colors, ranks, lowest, deck_size, ..other }
    }

    /// Whether the cards and hands are those of the base game.
    pub fn has_standard_cards(self) -> bool {
        self == Constants::standard(self.players).with_rules_of(self)
    }

    /// The numbers of a variant.
    pub fn of(variant: &Variant) -> Constants {
        Constants {
            players: variant.players().into(),
            hand_size: variant.hand_size().into(),
            colors: variant.colors().into(),
            ranks: variant.ranks().into(),
            lowest: lowest(variant.colors().into(), variant.ranks().into()),
            deck_size: variant.deck_size().into(),
            max_information_tokens: variant.max_information_tokens().into(),
            max_life_tokens: variant.max_life_tokens().into(),
            random_start_player: variant.random_start_player(),
            empty_hints: variant.empty_hints(),
            crowning_piece: variant.crowning_piece(),
            timed_display: variant.timed_display(),
            forfeits: variant.lost_game_score() == LostGameScore::Zero,
        }
    }

    /// The number of different cards.
    #[inline(always)]
    pub const fn cards(self) -> usize {
        self.colors * self.ranks
    }

    /// The number of cards in all hands.
    #[inline(always)]
    pub const fn dealt_cards(self) -> usize {
        self.players * self.hand_size
    }

    /// The number of cards in the deck after the deal.
    #[inline(always)]
    pub const fn dealt_deck_size(self) -> usize {
        self.deck_size - self.dealt_cards()
    }

    /// The number of bits for a hinted colour and rank.
    #[inline(always)]
    pub const fn hinted(self) -> usize {
        self.colors + self.ranks
    }

    /// The number of bits of a card's knowledge.
    #[inline(always)]
    pub const fn knowledge(self) -> usize {
        self.cards() + self.hinted()
    }

    /// The number of hint ids.
    #[inline(always)]
    pub const fn hints(self) -> usize {
        (self.players - 1) * self.hinted()
    }

    /// The first id of the announced plays.
    #[inline(always)]
    pub const fn announced_play_base(self) -> usize {
        2 * self.hand_size + self.hints()
    }

    /// The number of action ids.
    #[inline(always)]
    pub const fn num_actions(self) -> usize {
        let announced = if self.timed_display { self.hand_size * self.colors } else { 0 };
        self.announced_play_base() + announced
    }

    /// The number of bits in an observation.
    #[inline(always)]
    pub const fn observation_bits(self, encoder: Encoder) -> usize {
        let hands = (self.players - 1) * self.hand_size * self.cards() + self.players;
        let board = self.cards() + self.max_information_tokens + self.max_life_tokens;
        let last_turn = 2 * self.players + TYPES + self.hinted() + 2 * self.hand_size;
        let knowledge =
            if encoder.shows_knowledge() { self.dealt_cards() * self.knowledge() } else { 0 };
        let announced = if self.timed_display { self.colors } else { 0 };
        let decks = self.dealt_deck_size() + self.deck_size;
        hands + decks + board + last_turn + self.cards() + 2 + knowledge + announced
    }

    /// The set of all cards.
    #[inline(always)]
    pub const fn all_cards(self) -> u64 {
        ones(self.cards())
    }

    /// The highest card of each suit, as a set of cards.
    #[inline(always)]
    pub const fn highest(self) -> u64 {
        self.lowest << (self.ranks - 1)
    }

    /// The word of the card with this index and knowledge.
    pub fn card(&self, index: usize, knowledge: u64) -> u64 {
        let suit = 1 << (index / self.ranks);
        let rank = 1 << (self.colors + index % self.ranks);
        (index as u64) << CARD_INDEX | (suit | rank) << self.knowledge() | knowledge
    }

    /// The word of an action.
    fn action(&self, variant: &Variant, played: Move) -> u64 {
        let at_slot = |slot: Slot| 1 << (self.slots() + slot.index());
        match played {
            Move::Discard { slot } => DISCARD << self.knowledge() | at_slot(slot),
            Move::Play { slot } => PLAY << self.knowledge() | at_slot(slot),
            Move::AnnouncedPlay { slot, suit } => {
                let announced = 1 << (self.announced() + suit.index());
                PLAY << self.knowledge() | at_slot(slot) | announced
            }
            Move::Hint { offset, hint } => {
                let target = 1 << (self.targets() + offset.index() - 1);
                let tables = variant.tables();
                let (kind, cards, hinted) = match hint {
                    Hint::Color(suit) => {
                        (COLOR_HINT, tables.suit_cards[suit.index()], suit.index())
                    }
                    Hint::Rank(rank) => {
                        (RANK_HINT, tables.rank_cards[rank.index()], self.colors + rank.index())
                    }
                };
                cards | 1 << (self.cards() + hinted) | kind << self.knowledge() | target
            }
        }
    }

    /// The bit at which the hinted player begins in an action's word.
    #[inline(always)]
    pub const fn targets(self) -> usize {
        self.knowledge() + TYPES
    }

    /// The bit at which the slot begins in an action's word.
    #[inline(always)]
    pub const fn slots(self) -> usize {
        self.targets() + self.players
    }

    /// The bit at which the announced colour begins in an action's word.
    #[inline(always)]
    pub const fn announced(self) -> usize {
        self.slots() + self.hand_size
    }

    /// The bit at which the hinted colour or rank begins in the word of the last turn, after its
    /// type and the hinted player.
    #[inline(always)]
    pub const fn event_hinted(self) -> usize {
        TYPES + self.players
    }

    /// The bit at which the touched slots begin in the word of the last turn.
    #[inline(always)]
    pub const fn event_touched(self) -> usize {
        self.event_hinted() + self.hinted()
    }

    /// The bit at which the slot of the taken card begins in the word of the last turn.
    #[inline(always)]
    pub const fn event_slot(self) -> usize {
        self.event_touched() + self.hand_size
    }

    /// The bit at which the taken card begins in the word of the last turn.
    pub const EVENT_CARD: usize = 32;

    /// The bit in the word of the last turn that tells whether the card was added to its firework.
    /// The next bit tells whether a play regained a token.
    #[inline(always)]
    pub const fn event_added(self) -> usize {
        Constants::EVENT_CARD + self.cards()
    }
}

/// So many one bits, fewer than 64.
#[inline(always)]
pub const fn ones(width: usize) -> u64 {
    (1 << width) - 1
}

/// The lowest card of each suit, as a set of cards.
const fn lowest(colors: usize, ranks: usize) -> u64 {
    let (mut lowest, mut suit) = (0, 0);
    while suit < colors {
        lowest |= 1 << (suit * ranks);
        suit += 1;
    }
    lowest
}
