//! What the kernel looks up: the variant's numbers as shifts, masks and tables.

use super::lanes::Table;
use super::pcg32::jump;
use crate::rules::{Hint, LostGameScore, Move, Variant};

/// The identity of a card that is not there. As a shift it leaves nothing.
const NO_CARD: u64 = 0xff;
/// Where a card's word has its index.
pub const CARD_INDEX: usize = 56;
/// A card's word where there is no card: no knowledge, no suit, no rank.
pub const ABSENT: u64 = NO_CARD << CARD_INDEX;

/// Bits of an action's type, in the order of the observation.
pub const PLAY: u64 = 1;
pub const DISCARD: u64 = 1 << 1;
pub const COLOR_HINT: u64 = 1 << 2;
pub const RANK_HINT: u64 = 1 << 3;
/// Number of action types.
pub const TYPES: usize = 4;

/// The numbers of a variant that the kernel computes with.
///
/// A card is one word: from the lowest bit its [`crate::rules::Knowledge`] (`knowledge` bits), its
/// suit and its rank with a bit each, and its index from [`CARD_INDEX`] on.
///
/// An action is one word: from the lowest bit the cards that a hint names (`cards` bits), what it
/// hints as in the knowledge (`colors + ranks` bits), then its type, the hinted player (bit 0 is
/// the next one), the slot that it takes a card from (a bit each), and the colour that a play
/// announces (a bit each).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    pub players: usize,
    pub hand_size: usize,
    pub colors: usize,
    pub ranks: usize,
    /// The lowest rank of each suit, a bit in the set of cards.
    pub lowest: u64,
    pub deck_size: usize,
    pub max_information_tokens: usize,
    pub max_life_tokens: usize,
    pub random_start_player: bool,
    pub empty_hints: bool,
    pub crowning_piece: bool,
    pub timed_display: bool,
    /// Whether a lost game scores nothing.
    pub forfeits: bool,
}

/// What the kernel looks up.
#[derive(Clone, Debug)]
pub struct Plan {
    pub sizes: Sizes,
    /// The actions, by id.
    pub actions: Table<128>,
    /// The bits of each card's copies in a set of copies, by its index.
    pub copies: Table<32>,
    /// The word of each copy when it is drawn; after the last, where none is left, [`ABSENT`].
    pub drawn: Table<128>,
    /// The factor and the summand that take the random numbers past the deal.
    pub dealt: (u64, u64),
}

impl Plan {
    pub fn new(variant: &Variant) -> Plan {
        let sizes = Sizes::of(variant);
        let mut plan = Plan {
            sizes,
            actions: Table([0; _]),
            copies: Table([0; _]),
            drawn: Table([ABSENT; _]),
            dealt: jump(sizes.dealt_cards()),
        };
        for (action, &played) in variant.tables().moves.iter().enumerate() {
            plan.actions.0[action] = sizes.action(variant, played);
        }
        let cards = sizes.cards();
        plan.copies.0[..cards].copy_from_slice(&variant.tables().copy_field[..cards]);
        for copy in 0..sizes.deck_size {
            let card = variant.tables().copy_card[copy];
            plan.drawn.0[copy] = sizes.card(card.into(), sizes.all_cards());
        }
        plan
    }
}

