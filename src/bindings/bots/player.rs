//! Players of the core, loaded once.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::bindings::arguments::numbers::wrong_type;
use crate::bindings::arguments::text::Text;
use crate::bindings::errors::SerializationError;
use crate::bindings::nn::network::_Network;
use crate::bots::Noise;
use crate::nn::MoveChoice;
use crate::players::{PlayerSpec, PlayerSpecError, StoredPlayer};

/// A bot, a trained policy or a searcher, loaded: the weights of a policy are those of the moment at which the
/// player was made, whatever its file holds later.
///
/// Attributes:
///     text: the text that is parsed to this player, as long as the file of a policy stays as it is.
///     weights: the contents of the policy's file, bytes; None without a policy.
///     cheats: whether it sees its own hand.
///     searches: whether it searches.
#[pyclass(frozen, module = "starmine._core")]
pub struct _Player(pub PlayerSpec);

#[pymethods]
impl _Player {
    /// Parses the text of a player. The file of a policy is read now.
    ///
    /// Raises:
    ///     UnknownNameError: the text names no player, or a file that cannot be read.
    ///     SerializationError: the policy's file is damaged.
    ///     StarmineError: a search that is not allowed.
    #[new]
    fn new(py: Python<'_>, text: Text) -> PyResult<_Player> {
        Ok(_Player(py.detach(|| text.parse::<PlayerSpec>())?))
    }

    /// The player of a network.
    ///
    /// Args:
    ///     network: with the weights.
    ///     source: the path of its file, or its name if it is shipped.
    ///     sampled: whether it samples its moves.
    #[staticmethod]
    fn of_network(network: &_Network, source: Text, sampled: bool) -> _Player {
        let choice = if sampled { MoveChoice::Sampled } else { MoveChoice::Greedy };
        _Player(PlayerSpec::of_policy(&source, network.0.clone(), choice))
    }

    #[getter]
    fn text(&self) -> String {
        self.0.to_string()
    }

    /// The text with another text in the place of the policy's path or name.
    fn text_with(&self, source: Text) -> String {
        self.0.with_source(&source).to_string()
    }

    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.0.policy().map(|policy| PyBytes::new(py, policy.bytes()))
    }

    #[getter]
    fn cheats(&self) -> bool {
        self.0.cheats()
    }

    #[getter]
    fn searches(&self) -> bool {
        self.0.searches()
    }

    /// The player with noise: with this probability a random legal move replaces its own.
    ///
    /// Raises:
    ///     UnknownNameError: the probability is out of range, or the player has noise already or searches.
    fn noisy(&self, probability: f64) -> PyResult<_Player> {
        let noise = Noise::new(probability);
        let noise = noise.ok_or_else(|| PlayerSpecError::Noise(probability.to_string()))?;
        Ok(_Player(self.0.clone().with_noise(noise)?))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<_Player>().is_ok_and(|other| self.is_same(other.get()))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.to_string().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("<Player {:?}>", self.0.to_string())
    }

    fn __copy__(&self) -> _Player {
        _Player(self.0.clone())
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyDict>) -> _Player {
        _Player(self.0.clone())
    }

    /// The player of `__reduce__`.
    ///
    /// Raises:
    ///     SerializationError: the bytes are not those of a player.
    #[staticmethod]
    fn _of_bytes(data: &[u8]) -> PyResult<_Player> {
        let stored: StoredPlayer = postcard::from_bytes(data)
            .map_err(|error| SerializationError::new_err(format!("a stored player: {error}")))?;
        Ok(_Player(stored.load()?))
    }

    /// A pickle holds the weights of a policy, except those that come with the package.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes =
            postcard::to_stdvec(&StoredPlayer::of(&self.0)).expect("a vector takes every byte");
        let of_bytes = py.get_type::<_Player>().getattr("_of_bytes")?;
        Ok((of_bytes, (PyBytes::new(py, &bytes),)))
    }
}

impl _Player {
    /// Whether both have the same text and the same weights.
    pub fn is_same(&self, other: &_Player) -> bool {
        self.0 == other.0
    }
}

/// Reads a player: a text, or an object that carries a loaded one, such as a trained policy. `None` for anything else.
pub fn read_player_if(given: &Bound<'_, PyAny>) -> PyResult<Option<PlayerSpec>> {
    if let Ok(text) = given.extract::<Text>() {
        return Ok(Some(given.py().detach(|| text.parse::<PlayerSpec>())?));
    }
    let carried = match given.cast::<_Player>() {
        Ok(player) => player.clone(),
        Err(_) => match given.getattr("_player").ok().and_then(|player| player.cast_into().ok()) {
            Some(player) => player,
            None => return Ok(None),
        },
    };
    Ok(Some(carried.get().0.clone()))
}

/// As [`read_player_if`]; an error that names the argument for anything else.
pub fn read_player(place: &str, given: &Bound<'_, PyAny>) -> PyResult<PlayerSpec> {
    read_player_if(given)?.ok_or_else(|| {
        wrong_type(place, given, "a bot's name or a TrainedPolicy, which the core plays")
    })
}
