//! The rules of one kind of game: parameters that were checked, and the numbers that follow from
//! them.

use serde::{Deserialize, Serialize};

use crate::rules::cards::card::{Card, Rank, Suit};
use crate::rules::small_index::{Offset, Seat};
use crate::rules::variants::edition::Edition;
use crate::rules::variants::parameters::{
    COLORS, HAND_SIZES, INFORMATION_TOKENS, LIFE_TOKENS, LostGameScore, PLAYERS, Parameters, RANKS,
    VariantError, check_copies, check_deck, default_copies, default_hand_size, in_range,
};
use crate::rules::variants::tables::{Copies, Tables};

/// The immutable rules of one kind of game: checked [`Parameters`] and what follows from them.
///
/// ```
/// use starmine::rules::{Parameters, Variant};
///
/// let variant = Variant::new(Parameters { players: 5, ..Parameters::default() })?;
/// assert_eq!((variant.num_actions(), variant.deck_size(), variant.max_score()), (48, 50, 25));
/// # Ok::<(), starmine::rules::VariantError>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Parameters", into = "Parameters")]
pub struct Variant {
    /// With every default filled in.
    parameters: Parameters,
    players: u8,
    colors: u8,
    ranks: u8,
    hand_size: u8,
    max_information_tokens: u8,
    max_life_tokens: u8,
    copies: Copies,
    deck_size: u8,
    num_actions: u8,
    tables: Tables,
}

impl Variant {
    /// The variant with these parameters.
    ///
    /// # Errors
    /// [`VariantError`] names the first parameter outside its range, its value and the range.
    pub fn new(parameters: Parameters) -> Result<Variant, VariantError> {
        let players = in_range("players", parameters.players, PLAYERS)?;
        let colors = in_range("colors", parameters.colors, COLORS)?;
        let ranks = in_range("ranks", parameters.ranks, RANKS)?;
        let hand_size = match parameters.hand_size {
            None => default_hand_size(players),
            Some(size) => in_range("hand_size", size, HAND_SIZES)?,
        };
        let given = parameters.copies.as_ref();
        let copies = check_copies(given, colors, ranks)?;
        let deck_size = check_deck(given, &copies, players, hand_size)?;
        let information = parameters.max_information_tokens;
        let mut variant = Variant {
            players,
            colors,
            ranks,
            hand_size,
            max_information_tokens: in_range(
                "max_information_tokens",
                information,
                INFORMATION_TOKENS,
            )?,
            max_life_tokens: in_range("max_life_tokens", parameters.max_life_tokens, LIFE_TOKENS)?,
            tables: Tables::new(colors, ranks, &copies),
            copies,
            deck_size,
            num_actions: 0,
            parameters,
        };
        variant.parameters.hand_size = Some(hand_size.into());
        variant.parameters.copies = Some(variant.copies_table());
        variant.num_actions = variant.count_actions() as u8;
        variant.tables.moves =
            (0..variant.num_actions()).map(|action| variant.decode(action)).collect();
        Ok(variant)
    }

    fn copies_table(&self) -> Vec<Vec<i64>> {
        let copies = |suit, rank| self.copies(Card::new(suit, rank)).into();
        let row = |suit| self.all_ranks().map(|rank| copies(suit, rank)).collect();
        self.all_suits().map(row).collect()
    }

    /// The parameters, with every default filled in.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The parameters in their shortest form: `None` where the default is the value.
    #[must_use]
    pub fn brief_parameters(&self) -> Parameters {
        let mut parameters = self.parameters.clone();
        if self.hand_size == default_hand_size(self.players) {
            parameters.hand_size = None;
        }
        let follows = |card: Card| {
            let default = default_copies(card.rank.index() as u8, self.ranks);
            self.copies(card) == default
        };
        if self.card_kinds().all(follows) {
            parameters.copies = None;
        }
        parameters
    }

