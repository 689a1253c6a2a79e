"""From Starmine's objects to HLE's and back: observations of views, variants of configurations, states of histories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from starmine._core import StarmineError, State, Variant, View
from starmine.hle.dictionary import ObservationDict
from starmine.hle.moves import HanabiMove, HanabiMoveType, item_of
from starmine.hle.observation import HanabiObservation, ObservationEncoder, SeenByView
from starmine.hle.rules import AgentObservationType, Rules, preset_parameters, rules_for, variant_of

FIRST_DEALS = {10: 2, 15: 3, 16: 4, 20: 5}  # players by the cards of all first hands


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


def replay(
    move_history: Iterable[Any], config: str | Mapping[str, Any] | None = None, start_player: int | None = None
) -> State:
    """A game of HLE as a Starmine state, from its moves and deals.

    Args:
        move_history: HLE's `state.move_history()`, of its own library or of `starmine.hle`; or moves, their texts,
            such as "(Deal R1)", or their dictionaries.
        config: HLE's parameters, or the name of one of its presets; None for "Hanabi-Full" with as many seats as the
            first hands tell.
        start_player: the seat that starts; None for the one that the history names, or seat 0.

    Returns:
        The state after the last move. The cards that were never dealt, which HLE does not tell, follow in the order
        of their numbers.

    Raises:
        StarmineError: an item is no move, is not legal, or comes before its deal; or more copies of a card are dealt
            than there are.
    """
    if not isinstance(move_history, Iterable) or isinstance(move_history, str):
        raise StarmineError(f"move_history={move_history!r} is not allowed: expected the moves and deals of a game")
    moves = [item_of(item, f"move_history[{place}]") for place, item in enumerate(move_history)]
    seats = [seat for seat, _ in moves if seat >= 0]
    first = start_player if start_player is not None else next(iter(seats), 0)
    kinds = [move.type() == HanabiMoveType.DEAL for _, move in moves]
    first_deals = kinds.index(False) if False in kinds else len(kinds)
    if config is None:
        if first_deals not in FIRST_DEALS:
            raise StarmineError(
                f"{first_deals} cards are dealt first: expected one of {list(FIRST_DEALS)}, or a config"
            )
        config = {"players": FIRST_DEALS[first_deals]}
    rules = rules_for(variant(config), AgentObservationType.CARD_KNOWLEDGE)
    return _play(rules, [move for _, move in moves], first)


def _play(rules: Rules, moves: list[HanabiMove], start_player: int) -> State:
    """The state after the moves and deals."""
    deck = [rules.cards[number] for number in rules.deck_of(moves)]
    state = rules.variant.new_game(deck=deck, start_player=start_player)
    seen = 0
    for place, move in enumerate(moves):
        if move.type() == HanabiMoveType.DEAL:
            seen += 1
            continue
        expected = len(deck) - state.deck_size
        if seen != expected:
            raise StarmineError(f"move_history[{place}]: {seen} cards are dealt before {move}: expected {expected}")
        action = rules.existing_action(move)
        if action is None:
            raise StarmineError(f"move_history[{place}]: {move} does not exist in {rules.variant}")
        try:
            state.apply(action)
        except StarmineError as error:
            raise StarmineError(f"move_history[{place}]: {move} is not legal: {error}") from error
    return state
