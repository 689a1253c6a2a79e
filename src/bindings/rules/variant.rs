//! The Python class `Variant`: the parameters of a game, and the presets by name.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::card::cards;
use super::moves::Move;
use super::parameters::{copies_table, named, parameters_dict};
use crate::bindings::arguments::numbers::{
    Integer, count, fresh_seed, integer, seed as read_seed, wrong_type,
};
use crate::bindings::arguments::text::Text;
use crate::bindings::encode::layout::layout;
use crate::bindings::errors::{
    DeckError, SerializationError, StarmineError, VariantError, illegal_action,
};
use crate::encode::Encoder;
use crate::rules::{self, EpisodeSeed, Parameters, Rating, SWITCHES};

/// Variant(players=2, colors=5, ranks=5, hand_size=None, max_information_tokens=8,
///         max_life_tokens=3, copies=None, random_start_player=False, empty_hints=False,
///         crowning_piece=False, timed_display=False, lost_game_score="zero", edition="standard")
///
/// The rules of a game and their parameters. A variant never changes.
///
/// Args:
///     players: 2 to 5.
///     colors: number of colours, also called suits, 1 to 6.
///     ranks: 1 to 5.
///     hand_size: 1 to 6; None for 5 with two or three players and 4 with more.
///     max_information_tokens: 0 to 16; games start with all of them.
///     max_life_tokens: 1 to 8; games start with all of them.
///     copies: for each colour a row with the number of copies of each rank, 1 to 3, at most 64 cards
///         in all; None for 3 copies of the lowest rank, 1 of the highest and 2 of the others.
///     random_start_player: whether a random seat starts, instead of seat 0.
///     empty_hints: whether a hint may match no card of the hand.
///     crowning_piece: whether the game has no last round. It goes on until it is perfect, the last life
///         token is lost, all copies of a card that a perfect game needs are discarded, or the seat to
///         act has no legal action.
///     timed_display: whether a play may announce its colour, as an action of its own, and then
///         regains an information token.
///     lost_game_score: the score of a game that ends as "lost", "indispensable_card_lost" or
///         "no_legal_action": "zero" as in HLE, or "fireworks" for the sum of the fireworks.
///     edition: the names of the suits in text: "standard", "ikebana" (black instead of white) or
///         "traditional" (playing cards). The games are the same.
///
/// Raises:
///     VariantError: a value that is not allowed. The message has the parameter, the value and what
///         is allowed.
///     TypeError: there is no such parameter, or a value of another type.
///
/// >>> import starmine
/// >>> v = starmine.Variant(players=5)
/// >>> v.num_actions, v.hand_size, v.deck_size, v.max_score
/// (48, 4, 50, 25)
/// >>> v.action_meaning(5)
/// 'play slot 1'
#[pyclass(frozen, eq, module = "starmine")]
#[derive(Clone, PartialEq)]
pub struct Variant(pub Arc<rules::Variant>);

/// The highest index of a game and of an episode.
const EPISODES: usize = i64::MAX as usize;

