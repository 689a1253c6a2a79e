//! Bots as objects.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::player::{_Player, read_player};
use crate::bindings::arguments::numbers::{
    Integer, seat as read_seat, seed as read_seed, wrong_type,
};
use crate::bindings::errors::{BusyError, StarmineError};
use crate::bindings::interruptible::ask;
use crate::bindings::rules::state::State;
use crate::bindings::rules::variant::{Variant, read_variant};
use crate::bindings::rules::view::View;
use crate::bots::{Player, SeatedPlayer};
use crate::players::PlayerSpec;
use crate::rules;

/// The arguments of `SeatedBot._restored`.
type RestoreArguments = (_Player, Variant, u8, u64, Option<(u64, rules::State)>);

/// A bot in one seat, made by `starmine.make_bot`. `act(view)` returns its move as an action id. `play_games` takes it
/// as a player too, and seats a new copy of the bot in each game.
///
/// Attributes:
///     name: the bot's text.
///     variant: the variant that it plays.
///     seat: the seat that it holds.
#[pyclass(module = "starmine.games")]
pub struct SeatedBot {
    spec: PlayerSpec,
    variant: Arc<rules::Variant>,
    seat: rules::Seat,
    player: SeatedPlayer,
}

#[pymethods]
impl SeatedBot {
    #[getter]
    fn name(&self) -> String {
        self.spec.to_string()
    }

    #[getter]
    fn seat(&self) -> u8 {
        self.seat.into()
    }

    /// The player, loaded.
    #[getter]
    fn _player(&self) -> _Player {
        _Player(self.spec.clone())
    }

    #[getter]
    fn variant(&self) -> Variant {
        Variant(self.variant.clone())
    }

    /// The bot's move.
    ///
    /// The bot knows the game from the view's history: it may be asked in every turn, in some, or twice
    /// in the same one, and answers as if it had held the seat from the first turn. A view of another
    /// deal begins its next game. A bot that searches does not search in past turns in which it was
    /// not asked, so the possible hands that it draws may differ. Other Python threads run
    /// meanwhile. After Ctrl-C the bot may be asked again.
    ///
    /// Args:
    ///     view: of the bot's seat, which is to act.
    ///
    /// Returns:
    ///     The action id, which `State.apply` takes.
    ///
    /// Raises:
    ///     StarmineError: the view is of another seat or variant, another seat is to act, or the game is
    ///         over.
    ///     BusyError: another thread is in a call of this bot.
    fn act(this: &Bound<'_, Self>, view: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut bot = this.try_borrow_mut().map_err(|_| {
            BusyError::new_err(
                "this bot is in use by another thread: expected one caller at a time",
            )
        })?;
        let expected = "a View, which State.view makes";
        let view = view.cast::<View>().map_err(|_| wrong_type("view", view, expected))?;
        let (state, observer) = view.get().parts();
        if observer != bot.seat {
            let seat = bot.seat;
            return Err(StarmineError::new_err(format!(
                "the view is of seat {observer}: expected one of seat {seat}, which the bot holds"
            )));
        }
        if **state.variant() != *bot.variant {
            return Err(StarmineError::new_err(format!(
                "the view is of another variant ({}): expected {}",
                state.variant(),
                bot.variant
            )));
        }
        ask(view.py(), &mut bot.player, state)
    }

    fn __repr__(&self) -> String {
        format!("<SeatedBot {} in seat {}>", self.spec, self.seat)
    }

    /// Whether both have the same player, variant, seat and seed, and have been shown the same.
    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<bool> {
        Ok(slf.is(other) || slf.try_borrow()?.is_as_far(&*other.try_borrow()?))
    }

    fn __copy__(&self) -> SeatedBot {
        let (spec, variant) = (self.spec.clone(), self.variant.clone());
        SeatedBot { spec, variant, seat: self.seat, player: self.player.clone() }
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyDict>) -> SeatedBot {
        self.__copy__()
    }

    /// The bot of `__reduce__`.
    ///
    /// Raises:
    ///     StarmineError: as `make_bot`, or a game of another variant.
    #[staticmethod]
    fn _restored(
        bot: &Bound<'_, PyAny>,
        variant: &Bound<'_, PyAny>,
        seat: Integer,
        seed: &Bound<'_, PyAny>,
        followed: Option<(u64, PyRef<'_, State>)>,
    ) -> PyResult<SeatedBot> {
        let mut made = make_bot(bot, Some(variant), seat, Some(seed))?;
        if let Some((game, state)) = followed {
            if **state.rules().variant() != *made.variant {
                return Err(StarmineError::new_err("the stored game is of another variant"));
            }
            made.player.resume(game, state.rules());
        }
        Ok(made)
    }

    /// A pickle holds the player and what its seat has seen of the game that it follows.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, RestoreArguments)> {
        let seen = |(game, state): (u64, &rules::State)| {
            (game, rules::SeenGame::of(state, self.seat).stand_in())
        };
        let followed = self.player.followed().map(seen);
        let stored =
            (self._player(), self.variant(), self.seat.into(), self.player.seed(), followed);
        Ok((py.get_type::<SeatedBot>().getattr("_restored")?, stored))
    }
}

