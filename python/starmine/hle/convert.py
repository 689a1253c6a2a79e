"""Between Starmine's objects and HLE's: dictionaries of views, ids of moves, variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, SupportsIndex

from starmine._core import StarmineError, Variant, View
from starmine.hle.dictionary import observation_dict
from starmine.hle.moves import HanabiMove, IllegalMoveError, move_of
from starmine.hle.observations import HanabiObservation, ObservationEncoder
from starmine.hle.position import SeenByView
from starmine.hle.rules import AgentObservationType, preset_parameters, rules_for, variant_of


def variant(config: str | Mapping[str, Any], players: int | None = None) -> Variant:
    """The rules of HLE's configuration as a Starmine variant.

    Args:
        config: HLE's parameters, or the name of one of its presets, such as "Hanabi-Full". What it says of seeds and
            observations is no rule and is left out: "observation_type" is the `encoder` of Starmine's environments.
        players: the number of seats, in place of the configuration's.

    Raises:
        UnknownNameError: there is no such preset or parameter.
        StarmineError: a parameter is out of range.

    >>> from starmine import hle
    >>> hle.variant("Hanabi-Small", players=3).max_score
    10
    """
    parameters = preset_parameters(config) if isinstance(config, str) else config
    return variant_of(parameters if players is None else {**parameters, "players": players})


def observation(view: View, observation_type: int = AgentObservationType.CARD_KNOWLEDGE) -> dict[str, Any]:
    """What a view shows as the dictionary of HLE's `rl_env`.

    Args:
        view: of one seat.
        observation_type: CARD_KNOWLEDGE, or MINIMAL without hints.

    Raises:
        StarmineError: the variant has moves or colours that HLE does not have, or the type is SEER: a view hides what
            a seer sees.

    >>> import starmine
    >>> from starmine import hle
    >>> state = starmine.Variant(players=2).new_game(seed=7)
    >>> hle.observation(state.view(0))["observed_hands"][0][0]
    {'color': None, 'rank': -1}
    """
    if observation_type not in (AgentObservationType.MINIMAL, AgentObservationType.CARD_KNOWLEDGE):
        raise StarmineError(f"observation_type={observation_type!r} is not allowed: expected 0 or 1")
    rules = rules_for(view.variant, AgentObservationType(observation_type))
    seen = HanabiObservation(SeenByView(view, rules), view.observer)
    return observation_dict(seen, ObservationEncoder(rules))


def action(variant: Variant, move: Mapping[str, Any] | HanabiMove | SupportsIndex) -> int:
    """The action id of a move of HLE, such as an agent's `act` returns.

    Args:
        variant: the rules.
        move: HLE's dictionary of a move, a `HanabiMove`, or HLE's id, which is the same here.

    Raises:
        IllegalMoveError: the variant has no such move.
        AssertionError, KeyError, TypeError, ValueError: the dictionary is not of HLE's form.
        StarmineError: HLE does not have these rules.

    >>> import starmine
    >>> from starmine import hle
    >>> hle.action(starmine.Variant(players=2), {"action_type": "PLAY", "card_index": 0})
    5
    """
    rules = rules_for(variant, AgentObservationType.CARD_KNOWLEDGE)
    if not isinstance(move, Mapping | HanabiMove):
        return rules.actions[rules.move(move)]
    found = rules.actions.get(move_of(move) if isinstance(move, Mapping) else move)
    if found is None:
        raise IllegalMoveError(f"{move} does not exist in {variant}")
    return found
