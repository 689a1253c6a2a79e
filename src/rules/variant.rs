use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::card::{Card, Rank, Suit};
use super::edition::Edition;
use super::limits::{MAX_CARDS, MAX_COLORS, MAX_HAND_SIZE, MAX_PLAYERS, MAX_RANKS};
use super::tables::{Copies, Tables};

/// What a lost game scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LostGameScore {
    /// Nothing, as in HLE.
    #[default]
    Zero,
    /// The sum of the fireworks, as if the game had ended otherwise.
    Fireworks,
}

impl LostGameScore {
    /// The name that Python sees.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            LostGameScore::Zero => "zero",
            LostGameScore::Fireworks => "fireworks",
        }
    }

    /// The rule of this name.
    ///
    /// # Errors
    /// [`VariantError`] for any other name.
    pub fn from_name(name: &str) -> Result<LostGameScore, VariantError> {
        [LostGameScore::Zero, LostGameScore::Fireworks]
            .into_iter()
            .find(|rule| rule.name() == name)
            .ok_or_else(|| {
                VariantError::new(
                    "lost_game_score",
                    format!("{name:?}"),
                    "\"zero\" or \"fireworks\"",
                )
            })
    }
}

/// The parameters of a variant as somebody wrote them, not yet checked. The default is the
/// two-player base game.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {
    /// Seats at the table, 2 to 5.
    pub players: i64,
    /// Suits, 1 to 6.
    pub colors: i64,
    /// Ranks, 1 to 5.
    pub ranks: i64,
    /// Cards in a hand, 1 to 6. `None`: 5 with two or three players, 4 with more.
    pub hand_size: Option<i64>,
    /// Information tokens at the start and at most, 0 to 16.
    pub max_information_tokens: i64,
    /// Life tokens at the start, 1 to 8.
    pub max_life_tokens: i64,
    /// Copies of each card by suit and rank, 1 to 3. `None`: 3 of the lowest rank, 1 of the
    /// highest, 2 of the others.
    pub copies: Option<Vec<Vec<i64>>>,
    /// Whether any seat may start, instead of seat 0.
    pub random_start_player: bool,
    /// Whether a hint may match no card.
    pub empty_hints: bool,
    /// Whether the game goes on without a last round until it is perfect or cannot be any more.
    pub crowning_piece: bool,
    /// Whether a play may announce a colour.
    pub timed_display: bool,
    /// What a lost game scores.
    pub lost_game_score: LostGameScore,
    /// Whose names the suits have, in text only.
    pub edition: Edition,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            players: 2,
            colors: 5,
            ranks: 5,
            hand_size: None,
            max_information_tokens: 8,
            max_life_tokens: 3,
            copies: None,
            random_start_player: false,
            empty_hints: false,
            crowning_piece: false,
            timed_display: false,
            lost_game_score: LostGameScore::Zero,
            edition: Edition::Standard,
        }
    }
}

/// A parameter outside its range: which, its value, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{parameter}={value} is not allowed: expected {allowed}")]
pub struct VariantError {
    /// The parameter's name.
    pub parameter: String,
    /// The value that was given.
    pub value: String,
    /// What would be allowed.
    pub allowed: String,
}

impl VariantError {
    /// An error about one parameter.
    pub fn new(
        parameter: impl Into<String>,
        value: impl fmt::Display,
        allowed: impl Into<String>,
    ) -> VariantError {
        VariantError {
            parameter: parameter.into(),
            value: value.to_string(),
            allowed: allowed.into(),
        }
    }
}

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
    players: u8,
    colors: u8,
    ranks: u8,
    hand_size: u8,
    max_information_tokens: u8,
    max_life_tokens: u8,
    random_start_player: bool,
    empty_hints: bool,
    crowning_piece: bool,
    timed_display: bool,
    lost_game_score: LostGameScore,
    edition: Edition,
    copies: [[u8; MAX_RANKS]; MAX_COLORS],
    deck_size: u8,
    num_actions: u8,
    tables: Tables,
}

fn in_range(name: &str, value: i64, low: i64, high: usize) -> Result<u8, VariantError> {
    if value < low || value > high as i64 {
        return Err(VariantError::new(name, value, format!("{low} to {high}")));
    }
    Ok(value as u8)
}

const fn default_hand_size(players: u8) -> u8 {
    if players < 4 { 5 } else { 4 }
}

fn default_copies(rank: u8, ranks: u8) -> i64 {
    if rank == 0 {
        3
    } else if rank + 1 == ranks {
        1
    } else {
        2
    }
}

fn check_copies(
    given: Option<&Vec<Vec<i64>>>,
    colors: u8,
    ranks: u8,
) -> Result<Copies, VariantError> {
    let mut copies = Copies::default();
    if let Some(table) = given {
        let fits = table.len() == usize::from(colors)
            && table.iter().all(|row| row.len() == usize::from(ranks));
        if !fits {
            let allowed = format!(
                "{colors} rows (one for each colour) of {ranks} numbers (one for each rank)"
            );
            return Err(VariantError::new("copies", format!("{table:?}"), allowed));
        }
    }
    for suit in 0..colors {
        for rank in 0..ranks {
            let (row, column) = (usize::from(suit), usize::from(rank));
            let count =
                given.map_or_else(|| default_copies(rank, ranks), |table| table[row][column]);
            copies[row][column] = in_range(&format!("copies[{row}][{column}]"), count, 1, 3)?;
        }
    }
    Ok(copies)
}