impl SeatedBot {
    /// Whether both have the same player in the same seat, and follow the same game to the same turn.
    fn is_as_far(&self, other: &SeatedBot) -> bool {
        let seats = |bot: &SeatedBot| (bot.seat, bot.player.seed());
        let is_same_game = match (self.player.followed(), other.player.followed()) {
            (Some((game, state)), Some((others_game, others))) => {
                game == others_game && state.is_seen_alike(others, self.seat)
            }
            (one, other) => one.is_none() && other.is_none(),
        };
        self._player().is_same(&other._player())
            && self.variant == other.variant
            && seats(self) == seats(other)
            && is_same_game
    }
}

/// make_bot(bot, variant="standard", seat=0, seed=0) -> SeatedBot
///
/// A bot as an object that is asked for moves, for loops of one's own.
///
/// Args:
///     bot: any text that `play_games` takes, policies included, or the result of `load_policy`.
///     variant: a `Variant`, or a preset's name.
///     seat: the seat that it holds.
///     seed: of its random choices, 0 to 2**64 - 1. In the first game that the bot sees, these are the choices
///         of game 0 of `play_games` with this seed, in the second those of game 1, and so on.
///
/// Raises:
///     UnknownNameError: there is no such bot, policy file or preset, or the text cannot be read.
///     SerializationError: a policy file is damaged.
///     VariantError: the bot does not play the variant.
///     StarmineError: a seat or a seed out of range, or a bot that sees all hands, which a view hides.
///
/// >>> import starmine
/// >>> state = starmine.Variant().new_game(seed=7)
/// >>> bots = [starmine.make_bot("smart", state.variant, seat) for seat in range(2)]
/// >>> while not state.is_terminal:
/// ...     seat = state.current_player
/// ...     reward = state.apply(bots[seat].act(state.view(seat)))
/// >>> games = starmine.play_games(["smart", "smart"], games=1, seed=7)
/// >>> games.scores.tolist() == [state.score]
/// True
#[pyfunction]
#[pyo3(signature = (bot, variant=None, seat=Integer::new(0), seed=None),
    text_signature = "(bot, variant='standard', seat=0, seed=0)")]
pub fn make_bot(
    bot: &Bound<'_, PyAny>,
    variant: Option<&Bound<'_, PyAny>>,
    seat: Integer,
    seed: Option<&Bound<'_, PyAny>>,
) -> PyResult<SeatedBot> {
    let variant = match variant {
        Some(given) => read_variant(given)?,
        None => Arc::new(rules::Variant::new(rules::preset("standard")?.parameters())?),
    };
    let spec = read_player("bot", bot)?;
    let player = spec.player(&variant)?;
    if matches!(player, Player::Cheater) {
        return Err(StarmineError::new_err(format!(
            "bot={:?} sees all hands, which a view hides: use State.suggest",
            spec.to_string()
        )));
    }
    let seat = read_seat("seat", &seat, variant.players())?;
    let seed = seed.map_or(Ok(0), read_seed)?;
    Ok(SeatedBot { spec, variant, seat, player: SeatedPlayer::new(player, seat, seed) })
}