    /// The parameters that matter to a policy: all but who starts, the score of a lost game and the names of the suits.
    #[must_use]
    pub(crate) fn played_parameters(&self) -> Parameters {
        Parameters {
            random_start_player: false,
            lost_game_score: LostGameScore::Zero,
            edition: Edition::Standard,
            ..self.parameters.clone()
        }
    }

    /// Whether a policy for this variant also plays the other one.
    #[must_use]
    pub fn plays_alike(&self, other: &Variant) -> bool {
        self == other || self.played_parameters() == other.played_parameters()
    }

    /// Number of action ids.
    #[must_use]
    pub const fn num_actions(&self) -> usize {
        self.num_actions as usize
    }

    /// Seats at the table.
    #[must_use]
    pub const fn players(&self) -> u8 {
        self.players
    }

    /// Number of suits.
    #[must_use]
    pub const fn colors(&self) -> u8 {
        self.colors
    }

    /// Number of ranks.
    #[must_use]
    pub const fn ranks(&self) -> u8 {
        self.ranks
    }

    /// The seats at the table, from 0.
    pub fn seats(&self) -> impl ExactSizeIterator<Item = Seat> + Clone + use<> {
        (0..self.players()).map(|seat| Seat::new_unchecked(seat.into()))
    }

    /// The offsets of the teammates, the next player first.
    pub fn teammates(&self) -> impl DoubleEndedIterator<Item = Offset> + Clone + use<> {
        (1..usize::from(self.players())).map(Offset::new_unchecked)
    }

    /// The seat at this offset from another one.
    ///
    /// # Panics
    /// If the seat or the offset is not below the number of players.
    #[must_use]
    #[inline]
    pub const fn seat_after(&self, seat: Seat, offset: Offset) -> Seat {
        let players = self.players as usize;
        if seat.index() >= players || offset.index() >= players {
            beyond_the_table();
        }
        self.seat_after_unchecked(seat, offset)
    }

    /// [`Variant::seat_after`] without its check: the caller knows that the variant has the seat and
    /// the offset. Without the checks of `seat_after`, `card_index` and `card` a game of random moves
    /// takes 7 % fewer instructions, one of rule lists 3 %.
    #[must_use]
    #[inline]
    pub(crate) const fn seat_after_unchecked(&self, seat: Seat, offset: Offset) -> Seat {
        let players = self.players as usize;
        debug_assert!(seat.index() < players && offset.index() < players);
        let sum = seat.index() + offset.index();
        Seat::new_unchecked(if sum >= players { sum - players } else { sum })
    }

    /// The offset of a seat from another one.
    ///
    /// # Panics
    /// If a seat is not below the number of players.
    #[must_use]
    #[inline]
    pub const fn offset_between(&self, from: Seat, to: Seat) -> Offset {
        let (from, to) = (from.index(), to.index());
        if from >= self.players as usize || to >= self.players as usize {
            beyond_the_table();
        }
        Offset::new_unchecked(if to >= from {
            to - from
        } else {
            to + self.players as usize - from
        })
    }

    /// Cards in a full hand.
    #[must_use]
    pub const fn hand_size(&self) -> u8 {
        self.hand_size
    }

    /// Information tokens at the start, and at most.
    #[must_use]
    pub const fn max_information_tokens(&self) -> u8 {
        self.max_information_tokens
    }

    /// Life tokens at the start.
    #[must_use]
    pub const fn max_life_tokens(&self) -> u8 {
        self.max_life_tokens
    }

    /// The names of the suits in text.
    #[must_use]
    pub const fn edition(&self) -> Edition {
        self.parameters.edition
    }

    /// The score of a lost game.
    #[must_use]
    pub const fn lost_game_score(&self) -> LostGameScore {
        self.parameters.lost_game_score
    }

    /// Cards in the whole deck, hands included.
    #[must_use]
    pub const fn deck_size(&self) -> u8 {
        self.deck_size
    }