#[pymethods]
impl Variant {
    #[new]
    #[pyo3(signature = (players=Integer::new(2), colors=Integer::new(5), ranks=Integer::new(5), hand_size=None,
        max_information_tokens=Integer::new(8), max_life_tokens=Integer::new(3), copies=None,
        random_start_player=false, empty_hints=false, crowning_piece=false, timed_display=false,
        lost_game_score=Text::from("zero"), edition=Text::from("standard")),
        text_signature = "(players=2, colors=5, ranks=5, hand_size=None, max_information_tokens=8, max_life_tokens=3, copies=None, random_start_player=False, empty_hints=False, crowning_piece=False, timed_display=False, lost_game_score='zero', edition='standard')")]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword argument in Python")]
    fn new(
        players: Integer,
        colors: Integer,
        ranks: Integer,
        hand_size: Option<Integer>,
        max_information_tokens: Integer,
        max_life_tokens: Integer,
        copies: Option<&Bound<'_, PyAny>>,
        random_start_player: bool,
        empty_hints: bool,
        crowning_piece: bool,
        timed_display: bool,
        lost_game_score: Text,
        edition: Text,
    ) -> PyResult<Variant> {
        let parameters = Parameters {
            players: players.value,
            colors: colors.value,
            ranks: ranks.value,
            hand_size: hand_size.as_ref().map(|size| size.value),
            max_information_tokens: max_information_tokens.value,
            max_life_tokens: max_life_tokens.value,
            copies: copies.map(copies_table).transpose()?,
            random_start_player,
            empty_hints,
            crowning_piece,
            timed_display,
            lost_game_score: named(&lost_game_score)?,
            edition: named(&edition)?,
        };
        let numbers = [
            ("players", Some(&players)),
            ("colors", Some(&colors)),
            ("ranks", Some(&ranks)),
            ("hand_size", hand_size.as_ref()),
            ("max_information_tokens", Some(&max_information_tokens)),
            ("max_life_tokens", Some(&max_life_tokens)),
        ];
        let variant = rules::Variant::new(parameters).map_err(|error| {
            let named = numbers.iter().find(|(name, _)| *name == error.parameter);
            let message = named.and_then(|(_, number)| Some(number.as_ref()?.explain(&error)));
            VariantError::new_err(message.unwrap_or_else(|| error.to_string()))
        })?;
        Ok(Variant(Arc::new(variant)))
    }

    /// The number of copies of each card, by colour and rank.
    #[getter]
    fn copies(&self) -> Vec<Vec<i64>> {
        self.0.parameters().copies.clone().unwrap_or_default()
    }

    /// What players are told about each rule that is on or off: a dict of texts by `random_start_player`, `empty_hints`,
    /// `crowning_piece` and `timed_display`. Without `empty_hints` it is "A hint must touch at least one card.". The
    /// text is empty where nothing needs to be said.
    #[getter]
    fn switches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for switch in SWITCHES {
            dict.set_item(switch.name, switch.text(&self.0))?;
        }
        Ok(dict)
    }

    /// The names of the suits in the edition, by index, such as ["red", "yellow"].
    #[getter]
    fn suits(&self) -> Vec<&'static str> {
        self.0.all_suits().map(|suit| self.0.edition().suit_name(suit)).collect()
    }

    /// The letters of the suits in the edition, by index, such as "RY".
    #[getter]
    fn letters(&self) -> String {
        self.0.all_suits().map(|suit| self.0.edition().letter(suit)).collect()
    }

    /// The edition, which names the suits in text.
    #[getter]
    fn edition(&self) -> &'static str {
        self.0.edition().name()
    }

    /// The score of a lost game: "zero" or "fireworks".
    #[getter]
    fn lost_game_score(&self) -> &'static str {
        self.0.lost_game_score().name()
    }

    /// What an action id means, such as "play slot 2".
    ///
    /// Raises:
    ///     IllegalActionError: the variant has no such action.
    fn action_meaning(&self, action: Integer) -> PyResult<String> {
        Ok(self.0.edition().meaning(self.read_id(&action)?))
    }

    /// The move of an action id.
    ///
    /// Raises:
    ///     IllegalActionError: the variant has no such action.
    ///
    /// >>> import starmine
    /// >>> move = starmine.Variant().move(12)
    /// >>> move.kind, move.offset, move.color
    /// ('color_hint', 1, 2)
    fn r#move(&self, action: Integer) -> PyResult<Move> {
        Ok(Move::new(self.read_id(&action)?, self.0.edition()))
    }

    /// The action id of a `Move`, or of its text, such as "play 2" or "hint +1 red".
    ///
    /// Raises:
    ///     NotationError: the text is not a move.
    ///     IllegalActionError: the variant has no such move.
    pub fn action(&self, r#move: &Bound<'_, PyAny>) -> PyResult<u8> {
        let played = match r#move.cast::<Move>() {
            Ok(given) => given.get().played(),
            Err(_) => {
                let text: Text = r#move
                    .extract()
                    .map_err(|_| wrong_type("move", r#move, "a Move or text such as \"play 2\""))?;
                text.parse()?
            }
        };
        self.0.move_to_action(played).map(u8::from).ok_or_else(|| {
            crate::bindings::errors::IllegalActionError::new_err(format!(
                "\"{played}\" is not a move of this variant: {}",
                self.0
            ))
        })
    }

    /// The rating of a final score in the published rules, such as "amazing"; None for a variant
    /// without a scale.
    ///
    /// Raises:
    ///     StarmineError: the variant has no such score.
    fn rating(&self, score: Integer) -> PyResult<Option<&'static str>> {
        match u8::try_from(score.value) {
            Ok(score) if score <= self.0.max_score() => {
                Ok(Rating::of(&self.0, score).map(Rating::name))
            }
            _ => Err(StarmineError::new_err(format!(
                "score={score} is not allowed: expected 0 to {}",
                self.0.max_score()
            ))),
        }
    }

    /// The named sections of the observations of an encoder.
    ///
    /// Raises:
    ///     UnknownNameError: there is no such encoder.
    #[pyo3(signature = (encoder=Text::from("canonical")), text_signature = "($self, encoder='canonical')")]
    fn layout<'py>(&self, py: Python<'py>, encoder: Text) -> PyResult<Bound<'py, PyAny>> {
        layout(py, &encoder.parse::<Encoder>()?.layout(&self.0))
    }

    /// Whether a policy for this variant also plays the other one: only `random_start_player`, `lost_game_score` and
    /// `edition` may differ.
    fn _plays_alike(&self, other: &Variant) -> bool {
        self.0.plays_alike(&other.0)
    }

    /// Deals a game.
    ///
    /// Args:
    ///     seed: 0 to 2**64 - 1; None for a random one.
    ///     deck: all cards of the variant, instead of a seed, as `Card` or text, the top card first.
    ///         The hand of seat 0 is dealt first.
    ///     start_player: the seat that starts, only with a deck; None for seat 0.
    ///     game, episode: what game `game` of a batch with this seed has in its episode `episode`; each 0 to
    ///         2**63 - 1. Without effect if a deck is given.
    ///
    /// Raises:
    ///     DeckError: the deck is not the variant's, or there is no such seat.
    ///     NotationError: an item of the deck is not a card.
    ///     StarmineError: a number out of range, a seed and a deck at once, or a start player without
    ///         a deck.
    #[pyo3(signature = (seed=None, deck=None, start_player=None, *, game=Integer::new(0), episode=Integer::new(0)),
        text_signature = "($self, seed=None, deck=None, start_player=None, *, game=0, episode=0)")]
    fn new_game(
        &self,
        seed: Option<&Bound<'_, PyAny>>,
        deck: Option<&Bound<'_, PyAny>>,
        start_player: Option<Integer>,
        game: Integer,
        episode: Integer,
    ) -> PyResult<rules::State> {
        if let Some(deck) = deck {
            if seed.is_some() {
                return Err(StarmineError::new_err(
                    "a seed and a deck exclude each other: expected one of them",
                ));
            }
            let cards = cards(deck, self.0.deck_size())?;
            let start = start_player.unwrap_or(Integer::new(0));
            let dealt = self
                .0
                .start_player(start.value)
                .and_then(|start| rules::State::from_deck(self.0.clone(), cards, start));
            return dealt.map_err(|error| DeckError::new_err(start.explain(error)));
        }
        if let Some(start) = start_player {
            return Err(StarmineError::new_err(format!(
                "start_player={start} needs a deck: without one the variant and the seed decide"
            )));
        }
        let seed = EpisodeSeed {
            seed: seed.map_or_else(|| Ok(fresh_seed()), read_seed)?,
            game: count("game", &game, 0..=EPISODES)? as u64,
            episode: count("episode", &episode, 0..=EPISODES)? as u64,
        };
        Ok(rules::State::new(self.0.clone(), seed))
    }

    /// The parameters by name, as the constructor takes them. A `hand_size` or `copies` that has its
    /// default is None.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        parameters_dict(py, &self.0.brief_parameters())
    }

    /// The variant as JSON text.
    fn to_json(&self) -> String {
        serde_json::to_string(self.0.parameters()).expect("plain data becomes JSON")
    }

    /// Restores a variant from the text of `to_json`.
    ///
    /// Raises:
    ///     SerializationError: the text is not a stored variant.
    #[staticmethod]
    fn from_json(text: Text) -> PyResult<Variant> {
        let parsed: Result<rules::Variant, _> = serde_json::from_str(&text);
        let variant = parsed.map_err(|error| {
            SerializationError::new_err(format!("the text is not a stored variant: {error}"))
        })?;
        Ok(Variant(Arc::new(variant)))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.parameters().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let defaults = parameters_dict(py, &Parameters::default())?;
        let mut shown = Vec::new();
        for (name, value) in self.parameters(py)? {
            let default = defaults.get_item(&name)?;
            let is_default = default.is_some_and(|default| default.eq(&value).unwrap_or(false));
            if !is_default || name.eq("players")? {
                shown.push(format!("{name}={}", value.repr()?));
            }
        }
        Ok(format!("Variant({})", shown.join(", ")))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Variant>().getattr("from_json")?, (self.to_json(),)))
    }
}