impl Variant {
    /// Checks the parameters and fixes them.
    ///
    /// # Errors
    /// [`VariantError`] names the first parameter outside its range, its value and the range.
    pub fn new(parameters: Parameters) -> Result<Variant, VariantError> {
        let players = in_range("players", parameters.players, 2, MAX_PLAYERS)?;
        let colors = in_range("colors", parameters.colors, 1, MAX_COLORS)?;
        let ranks = in_range("ranks", parameters.ranks, 1, MAX_RANKS)?;
        let hand_size = parameters.hand_size.unwrap_or(default_hand_size(players).into());
        let hand_size = in_range("hand_size", hand_size, 1, MAX_HAND_SIZE)?;
        let information = parameters.max_information_tokens;
        let copies = check_copies(parameters.copies.as_ref(), colors, ranks)?;
        let deck_size: u8 = copies.iter().flatten().sum();
        if usize::from(deck_size) > MAX_CARDS {
            let table = parameters.copies.unwrap_or_default();
            let value = format!("{table:?} ({deck_size} cards)");
            let allowed = format!("copies that add up to at most {MAX_CARDS} cards");
            return Err(VariantError::new("copies", value, allowed));
        }
        if u16::from(hand_size) * u16::from(players) > u16::from(deck_size) {
            let allowed = format!(
                "at most {} with {players} players and a deck of {deck_size} cards",
                deck_size / players
            );
            return Err(VariantError::new("hand_size", hand_size, allowed));
        }
        let mut variant = Variant {
            players,
            colors,
            ranks,
            hand_size,
            max_information_tokens: in_range("max_information_tokens", information, 0, 16)?,
            max_life_tokens: in_range("max_life_tokens", parameters.max_life_tokens, 1, 8)?,
            random_start_player: parameters.random_start_player,
            empty_hints: parameters.empty_hints,
            crowning_piece: parameters.crowning_piece,
            timed_display: parameters.timed_display,
            lost_game_score: parameters.lost_game_score,
            edition: parameters.edition,
            tables: Tables::new(colors, ranks, &copies),
            copies,
            deck_size,
            num_actions: 0,
        };
        variant.num_actions = variant.count_actions() as u8;
        variant.tables.moves =
            (0..variant.num_actions()).map(|action| variant.decode(action)).collect();
        Ok(variant)
    }

    /// The parameters, with every default filled in.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        let copies = self.suits().map(|suit| {
            self.rank_values().map(|rank| i64::from(self.copies(Card::new(suit, rank)))).collect()
        });
        Parameters {
            players: self.players.into(),
            colors: self.colors.into(),
            ranks: self.ranks.into(),
            hand_size: Some(self.hand_size.into()),
            max_information_tokens: self.max_information_tokens.into(),
            max_life_tokens: self.max_life_tokens.into(),
            copies: Some(copies.collect()),
            random_start_player: self.random_start_player,
            empty_hints: self.empty_hints,
            crowning_piece: self.crowning_piece,
            timed_display: self.timed_display,
            lost_game_score: self.lost_game_score,
            edition: self.edition,
        }
    }

    /// The parameters as briefly as they can be said: what follows from others is `None`.
    #[must_use]
    pub fn brief_parameters(&self) -> Parameters {
        let mut parameters = self.parameters();
        if self.hand_size == default_hand_size(self.players) {
            parameters.hand_size = None;
        }
        let follows = |card: Card| {
            let default = default_copies(card.rank.index() as u8, self.ranks);
            i64::from(self.copies(card)) == default
        };
        if self.card_kinds().all(follows) {
            parameters.copies = None;
        }
        parameters
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

    /// The seat so many places clockwise of another, both below the number of players.
    #[must_use]
    pub const fn seat_after(&self, seat: usize, offset: usize) -> usize {
        let sum = seat + offset;
        let players = self.players as usize;
        if sum >= players { sum - players } else { sum }
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

    /// Whether any seat may start.
    #[must_use]
    pub const fn random_start_player(&self) -> bool {
        self.random_start_player
    }

    /// Whether a hint may match no card.
    #[must_use]
    pub const fn empty_hints(&self) -> bool {
        self.empty_hints
    }

    /// Whether the game goes on without a last round until it is perfect or cannot be any more.
    #[must_use]
    pub const fn crowning_piece(&self) -> bool {
        self.crowning_piece
    }

    /// Whether a play may announce a colour.
    #[must_use]
    pub const fn timed_display(&self) -> bool {
        self.timed_display
    }

    /// Whose names the suits have, in text only.
    #[must_use]
    pub const fn edition(&self) -> Edition {
        self.edition
    }

    /// What a lost game scores.
    #[must_use]
    pub const fn lost_game_score(&self) -> LostGameScore {
        self.lost_game_score
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

    /// Copies of one card in the deck.
    #[must_use]
    pub const fn copies(&self, card: Card) -> u8 {
        self.copies[card.suit.index()][card.rank.index()]
    }

    /// The suits of this variant in index order.
    pub fn suits(&self) -> impl Iterator<Item = Suit> + use<> {
        Suit::ALL.into_iter().take(self.colors.into())
    }

    /// The ranks of this variant, the lowest first.
    pub fn rank_values(&self) -> impl Iterator<Item = Rank> + use<> {
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
    #[must_use]
    pub const fn card_index(&self, card: Card) -> usize {
        card.suit.index() * self.ranks as usize + card.rank.index()
    }

    pub(crate) const fn tables(&self) -> &Tables {
        &self.tables
    }
}

impl PartialEq for Variant {
    fn eq(&self, other: &Variant) -> bool {
        self.parameters() == other.parameters()
    }
}

impl Eq for Variant {}

impl TryFrom<Parameters> for Variant {
    type Error = VariantError;

    fn try_from(parameters: Parameters) -> Result<Variant, VariantError> {
        Variant::new(parameters)
    }
}

impl From<Variant> for Parameters {
    fn from(variant: Variant) -> Parameters {
        variant.parameters()
    }
}
