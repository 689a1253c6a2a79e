use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::card::cards;
use super::errors::{DeckError, SerializationError, StarmineError, VariantError, illegal_action};
use super::layout::Layout;
use super::numbers::{Integer, count, fresh_seed, integer, seed as read_seed};
use super::state::State;
use crate::encode;
use crate::rules::{self, EpisodeSeed, Move, Named, Parameters, Rating};

/// Variant(players=2, colors=5, ranks=5, hand_size=None, max_information_tokens=8,
///         max_life_tokens=3, copies=None, random_start_player=False, empty_hints=False,
///         crowning_piece=False, timed_display=False, lost_game_score="zero", edition="standard")
///
/// The immutable rules of one kind of game.
///
/// Args:
///     players: 2 to 5.
///     colors: number of suits, 1 to 6.
///     ranks: 1 to 5.
///     hand_size: 1 to 6; None for 5 with two or three players and 4 with more.
///     max_information_tokens: 0 to 16, also the number at the start.
///     max_life_tokens: 1 to 8, also the number at the start.
///     copies: a row for each colour with 1 to 3 copies of each rank, at most 64 cards in all;
///         None for 3 of the lowest rank, 1 of the highest, 2 of the others.
///     random_start_player: whether any seat may start, instead of seat 0.
///     empty_hints: whether a hint may match no card.
///     crowning_piece: no last round: the game goes on until it is perfect, a card that a perfect
///         game needs is lost, or a player can do nothing.
///     timed_display: a play may announce its colour, as an action of its own, and then regains an
///         information token.
///     lost_game_score: "zero" as in HLE, or "fireworks" to keep the fireworks' sum.
///     edition: whose suits text shows: "standard", "ikebana" (black instead of white) or
///         "traditional" (playing cards). The games are the same.
///
/// Raises:
///     VariantError: a value outside its range; the message names it and what is allowed.
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

/// Games and episodes are counted up to here.
const EPISODES: usize = i64::MAX as usize;

