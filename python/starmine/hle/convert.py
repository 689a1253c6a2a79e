"""Between Starmine's objects and HLE's: dictionaries of views, ids of moves, variants, states of histories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, SupportsIndex

from starmine._core import StarmineError, State, Variant, View
from starmine._util.numbers import check_number
from starmine.hle import histories
from starmine.hle.dictionary import ObservationDict
from starmine.hle.histories import Item, item_of, start_of
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
        StarmineError: a parameter out of range, or a configuration that is neither.

    >>> from starmine import hle
    >>> hle.variant("Hanabi-Small", players=3).max_score
    10
    """
    if not isinstance(config, str | Mapping):
        raise StarmineError(f"config={config!r} is not allowed: expected HLE's parameters or the name of a preset")
    parameters = dict(preset_parameters(config)) if isinstance(config, str) else dict(config)
    return variant_of(parameters if players is None else {**parameters, "players": players})


def observation(view: View, observation_type: int = AgentObservationType.CARD_KNOWLEDGE) -> dict[str, Any]:
    """What a view shows as the dictionary of HLE's `rl_env`.

    Args:
        view: of one seat.
        observation_type: CARD_KNOWLEDGE, or MINIMAL without hints.

    Raises:
        StarmineError: no view, the variant has moves or colours that HLE does not have, or the type is another one: a
            view hides what a seer sees.

    >>> import starmine
    >>> from starmine import hle
    >>> state = starmine.Variant(players=2).new_game(seed=7)
    >>> hle.observation(state.view(0))["observed_hands"][0][0]
    {'color': None, 'rank': -1}
    """
    if not isinstance(view, View):
        raise StarmineError(f"view is a {type(view).__name__}: expected a View, such as state.view(0)")
    if observation_type not in (AgentObservationType.MINIMAL, AgentObservationType.CARD_KNOWLEDGE):
        raise StarmineError(f"observation_type={observation_type!r} is not allowed: expected 0 or 1")
    rules = rules_for(view.variant, AgentObservationType(observation_type))
    seen = HanabiObservation(SeenByView(view, rules), view.observer)
    return dict(ObservationDict(seen, ObservationEncoder(rules)))


def action(variant: Variant, move: Any) -> int:
    """The action id of a move of HLE, such as an agent's `act` returns.

    Args:
        variant: the rules.
        move: HLE's dictionary, its text, such as "(Play 0)", a `HanabiMove`, of HLE's own library too, or HLE's id,
            which is the same here.

    Raises:
        StarmineError: it is no move of HLE, or the variant has no such move.

    >>> import starmine
    >>> from starmine import hle
    >>> hle.action(starmine.Variant(players=2), {"action_type": "PLAY", "card_index": 0})
    5
    """
    if not isinstance(variant, Variant):
        raise StarmineError(f"variant is a {type(variant).__name__}: expected a Variant, such as view.variant")
    rules = rules_for(variant, AgentObservationType.CARD_KNOWLEDGE)
    if isinstance(move, SupportsIndex):
        return check_number("move", move, 0, len(rules.moves) - 1)
    item = item_of(move, "move")
    action_id = rules.actions.get(item.move)
    if action_id is None:
        raise StarmineError(f"{item.move} does not exist in {variant}")
    return action_id


def state_of(
    move_history: Iterable[Any], config: str | Mapping[str, Any] | None = None, start_player: int | None = None
) -> State:
    """A game of HLE as a Starmine state, from its moves and deals.

    Args:
        move_history: HLE's `state.move_history()`, of its own library or of `starmine.hle`; or moves, their texts,
            such as "(Deal R1)", or their dictionaries.
        config: HLE's parameters, or the name of one of its presets, which then has as many seats as the first hands
            tell. None only for items of `starmine.hle`, which know the rules of their game.
        start_player: the seat that starts; None for the one that the history tells, or seat 0.

    Returns:
        The state after the last move. The cards that were never dealt, which HLE does not tell, follow in the order
        of their numbers.

    Raises:
        StarmineError: the rules are not told, or are others than those of `config`; an item is no move, is not legal,
            comes before its deal, or tells another seat, card or outcome than the replayed game has; or more copies of
            a card are dealt than there are.
        TypeError: a start player that is not an integer.
        UnknownNameError: there is no such preset or parameter.
    """
    if not isinstance(move_history, Iterable) or isinstance(move_history, str):
        raise StarmineError(
            f"move_history={move_history!r} is not allowed: expected the moves and deals of a game, such as "
            "state.move_history()"
        )
    items = [item_of(item, f"move_history[{place}]") for place, item in enumerate(move_history)]
    rules = rules_for(_variant_of(items, config), AgentObservationType.CARD_KNOWLEDGE)
    players = rules.variant.players
    if start_player is None:
        first = start_of(items, players)
    else:
        first = check_number("start_player", start_player, 0, players - 1)
    return histories.state_of(rules, items, first, "move_history")


def _variant_of(items: list[Item], config: str | Mapping[str, Any] | None) -> Variant:
    """The rules of a history, which the items or the configuration tell."""
    told = None
    for place, item in enumerate(items):
        told = item.variant if told is None else told
        if item.variant not in (None, told):
            raise StarmineError(f"move_history[{place}]: it is of another game: {item.variant}: expected {told}")
    if config is None:
        if told is None:
            raise StarmineError(
                'the items do not tell the rules of their game: give config=, such as "Hanabi-Full" or {"players": 2}'
            )
        return told
    given = _preset(config, items) if isinstance(config, str) else variant(config)
    if told not in (None, given):
        raise StarmineError(f"config={config!r} is {given}: the history is of {told}")
    return given


def _preset(name: str, items: list[Item]) -> Variant:
    """A preset with as many seats as the first hands of a history tell."""
    first_deals = next((place for place, item in enumerate(items) if not item.is_deal), len(items))
    presets = {rules.players * rules.hand_size: rules for rules in (variant(name, players) for players in range(2, 6))}
    if first_deals not in presets:
        *others, last = presets
        expected = f"{', '.join(map(str, others))} or {last}"
        raise StarmineError(f"{first_deals} cards are dealt first: expected {expected} in {name!r}, or another config=")
    return presets[first_deals]
