"""Kaggle's arena: the three functions of its harness, and its JSON observation of our games.

The functions take the observation of kaggle-environments 1.33, whose serialized game they replay: the model gets the
prompts of `starmine.text`. The model answers `{"move": "play slot 2"}` or with one of OpenSpiel's strings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starmine._core import Card, StarmineError, State, Variant, View
from starmine.hle.rules import AgentObservationType, Rules, rules_for
from starmine.text.facts import turns_left
from starmine.text.prompt import PromptOptions, rules_prompt, table_prompt
from starmine.text.replies import parse_reply

OPTIONS = PromptOptions(answer="json", history="whole")
OUTCOMES = {None: "in_progress", "lost": "lives_exhausted", "perfect": "perfect_score"}


@dataclass(frozen=True)
class ParseResult:
    """What a reply says, with the fields of `kaggle_environments.core_harness.ParseResult`.

    Attributes:
        legal_action: OpenSpiel's string of the move; None without a legal one.
        raw_action: the move that was named, even if it is not legal.
        submission: not used.
        thoughts: not used.
    """

    legal_action: str | None = None
    raw_action: str | None = None
    submission: Any = None
    thoughts: str | None = None


def label(variant: Variant, action: int) -> str:
    """OpenSpiel's string of an action, such as "(Play 0)" or "(Reveal player +1 color R)"."""
    return str(_rules(variant).moves[action])


def _rules(variant: Variant) -> Rules:
    return rules_for(variant, AgentObservationType.CARD_KNOWLEDGE)


def observation(state: State, seat: int) -> dict[str, Any]:
    """What a seat sees of one of our games, as the JSON observation of the arena tells it.

    Args:
        state: of a variant that OpenSpiel has: without empty hints, announced plays and so on.
        seat: the observer.
    """
    variant, view = state.variant, state.view(seat)
    suits = "RYGWB"[: variant.colors]

    def card(found: Card | None) -> dict[str, Any] | None:
        return None if found is None else {"color": suits[found.suit], "rank": found.rank + 1}

    hands: list[dict[str, Any]] = []
    for owner in range(variant.players):
        offset = (owner - seat) % variant.players
        cards = []
        for slot, found in enumerate(view.hands[offset]):
            known = view.knowledge(offset, slot)
            kinds = known.plausible
            cards.append(
                {
                    "card": card(found),
                    "hinted_color": None if known.color is None else suits[known.color],
                    "hinted_rank": None if known.rank is None else known.rank + 1,
                    "plausible_colors": [
                        letter for suit, letter in enumerate(suits) if suit in {k.suit for k in kinds}
                    ],
                    "plausible_ranks": sorted({kind.rank + 1 for kind in kinds}),
                }
            )
        hands.append({"player": owner, "is_observer": owner == seat, "cards": cards})
    is_over = state.is_terminal
    last = state.history[-1].seat if is_over and state.ending in ("lost", "perfect") else None
    not_drawn = last is not None and len(hands[last]["cards"]) == variant.hand_size
    if last is not None and not_drawn:  # OpenSpiel ends such a game before the draw
        hands[last]["cards"].pop()
    acts = not is_over and state.current_player == seat
    return {
        "num_players": variant.players,
        "colors": variant.colors,
        "ranks": variant.ranks,
        "hand_size": variant.hand_size,
        "observer": seat,
        "current_player": -4 if is_over else state.current_player,
        "life_tokens": state.life_tokens,
        "max_life_tokens": variant.max_life_tokens,
        "info_tokens": state.information_tokens,
        "max_info_tokens": variant.max_information_tokens,
        "fireworks": dict(zip(suits, state.fireworks, strict=True)),
        "score": state.score,
        "fireworks_total": sum(state.fireworks),
        "max_score": variant.max_score,
        "hands": hands,
        "deck_size": state.deck_size + not_drawn,
        "deck_total": variant.deck_size,
        "final_turns_remaining": None if is_over else turns_left(view),
        "discards": [card(found) for found in state.discard_pile],
        "is_terminal": is_over,
        "winner": None,
        "outcome": OUTCOMES.get(state.ending, "deck_exhausted"),
        "returns": [float(state.score)] * variant.players if is_over else [],
        "legal_actions": [
            {"action": action, "label": label(variant, action)} for action in (view.legal_actions() if acts else ())
        ],
    }


def view_of(found: Mapping[str, Any]) -> View:
    """The view of the seat that an observation of the arena belongs to.

    Raises:
        ImportError: OpenSpiel is not installed.
        StarmineError: the observation has no serialized game of Hanabi.
    """
    try:
        import pyspiel
    except ImportError as missing:
        raise ImportError("starmine.adapters.kaggle needs OpenSpiel: pip install 'starmine[kaggle]'") from missing
    try:
        _, state = pyspiel.deserialize_game_and_state(found["serializedGameAndState"])
        said = json.loads(found["observationString"])
        seat = int(said["observer"])
    except (KeyError, ValueError, TypeError, RuntimeError) as error:
        raise StarmineError(f"the observation cannot be read: {type(error).__name__}: {error}") from error
    variant = Variant(
        players=said["num_players"],
        colors=said["colors"],
        ranks=said["ranks"],
        hand_size=said["hand_size"],
        max_information_tokens=said["max_info_tokens"],
        max_life_tokens=said["max_life_tokens"],
    )
    turns = [(item.player, item.action) for item in state.full_history()]
    # The cards that are not dealt yet, which no view shows, follow in any order.
    deck = _rules(variant).deck_of([action for player, action in turns if player < 0])
    replayed = variant.new_game(deck=[_rules(variant).cards[number] for number in deck])
    for player, action in turns:
        if player >= 0:
            replayed.apply(action)
    return replayed.view(seat)


def get_legal_moves(found: Mapping[str, Any]) -> dict[int, str]:
    """The legal actions of the seat to act, and OpenSpiel's strings for them."""
    said = json.loads(found.get("observationString") or "{}")
    return {int(entry["action"]): str(entry["label"]) for entry in said.get("legal_actions", ())}


def generate_prompt(
    found: Mapping[str, Any],
    move_history: Sequence[str] = (),
    previous_response: str | None = None,
    previous_action: str | None = None,
) -> str:
    """The rules and the table; after an unusable reply also what was wrong with it.

    Args:
        found: the observation.
        move_history: not used: the prompt has the history of all seats.
        previous_response: the last reply, if it had no legal move.
        previous_action: the move that it named.
    """
    view = view_of(found)
    prompt = f"{rules_prompt(view.variant, OPTIONS)}\n\n{table_prompt(view, OPTIONS)}"
    if previous_response is None and previous_action is None:
        return prompt
    problem = parse_reply(previous_response or previous_action, view).problem
    return f"{prompt}\n\nYour last answer was not used: {problem}" if problem else prompt


def parse_response(
    response: str, legal_action_strings: Sequence[str] | None = None, *, observation: Mapping[str, Any]
) -> ParseResult:
    """The legal move that a reply names; see `starmine.text.read_move`."""
    view = view_of(observation)
    reply = parse_reply(response, view)
    if reply.action is None:
        return ParseResult(raw_action=reply.problem if reply.illegal else None)
    named = label(view.variant, reply.action)
    return ParseResult(named if legal_action_strings is None or named in legal_action_strings else None, named)