fn copies_table(copies: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<i64>>> {
    let rows: Result<Vec<Vec<Integer>>, PyErr> = copies.extract();
    let rows = rows.map_err(|_| {
        let value = copies.repr().map_or_else(|_| "?".into(), |text| text.to_string());
        let allowed = "a list with a row for each colour of 1 to 3 copies of each rank";
        PyErr::from(rules::VariantError::new("copies", value, allowed))
    })?;
    if let Some(beyond) = rows.iter().flatten().find(|count| count.is_beyond()) {
        return Err(rules::VariantError::new("copies", beyond, "1 to 3 of each card").into());
    }
    Ok(rows.into_iter().map(|row| row.into_iter().map(|count| count.value).collect()).collect())
}

/// A parameter that Python gives by name.
fn parameter<T: Named>(name: &str) -> PyResult<T> {
    T::from_name(name).map_err(|error| VariantError::new_err(error.to_string()))
}

#[pymethods]
impl Variant {
    #[new]
    #[pyo3(signature = (players=Integer::new(2), colors=Integer::new(5), ranks=Integer::new(5), hand_size=None,
        max_information_tokens=Integer::new(8), max_life_tokens=Integer::new(3), copies=None,
        random_start_player=false, empty_hints=false, crowning_piece=false, timed_display=false,
        lost_game_score="zero", edition="standard"),
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
        lost_game_score: &str,
        edition: &str,
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
            lost_game_score: parameter(lost_game_score)?,
            edition: parameter(edition)?,
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

    /// Seats at the table.
    #[getter]
    fn players(&self) -> u8 {
        self.0.players()
    }

    /// Number of suits.
    #[getter]
    fn colors(&self) -> u8 {
        self.0.colors()
    }

    /// Number of ranks.
    #[getter]
    fn ranks(&self) -> u8 {
        self.0.ranks()
    }

    /// Cards in a full hand.
    #[getter]
    fn hand_size(&self) -> u8 {
        self.0.hand_size()
    }

    /// Information tokens at the start, and at most.
    #[getter]
    fn max_information_tokens(&self) -> u8 {
        self.0.max_information_tokens()
    }

    /// Life tokens at the start.
    #[getter]
    fn max_life_tokens(&self) -> u8 {
        self.0.max_life_tokens()
    }

    /// Copies of each card, by colour and rank.
    #[getter]
    fn copies(&self) -> Vec<Vec<i64>> {
        self.0.parameters().copies.clone().unwrap_or_default()
    }

    /// Whether any seat may start.
    #[getter]
    fn random_start_player(&self) -> bool {
        self.0.random_start_player()
    }

    /// Whether a hint may match no card.
    #[getter]
    fn empty_hints(&self) -> bool {
        self.0.empty_hints()
    }

    /// Whether the game goes on without a last round.
    #[getter]
    fn crowning_piece(&self) -> bool {
        self.0.crowning_piece()
    }

    /// Whether a play may announce a colour.
    #[getter]
    fn timed_display(&self) -> bool {
        self.0.timed_display()
    }

    /// Whose suits text shows.
    #[getter]
    fn edition(&self) -> &'static str {
        self.0.edition().name()
    }

    /// What a lost game scores: "zero" or "fireworks".
    #[getter]
    fn lost_game_score(&self) -> &'static str {
        self.0.lost_game_score().name()
    }

    /// Number of action ids.
    #[getter]
    fn num_actions(&self) -> usize {
        self.0.num_actions()
    }

    /// Cards in the whole deck, hands included.
    #[getter]
    fn deck_size(&self) -> u8 {
        self.0.deck_size()
    }

    /// The score of a perfect game.
    #[getter]
    fn max_score(&self) -> u8 {
        self.0.max_score()
    }

    /// What an action id means, such as "play slot 2".
    ///
    /// Raises:
    ///     IllegalActionError: the variant has no such action.
    fn action_meaning(&self, action: Integer) -> PyResult<String> {
        let played = self.0.action_to_move(action.value);
        let played = played.map_err(|error| illegal_action(&error, action.explain(&error)))?;
        Ok(self.0.edition().meaning(played))
    }

    /// The action id of a move's text, such as "play 2" or "hint +1 red".
    ///
    /// Raises:
    ///     NotationError: the text is not a move.
    ///     IllegalActionError: the variant has no such move.
    pub(super) fn action(&self, text: &str) -> PyResult<usize> {
        let played: Move = text.parse()?;
        self.0.move_to_action(played).ok_or_else(|| {
            super::errors::IllegalActionError::new_err(format!(
                "\"{played}\" is not a move of this variant: {}",
                self.0
            ))
        })
    }

    /// The rule sheets' word for a final score, such as "amazing"; None where they have no scale.
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

    /// The named sections of an encoder's observations.
    ///
    /// Raises:
    ///     UnknownNameError: there is no such encoder.
    #[pyo3(signature = (encoder="canonical"))]
    fn layout(&self, encoder: &str) -> PyResult<Layout> {
        Ok(Layout(encode::encoder(encoder)?.layout(&self.0)))
    }

    /// Deals a game.
    ///
    /// Args:
    ///     seed: 0 to 2**64 - 1; None for a random one.
    ///     deck: instead of a seed, all cards of the variant as `Card` or text, the top card
    ///         first; seat 0's hand is dealt first.
    ///     start_player: with a deck, the seat that starts; None for seat 0.
    ///     game, episode: with a seed, the game index and the episode of a batch seeded with it,
    ///         to deal exactly that game.
    ///
    /// Raises:
    ///     DeckError: the deck is not the variant's, or there is no such seat.
    ///     NotationError: an item of the deck is not a card.
    ///     StarmineError: a seed out of range, or a seed and a deck at once.
    #[pyo3(signature = (seed=None, deck=None, start_player=None, *, game=Integer::new(0), episode=Integer::new(0)),
        text_signature = "($self, seed=None, deck=None, start_player=None, *, game=0, episode=0)")]
    fn new_game(
        &self,
        seed: Option<&Bound<'_, PyAny>>,
        deck: Option<&Bound<'_, PyAny>>,
        start_player: Option<Integer>,
        game: Integer,
        episode: Integer,
    ) -> PyResult<State> {
        if let Some(deck) = deck {
            if seed.is_some() {
                return Err(StarmineError::new_err(
                    "a seed and a deck exclude each other: expected one of them",
                ));
            }
            let cards = cards(deck, self.0.deck_size())?;
            let start = start_player.unwrap_or(Integer::new(0));
            let state = rules::State::from_deck(self.0.clone(), cards, start.value)
                .map_err(|error| DeckError::new_err(start.explain(error)))?;
            return Ok(State::new(state));
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
        Ok(State::new(rules::State::new(self.0.clone(), seed)))
    }

    /// The parameters by name, as the constructor takes them; None for a `hand_size` or `copies` that
    /// follows from the others.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        parameters_dict(py, &self.0.brief_parameters())
    }

    /// The variant as JSON text.
    fn to_json(&self) -> String {
        serde_json::to_string(self.0.parameters()).expect("plain data becomes JSON")
    }

    /// The variant of `to_json`.
    ///
    /// Raises:
    ///     SerializationError: the text is not a stored variant.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Variant> {
        let parsed: Result<rules::Variant, _> = serde_json::from_str(text);
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

