"""What a seat may know of a game, as plain data: the one source of every prompt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from starmine._core import Card, Event, Move, Variant, View
from starmine.games.hands import Hands


def hints_of_cards(view: View, history: Sequence[Event]) -> list[list[list[tuple[int, Event]]]]:
    """The hints that touched each card in the hands, the oldest first.

    Args:
        view: of any seat.
        history: that of the view, which takes long to read.

    Returns:
        By seat and slot, a list of (turn, event).
    """
    hands, hints = Hands(view.variant), defaultdict[int, list[tuple[int, Event]]](list)
    for turn, event in enumerate(history):
        if event.target is not None:
            for slot in event.touched:
                hints[hands.numbers[event.target][slot]].append((turn, event))
        hands.follow(event)
    return [[hints[number] for number in hand] for hand in hands.numbers]


@lru_cache(maxsize=256)
def move_texts(variant: Variant, observer: int) -> tuple[str, ...]:
    """The texts of all actions of a seat, by action id; see `move_text`."""
    texts = []
    for action in range(variant.num_actions):
        move = variant.move(action)
        if move.offset is None:
            texts.append(str(move))
        else:
            texts.append(f"hint seat {(observer + move.offset) % variant.players} {hint_text(move, variant)}")
    return tuple(texts)


def hint_text(move: Move | Event, variant: Variant) -> str:
    """What a hint names, such as "red" or "rank 1"."""
    return f"rank {(move.rank or 0) + 1}" if move.color is None else variant.suits[move.color]


def move_text(view: View, action: int) -> str:
    """A move of the observer in words that name seats, such as "hint seat 1 red" or "play slot 2".

    Raises:
        StarmineError: there is no such action.
    """
    view.variant.move(action)  # refuses -1, which would be the last one
    return move_texts(view.variant, view.observer)[action]


def event_facts(turn: int, event: Event, variant: Variant) -> dict[str, Any]:
    """A turn that was played."""
    fields: dict[str, Any] = {"turn": turn, "seat": event.seat}
    if event.target is not None:
        hint = hint_text(event, variant)
        return fields | {"move": "hint", "to_seat": event.target, "hint": hint, "slots": list(event.touched)}
    fields |= {"move": event.kind, "slot": event.slot, "card": str(event.card)}
    if event.announced is not None:
        fields["announced"] = variant.suits[event.announced]
    if event.kind == "play":
        fields["result"] = "misplay" if event.misplay else "added"
    return fields


def slot_facts(slot: int, card: Card | None, hints: list[tuple[int, Event]], variant: Variant) -> dict[str, Any]:
    """A card in a hand: the card if the observer sees it, and what its owner has been told."""
    fields: dict[str, Any] = {"slot": slot}
    if card is not None:
        fields["card"] = str(card)
    fields["told"] = [{"hint": hint_text(event, variant), "turn": turn} for turn, event in hints]
    return fields


def facts(view: View, history: str, possible: bool, legal_moves: bool, probabilities: bool) -> dict[str, Any]:
    """Everything that a prompt of this turn says, as data that JSON represents.

    Args:
        view: of the seat that is asked.
        history: "round" for the turns since the observer's last one, "whole", or "none".
        possible: whether each card has the list of the cards that it can be.
        legal_moves: whether the legal moves are listed; they are empty when another seat acts.
        probabilities: whether the observer's cards have the probabilities of `View.marginals`.
    """
    variant, observer = view.variant, view.observer
    past, hands = view.history, view.hands
    turn = len(past)
    every = [f"{letter}{rank}" for letter in variant.letters for rank in range(1, variant.ranks + 1)]
    position: dict[str, Any] = {
        "turn": turn,
        "you": observer,
        "seat_to_act": view.current_player,
        "score": view.score,
        "max_score": variant.max_score,
        "information_tokens": view.information_tokens,
        "life_tokens": view.life_tokens,
        "deck": view.deck_size,
        "turns_left": view.turns_left,
        "fireworks": dict(zip(variant.suits, view.fireworks, strict=True)),
        "discards": sorted(map(str, view.discard_pile), key=every.index),
        "hands": [],
    }
    hints, own_possible = hints_of_cards(view, past), view.possible if possible else []
    marginals = view.marginals() if probabilities else None
    for seat in range(variant.players):
        offset = (seat - observer) % variant.players
        hand = []
        for slot, seen in enumerate(hands[offset]):
            card = slot_facts(slot, seen, hints[seat][slot], variant)
            if possible:  # both lists are in the order of suits and ranks
                cards = own_possible[slot] if offset == 0 else view.knowledge(offset, slot).plausible
                card["can_be"] = list(every) if len(cards) == len(every) else list(map(str, cards))
            if offset == 0 and marginals is not None:
                card["probabilities"] = {
                    name: round(float(share), 3)
                    for name, share in zip(every, marginals[slot], strict=True)
                    if share > 0
                }
            hand.append(card)
        position["hands"].append({"seat": seat, "cards": hand})
    if history != "none":
        own = [turn for turn, event in enumerate(past) if event.seat == observer]
        first = 0 if history == "whole" or not own else own[-1]
        position["history"] = [event_facts(number, past[number], variant) for number in range(first, turn)]
    if legal_moves:
        texts = move_texts(variant, observer)
        position["legal_moves"] = [texts[action] for action in view.legal_actions()]
    return position