    /// Cards left in the deck once every hand is dealt.
    #[must_use]
    pub const fn dealt_deck_size(&self) -> u8 {
        self.deck_size - self.players * self.hand_size
    }

    /// The score of a perfect game.
    #[must_use]
    pub const fn max_score(&self) -> u8 {
        self.colors * self.ranks
    }

    /// Copies of one card in the deck; 0 of a card that the variant does not have.
    #[must_use]
    pub const fn copies(&self, card: Card) -> u8 {
        self.copies[card.suit.index()][card.rank.index()]
    }

    /// The suits of this variant in index order.
    pub fn all_suits(&self) -> impl Iterator<Item = Suit> + use<> {
        Suit::ALL.into_iter().take(self.colors.into())
    }

    /// The ranks of this variant, the lowest first.
    pub fn all_ranks(&self) -> impl Iterator<Item = Rank> + use<> {
        Rank::ALL.into_iter().take(self.ranks.into())
    }

    /// Number of different cards.
    #[must_use]
    pub const fn num_card_kinds(&self) -> usize {
        self.colors as usize * self.ranks as usize
    }

    /// The different cards in index order.
    pub fn card_kinds(&self) -> impl Iterator<Item = Card> + '_ {
        self.tables.card[..self.num_card_kinds()].iter().copied()
    }

    /// Whether the variant has this card at all.
    #[must_use]
    pub const fn has_card(&self, card: Card) -> bool {
        card.suit.index() < self.colors as usize && card.rank.index() < self.ranks as usize
    }

    /// The index of a card, `suit * ranks + rank`, as in HLE.
    ///
    /// # Panics
    /// If the variant does not have the card.
    #[must_use]
    #[inline]
    pub const fn card_index(&self, card: Card) -> usize {
        assert!(self.has_card(card), "the variant does not have this card");
        self.card_index_unchecked(card)
    }

    /// As [`Variant::card_index`], for a card of the variant.
    #[must_use]
    #[inline]
    pub(crate) const fn card_index_unchecked(&self, card: Card) -> usize {
        debug_assert!(self.has_card(card));
        card.suit.index() * self.ranks as usize + card.rank.index()
    }

    /// The card with this index, which is below [`Variant::num_card_kinds`]: the inverse of
    /// [`Variant::card_index`].
    ///
    /// # Panics
    /// If the variant has no card with this index.
    #[must_use]
    #[inline]
    pub fn card(&self, index: usize) -> Card {
        assert!(index < self.num_card_kinds(), "no card has index {index}");
        self.card_unchecked(index)
    }

    /// As [`Variant::card`], for an index that a card has.
    #[must_use]
    #[inline]
    pub(crate) fn card_unchecked(&self, index: impl Into<usize>) -> Card {
        let index = index.into();
        debug_assert!(index < self.num_card_kinds(), "no card has index {index}");
        self.tables.card[index]
    }

    pub(crate) const fn tables(&self) -> &Tables {
        &self.tables
    }
}

/// Apart, so that the code of the methods that check their seats stays small.
#[cold]
#[inline(never)]
pub(in crate::rules) const fn beyond_the_table() -> ! {
    panic!("a seat or an offset is not below the number of players")
}

impl PartialEq for Variant {
    fn eq(&self, other: &Variant) -> bool {
        self.parameters() == other.parameters()
    }
}

impl Eq for Variant {}

impl Default for Variant {
    /// The standard game for two players.
    fn default() -> Variant {
        Variant::new(Parameters::default()).expect("the standard game is allowed")
    }
}

impl TryFrom<Parameters> for Variant {
    type Error = VariantError;

    fn try_from(parameters: Parameters) -> Result<Variant, VariantError> {
        Variant::new(parameters)
    }
}

impl From<Variant> for Parameters {
    fn from(variant: Variant) -> Parameters {
        variant.parameters
    }
}