impl Variant {
    /// An action that Python gave: an id, or a move's text.
    pub(super) fn read_action(&self, given: &Bound<'_, PyAny>) -> PyResult<Integer> {
        match given.extract::<String>() {
            Ok(text) => Ok(Integer::new(self.action(&text)? as i64)),
            Err(_) => integer("action", given),
        }
    }
}

fn parameters_dict<'py>(py: Python<'py>, parameters: &Parameters) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("players", parameters.players)?;
    dict.set_item("colors", parameters.colors)?;
    dict.set_item("ranks", parameters.ranks)?;
    dict.set_item("hand_size", parameters.hand_size)?;
    dict.set_item("max_information_tokens", parameters.max_information_tokens)?;
    dict.set_item("max_life_tokens", parameters.max_life_tokens)?;
    dict.set_item("copies", parameters.copies.clone())?;
    dict.set_item("random_start_player", parameters.random_start_player)?;
    dict.set_item("empty_hints", parameters.empty_hints)?;
    dict.set_item("crowning_piece", parameters.crowning_piece)?;
    dict.set_item("timed_display", parameters.timed_display)?;
    dict.set_item("lost_game_score", parameters.lost_game_score.name())?;
    dict.set_item("edition", parameters.edition.name())?;
    Ok(dict)
}

/// variant(name, **overrides) -> Variant
///
/// The variant of a preset, with some parameters changed.
///
/// Raises:
///     UnknownNameError: there is no such preset.
///     VariantError: a value outside its range.
///     TypeError: there is no such parameter.
///
/// >>> import starmine
/// >>> starmine.variant("hard", players=4).max_life_tokens
/// 1
#[pyfunction]
#[pyo3(signature = (name, **overrides))]
pub fn variant<'py>(
    py: Python<'py>,
    name: &str,
    overrides: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let parameters = parameters_dict(py, &rules::preset(name)?)?;
    if let Some(overrides) = overrides {
        parameters.update(overrides.as_mapping())?;
    }
    py.get_type::<Variant>().call((), Some(&parameters))
}

/// variants() -> list[str]
///
/// The names of all presets.
#[pyfunction]
pub fn variants() -> Vec<&'static str> {
    rules::PRESETS.iter().map(|preset| preset.name).collect()
}

/// A variant that Python gave: a `Variant` or a preset's name.
pub(super) fn read_variant(given: &Bound<'_, PyAny>) -> PyResult<Arc<rules::Variant>> {
    if let Ok(variant) = given.cast::<Variant>() {
        return Ok(variant.get().0.clone());
    }
    match given.extract::<String>() {
        Ok(name) => Ok(Arc::new(rules::Variant::new(rules::preset(&name)?)?)),
        Err(_) => Err(VariantError::new_err(format!(
            "variant={} is not allowed: expected a Variant or a preset's name",
            given.repr()?
        ))),
    }
}
