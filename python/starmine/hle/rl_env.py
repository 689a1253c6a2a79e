"""The names of HLE's module `rl_env`: its environment with dictionaries, and the interface of its agents.

`from starmine.hle import rl_env` stands for `from hanabi_learning_environment import rl_env`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

from starmine._core import Card
from starmine._util.copies import CopiedWhole
from starmine.hle import pyhanabi
from starmine.hle.dictionary import observation_dict
from starmine.hle.moves import IllegalMoveError, move_of
from starmine.hle.pyhanabi import color_char_to_idx
from starmine.hle.rules import preset_parameters

MOVE_TYPES = [kind.name for kind in pyhanabi.HanabiMoveType]

_ABSTRACT = "an interface, as in HLE: expected a subclass with this method"


class Environment:
    """The interface of environments."""

    def reset(self, config: Any) -> Any:
        """Deal a new game; returns the observations."""
        raise NotImplementedError(_ABSTRACT)

    def step(self, action: Any) -> Any:
        """Play a turn; returns observations, reward, whether the game is over, and info."""
        raise NotImplementedError(_ABSTRACT)


class HanabiEnv(CopiedWhole, Environment):
    """A game whose observations are HLE's dictionaries.

    Attributes:
        game: the `HanabiGame`.
        state: the `HanabiState`, from the first `reset` on.
        players: the number of seats.
        observation_encoder: makes the entry "vectorized"; another `ObservationEncoder` may take its place.

    Example:
        >>> from starmine.hle import rl_env
        >>> env = rl_env.HanabiEnv({"players": 2, "seed": 7})
        >>> observations = env.reset()
        >>> observations["player_observations"][0]["legal_moves"][0]
        {'action_type': 'PLAY', 'card_index': 0}
        >>> observations, reward, done, info = env.step({"action_type": "PLAY", "card_index": 0})
        >>> observations["current_player"], done
        (1, False)
    """

    def __init__(self, config: dict[str, Any]) -> None:
        """An environment of HLE's parameters, as `HanabiGame` takes them.

        Raises:
            UnknownNameError: there is no such parameter.
            StarmineError: a parameter is out of range.
        """
        self.game = pyhanabi.HanabiGame(config)
        self.observation_encoder = pyhanabi.ObservationEncoder(self.game, pyhanabi.ObservationEncoderType.CANONICAL)
        self.players = self.game.num_players()
        self.state: pyhanabi.HanabiState

    def reset(  # type: ignore[override]  # of the interface, whose argument HLE does not take either
        self, *, deck: Sequence[Card | str] | None = None, start_player: int | None = None
    ) -> dict[str, Any]:
        """Deal a new game.

        Args:
            deck: all cards in the order of dealing, as `HanabiGame.new_initial_state` takes them; None for random ones.
                HLE has no such argument.
            start_player: the seat that starts, likewise.

        Returns:
            "current_player", and "player_observations" with a dictionary for each seat. Together they show all
            cards: give each agent its own.

        Raises:
            DeckError: the deck is not the variant's.
            StarmineError: there is no such seat.
        """
        self.state = self.game.new_initial_state(deck, start_player)
        self.state._deal_all()
        return self._make_observation_all_players()

    def vectorized_observation_shape(self) -> list[int]:
        """The shape of the entry "vectorized"."""
        return self.observation_encoder.shape()

    def num_moves(self) -> int:
        """The number of moves, legal or not."""
        return self.game.max_moves()

    def step(self, action: dict[str, Any] | int) -> tuple[dict[str, Any], int, bool, dict[str, Any]]:
        """Play a turn of the current player.

        Args:
            action: the dictionary of a move, or its id.

        Returns:
            The observations as `reset` returns them, the change of the score, whether the game is over, and an empty
            dictionary. The reward of a lost game's last turn takes its points back.

        Raises:
            IllegalMoveError: the move is not legal or does not exist, or the game is over; nothing has changed.
            AssertionError, KeyError, TypeError: the dictionary is no move.
            ValueError: the action is neither an integer nor a dictionary, or has no such colour.
        """
        if isinstance(action, dict):
            action = self.game.get_move_uid(self._build_move(action))
        elif not isinstance(action, SupportsIndex):
            raise ValueError(f"Expected action as dict or int, got: {action}")
        last_score = self.state.score()
        self.state._play(action)
        return self._make_observation_all_players(), self.state.score() - last_score, self.state.is_terminal(), {}

    def _make_observation_all_players(self) -> dict[str, Any]:
        observations = [
            self._extract_dict_from_backend(seat, self.state.observation(seat)) for seat in range(self.players)
        ]
        return {"player_observations": observations, "current_player": self.state.cur_player()}

    def _extract_dict_from_backend(self, player_id: int, observation: pyhanabi.HanabiObservation) -> dict[str, Any]:
        """The dictionary of a seat's observation."""
        return observation_dict(observation, self.observation_encoder)

    def _build_move(self, action: dict[str, Any]) -> pyhanabi.HanabiMove:
        """The move of a dictionary, which must be legal."""
        move = move_of(action)
        if not self.state.move_is_legal(move):
            raise IllegalMoveError(f"Illegal action: {action}. Move should be one of : {self.state.legal_moves()}")
        return move


def make(environment_name: str = "Hanabi-Full", num_players: int = 2, pyhanabi_path: str | None = None) -> HanabiEnv:
    """An environment of one of HLE's presets.

    Args:
        environment_name: "Hanabi-Full", "Hanabi-Full-CardKnowledge", "Hanabi-Full-Minimal", "Hanabi-Small" or
            "Hanabi-Very-Small".
        num_players: the number of seats, 2 to 5.
        pyhanabi_path: ignored: there is no library to load.

    Raises:
        UnknownNameError: there is no such preset; a ValueError, as in HLE.
        VariantError: the number of seats is out of range.
    """
    return HanabiEnv({**preset_parameters(environment_name), "players": num_players})


class Agent:
    """The interface of agents."""

    def __init__(self, config: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        """An agent for the games of a configuration."""
        raise NotImplementedError(_ABSTRACT)

    def reset(self, config: dict[str, Any]) -> None:
        """Begin a new game."""
        raise NotImplementedError(_ABSTRACT)

    def act(self, observation: dict[str, Any]) -> Any:
        """The move for an observation, as a dictionary or an id; None when another seat is to act."""
        raise NotImplementedError(_ABSTRACT)


__all__ = ["MOVE_TYPES", "Agent", "Environment", "HanabiEnv", "IllegalMoveError", "color_char_to_idx", "make"]