/// Getters of properties that the rules' `Variant` has by the same names.
macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)+) => {
        #[pymethods]
        impl Variant {
            $($(#[$doc])* #[getter] fn $name(&self) -> $type { self.0.$name() })+
        }
    };
}

getters! {
    /// Seats at the table.
    players: u8;
    /// Number of suits.
    colors: u8;
    /// Number of ranks.
    ranks: u8;
    /// Cards in a full hand.
    hand_size: u8;
    /// Information tokens at the start, which is also the most that there can be.
    max_information_tokens: u8;
    /// Life tokens at the start, which is also the most that there can be.
    max_life_tokens: u8;
    /// Whether a random seat starts.
    random_start_player: bool;
    /// Whether a hint may match no card.
    empty_hints: bool;
    /// Whether the game goes on without a last round.
    crowning_piece: bool;
    /// Whether a play may announce a colour.
    timed_display: bool;
    /// Number of actions; their ids count from 0.
    num_actions: usize;
    /// Cards in the whole deck, hands included.
    deck_size: u8;
    /// The score of a perfect game.
    max_score: u8;
}

impl Variant {
    /// The move of an action id.
    fn read_id(&self, action: &Integer) -> PyResult<rules::Move> {
        let id = self.0.action_id(action.value);
        let played = id.and_then(|id| self.0.action_to_move(id));
        played.map_err(|error| illegal_action(&error, action.explain(&error)))
    }

    /// Reads an action: an id, a `Move`, or a move's text.
    pub fn read_action(&self, given: &Bound<'_, PyAny>) -> PyResult<Integer> {
        if given.is_instance_of::<Move>() || given.extract::<Text>().is_ok() {
            return Ok(Integer::new(self.action(given)?.into()));
        }
        integer("action", given)
    }
}

/// variant(name, **overrides) -> Variant
///
/// The variant of a preset, with some of its parameters changed.
///
/// Raises:
///     UnknownNameError: there is no such preset.
///     VariantError: a value out of range.
///     TypeError: there is no such parameter.
///
/// >>> import starmine
/// >>> starmine.variant("hard", players=4).max_life_tokens
/// 1
#[pyfunction]
#[pyo3(signature = (name, **overrides))]
pub fn variant<'py>(
    py: Python<'py>,
    name: Text,
    overrides: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let parameters = parameters_dict(py, &rules::preset(&name)?.parameters())?;
    if let Some(overrides) = overrides {
        parameters.update(overrides.as_mapping())?;
    }
    py.get_type::<Variant>().call((), Some(&parameters))
}

/// _hle_preset(name) -> str | None
///
/// The preset that HLE calls by this name; None if it has no such name.
#[pyfunction]
pub fn _hle_preset(name: Text) -> Option<&'static str> {
    rules::hle_preset(&name)
}

/// variants() -> list[str]
///
/// The names of all presets.
#[pyfunction]
pub fn variants() -> Vec<&'static str> {
    rules::PRESETS.iter().map(|preset| preset.name).collect()
}

/// Reads a variant: a `Variant`, or a preset's name.
pub fn read_variant(given: &Bound<'_, PyAny>) -> PyResult<Arc<rules::Variant>> {
    if let Ok(variant) = given.cast::<Variant>() {
        return Ok(variant.get().0.clone());
    }
    match given.extract::<Text>() {
        Ok(name) => Ok(Arc::new(rules::Variant::new(rules::preset(&name)?.parameters())?)),
        Err(_) => Err(VariantError::new_err(format!(
            "variant={} is not allowed: expected a Variant or a preset's name",
            given.repr()?
        ))),
    }
}