impl Sizes {
    /// The base game.
    pub const fn standard(players: usize) -> Sizes {
        Sizes {
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

    /// These cards and hands with the tokens and switches of others.
    #[inline(always)]
    pub const fn with_rules_of(self, other: Sizes) -> Sizes {
        let Sizes { players, hand_size, colors, ranks, lowest, deck_size, .. } = self;
        Sizes { players, hand_size, colors, ranks, lowest, deck_size, ..other }
    }

    /// Whether the cards and hands are those of the base game.
    pub fn has_standard_cards(self) -> bool {
        self == Sizes::standard(self.players).with_rules_of(self)
    }

    fn of(variant: &Variant) -> Sizes {
        Sizes {
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

    /// Number of different cards.
    #[inline(always)]
    pub const fn cards(self) -> usize {
        self.colors * self.ranks
    }

    /// Cards that are dealt.
    #[inline(always)]
    pub const fn dealt_cards(self) -> usize {
        self.players * self.hand_size
    }

    /// Cards left in the deck once every hand is dealt.
    #[inline(always)]
    pub const fn dealt_deck_size(self) -> usize {
        self.deck_size - self.dealt_cards()
    }

    /// Bits that say colour and rank.
    #[inline(always)]
    pub const fn hinted(self) -> usize {
        self.colors + self.ranks
    }

    /// Bits of a card's knowledge.
    #[inline(always)]
    pub const fn knowledge(self) -> usize {
        self.cards() + self.hinted()
    }

    /// Number of hint ids.
    #[inline(always)]
    pub const fn hints(self) -> usize {
        (self.players - 1) * self.hinted()
    }

    /// The first id of the announced plays.
    #[inline(always)]
    pub const fn announced_play_base(self) -> usize {
        2 * self.hand_size + self.hints()
    }

    /// Number of action ids.
    #[inline(always)]
    pub const fn num_actions(self) -> usize {
        let announced = if self.timed_display { self.hand_size * self.colors } else { 0 };
        self.announced_play_base() + announced
    }

    /// Bits of the canonical observation.
    #[inline(always)]
    pub const fn observation_bits(self) -> usize {
        let hands = (self.players - 1) * self.hand_size * self.cards() + self.players;
        let board = self.cards() + self.max_information_tokens + self.max_life_tokens;
        let head = 2 * self.players + TYPES + self.hinted() + 2 * self.hand_size;
        let knowledge = self.players * self.hand_size * self.knowledge();
        let announced = if self.timed_display { self.colors } else { 0 };
        let cards = self.dealt_deck_size() + self.deck_size;
        hands + cards + board + head + self.cards() + 2 + knowledge + announced
    }

    /// A bit for each card.
    #[inline(always)]
    pub const fn all_cards(self) -> u64 {
        ones(self.cards())
    }

    /// The highest rank of each suit.
    #[inline(always)]
    pub const fn highest(self) -> u64 {
        self.lowest << (self.ranks - 1)
    }

    /// The word of a card with this knowledge.
    pub fn card(&self, index: usize, knowledge: u64) -> u64 {
        let suit = 1 << (index / self.ranks);
        let rank = 1 << (self.colors + index % self.ranks);
        (index as u64) << CARD_INDEX | (suit | rank) << self.knowledge() | knowledge
    }

    /// The word of an action.
    fn action(&self, variant: &Variant, played: Move) -> u64 {
        let at_slot = |slot: u8| 1 << (self.slots() + usize::from(slot));
        match played {
            Move::Discard { slot } => DISCARD << self.knowledge() | at_slot(slot),
            Move::Play { slot } => PLAY << self.knowledge() | at_slot(slot),
            Move::AnnouncedPlay { slot, suit } => {
                let announced = 1 << (self.announced() + suit.index());
                PLAY << self.knowledge() | at_slot(slot) | announced
            }
            Move::Hint { offset, hint } => {
                let target = 1 << (self.targets() + usize::from(offset) - 1);
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

    /// Where an action's word has the hinted player.
    #[inline(always)]
    pub const fn targets(self) -> usize {
        self.knowledge() + TYPES
    }

    /// Where an action's word has the slot.
    #[inline(always)]
    pub const fn slots(self) -> usize {
        self.targets() + self.players
    }

    /// Where an action's word has the announced colour.
    #[inline(always)]
    pub const fn announced(self) -> usize {
        self.slots() + self.hand_size
    }

    /// Where the last turn's word has what was hinted: its type and the hinted player come before.
    #[inline(always)]
    pub const fn event_hinted(self) -> usize {
        TYPES + self.players
    }

    /// Where the last turn's word has the slots that a hint pointed out.
    #[inline(always)]
    pub const fn event_touched(self) -> usize {
        self.event_hinted() + self.hinted()
    }

    /// Where the last turn's word has the slot that a card was taken from.
    #[inline(always)]
    pub const fn event_slot(self) -> usize {
        self.event_touched() + self.hand_size
    }

    /// Where the last turn's word has the card.
    pub const EVENT_CARD: usize = 32;

    /// Where the last turn's word says that a card was added to its firework. The next bit says
    /// that a play regained a token.
    #[inline(always)]
    pub const fn event_added(self) -> usize {
        Sizes::EVENT_CARD + self.cards()
    }
}

/// A bit mask of this width, below 64.
#[inline(always)]
pub const fn ones(width: usize) -> u64 {
    (1 << width) - 1
}

/// A bit for the lowest rank of each suit.
const fn lowest(colors: usize, ranks: usize) -> u64 {
    let (mut lowest, mut suit) = (0, 0);
    while suit < colors {
        lowest |= 1 << (suit * ranks);
        suit += 1;
    }
    lowest
}
