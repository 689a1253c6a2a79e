"""Prompts: the rules of a variant and the table as one seat sees it, complete and true."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, Literal, get_args

from starmine._core import Variant, View, _unknown_name
from starmine.text.facts import facts

#: The version of the prompts. It changes with any change of their text.
PROMPT_VERSION = 3
Form = Literal["text", "json"]
History = Literal["round", "whole", "none"]
AnswerForm = Literal["line", "json"]


@dataclass(frozen=True)
class PromptOptions:
    """What a prompt shows, and in which form.

    Attributes:
        form: of the table: "text" or "json".
        history: the turns that are listed: "round" for those since the reader's last turn, "whole" or "none".
        possible: list the cards that each card can be: in the own hand exactly, in the other hands by their hints.
        legal_moves: list the legal moves.
        probabilities: give the probability of each card in the own hand (`View.marginals`).
        answer: how the reply names its move: "line" for a last line `MOVE: ...`, "json" for `{"move": "..."}`.
            `read_move` reads both, and tool calls.
        conventions: a text that follows the rules, such as how the partner plays; None for none.

    Raises:
        UnknownNameError: there is no such form, history or answer.
    """

    form: Form = "text"
    history: History = "round"
    possible: bool = True
    legal_moves: bool = True
    probabilities: bool = False
    answer: AnswerForm = "line"
    conventions: str | None = None

    def __post_init__(self) -> None:
        for name, kind in (("form", Form), ("history", History), ("answer", AnswerForm)):
            if getattr(self, name) not in get_args(kind):
                raise _unknown_name(name, str(getattr(self, name)), list(get_args(kind)))


# How a reply names its move, by `PromptOptions.answer`: what it is called, and its text.
ANSWERS = {
    "line": ("a line", "MOVE: {move}"),
    "json": ("JSON", '{{"move": "{move}"}}'),
}


def answer_prompt(answer: AnswerForm) -> str:
    """How to answer."""
    kind, text = ANSWERS[answer]
    example = text.format(move="play slot 0")
    return (
        f"End your answer with {kind} such as\n{example}\nWrite it once, with only the move in it and nothing after it."
    )


def rules_prompt(variant: Variant, options: PromptOptions | None = None) -> str:
    """The rules of a variant, what letters and slots mean, and how to answer: the system message.

    Args:
        variant: the rules.
        options: `answer` and `conventions` are used; None for the defaults.
    """
    options = options or PromptOptions()
    return _rules(variant, options.answer, options.conventions)


@lru_cache(maxsize=64)
def _rules(variant: Variant, answer: AnswerForm, conventions: str | None) -> str:
    lines = [
        f"You play Hanabi, a cooperative card game, in a team of {variant.players}. The seats are 0 to "
        f"{variant.players - 1} and take turns in this order. Every player sees all hands except the own one. Players "
        "may say nothing but the moves below.",
        "",
        *_cards(variant),
        "",
        *_moves(variant),
        "",
        _end(variant),
        "",
        "RULES OF THIS GAME.",
        *(f"- {text}" for text in variant.switches.values() if text),
    ]
    if conventions:
        lines += ["", conventions.strip()]
    lines += ["", answer_prompt(answer)]
    return "\n".join(lines)


def _cards(variant: Variant) -> list[str]:
    """Suits, copies, goal, hands and tokens."""
    suits, letters = variant.suits, variant.letters
    groups: dict[tuple[int, ...], list[str]] = {}
    for suit, numbers in zip(suits, variant.copies, strict=True):
        groups.setdefault(tuple(numbers), []).append(suit)
    names = ", ".join(f"{suit} ({letter})" for suit, letter in zip(suits, letters, strict=True))
    ranks = "rank 1" if variant.ranks == 1 else f"ranks 1 to {variant.ranks}"
    lines = [
        f"CARDS. The deck has {variant.deck_size} cards in {len(suits)} suit{'s' * (len(suits) > 1)}: {names}, of "
        f"{ranks}. {letters[0]}1 is the card {suits[0]} 1.",
    ]
    for copies, members in groups.items():
        alike = f"Each of {', '.join(members)}" if len(members) > 1 else members[0].capitalize()
        counts = ", ".join(f"{count} of rank {rank}" for rank, count in enumerate(copies, 1))
        lines.append(f"Copies: {alike if len(groups) > 1 else 'each suit'} has {counts}.")
    if "multicolour" in suits:
        lines.append("Multicolour is a suit of its own: a hint of another colour does not touch a multicoloured card.")
    lines += [
        f"GOAL. The team builds one firework for each suit: its cards in the order 1 to {variant.ranks}. Each card "
        f"added scores a point; the maximum is {variant.max_score}.",
        f"HANDS. Each hand has {variant.hand_size} card{'s' * (variant.hand_size > 1)} at first. Slot 0 is the oldest "
        "card. When a card leaves a hand, the cards in higher slots move down by one, and a card from the deck, if one "
        "is left, takes the highest slot.",
        f"TOKENS. The team begins with {variant.max_information_tokens} information tokens, the most it can have, and "
        f"{variant.max_life_tokens} life token{'s' * (variant.max_life_tokens > 1)}.",
    ]
    return lines


def _moves(variant: Variant) -> list[str]:
    """The moves, what they cost and what they give."""
    return [
        "MOVES. In your turn you make one move:",
        '- "play slot 0": if the card is the next rank of its suit, it is added to the firework; otherwise it goes to '
        "the discards and the team loses a life token. A card that completes a firework gives an information token "
        "back.",
        '- "discard slot 0": the card goes to the discards, and the team gets an information token back. It is not '
        f"allowed with {variant.max_information_tokens} information tokens.",
        f'- "hint seat 1 {variant.suits[0]}" or "hint seat 1 rank 1": costs an information token and points at all '
        "cards of that suit or rank in the hand of another seat. It is not allowed without a token.",
    ]


def _end(variant: Variant) -> str:
    """How the game ends, and what it scores; the rules of the last round are among the switches."""
    lost = (
        "a lost game scores 0" if variant.lost_game_score == "zero" else "a lost game scores the cards on the fireworks"
    )
    lives = variant.max_life_tokens
    last = {1: "only", 2: "second", 3: "third"}.get(lives, f"{lives}th")
    return f"END. The game ends with {variant.max_score} points. It is lost when the {last} life token is lost; {lost}."


def table_prompt(view: View, options: PromptOptions | None = None) -> str:
    """The table as the observer sees it: the user message of a turn.

    Args:
        view: of the seat that is asked.
        options: what is shown; None for the defaults.
    """
    options = options or PromptOptions()
    position = facts(view, options.history, options.possible, options.legal_moves, options.probabilities)
    if options.form == "json":
        return json.dumps(position)
    return "\n".join(_TableText(view.variant, position, options).lines())


class _TableText:
    """The facts of a turn as lines of text."""

    def __init__(self, variant: Variant, position: dict[str, Any], options: PromptOptions) -> None:
        self.variant, self.position, self.options = variant, position, options
        self.kinds = variant.colors * variant.ranks

    def who(self, seat: int) -> str:
        return "you" if seat == self.position["you"] else f"seat {seat}"

    def lines(self) -> list[str]:
        position, variant = self.position, self.variant
        acts = (
            "It is your turn."
            if position["seat_to_act"] == position["you"]
            else f"Seat {position['seat_to_act']} is to act."
        )
        deck = f"{position['deck']} card{'s' * (position['deck'] != 1)}"
        lines = [
            f"Turn {position['turn']}. You are seat {position['you']}. {acts}",
            f"Score {position['score']} of {position['max_score']}. "
            f"Information tokens: {position['information_tokens']} of {variant.max_information_tokens}. "
            f"Life tokens: {position['life_tokens']} of {variant.max_life_tokens}. Deck: {deck}.",
        ]
        if position["turns_left"] is not None:
            lines.append(f"The deck is empty. Turns left in the game, with this one: {position['turns_left']}.")
        fireworks = ", ".join(f"{name} {height}" for name, height in position["fireworks"].items())
        lines.append(f"Fireworks: {fireworks}.")
        lines.append(f"Discards: {_cards_text(position['discards']) or 'none'}.")
        for hand in position["hands"]:
            lines += self.hand(hand)
        if "history" in position:
            since = "Turns so far:" if self.options.history == "whole" else "Turns since your last move, that included:"
            lines.append(since if position["history"] else f"{since} none")
            lines += [f"- {self.event(event)}" for event in position["history"]]
        if "legal_moves" in position:
            lines.append("Your legal moves:" + ("" if position["legal_moves"] else " none, it is not your turn"))
            lines += [f"- {move}" for move in position["legal_moves"]]
        return lines

    def hand(self, hand: dict[str, Any]) -> list[str]:
        whose = "Your hand" if hand["seat"] == self.position["you"] else f"Hand of seat {hand['seat']}"
        if not hand["cards"]:
            return [f"{whose}: no cards"]
        return [f"{whose}:", *(f"- slot {card['slot']}: {'; '.join(self.card(card))}" for card in hand["cards"])]

    def card(self, card: dict[str, Any]) -> list[str]:
        """The parts of a card's line."""
        parts = [card["card"]] if "card" in card else []
        told = ", ".join(f"{fact['hint']} (turn {fact['turn']})" for fact in card["told"])
        parts.append(f"told {told}" if told else "told nothing")
        if "can_be" in card:
            every = len(card["can_be"]) == self.kinds
            parts.append("can be any card" if every else f"can be {_sets_text(tuple(card['can_be']))}")
        if "probabilities" in card:
            shares = card["probabilities"].items()
            parts.append("probably " + ", ".join(f"{name} {share:.3f}" for name, share in shares))
        return parts

    def event(self, event: dict[str, Any]) -> str:
        actor = self.who(event["seat"])
        verb = event["move"] if actor == "you" else f"{event['move']}s"
        start = f"turn {event['turn']}: {actor} {verb}"
        if event["move"] == "hint":
            slots = ", ".join(map(str, event["slots"]))
            places = "no card" if not slots else f"slot{'s' * (len(event['slots']) > 1)} {slots}"
            return f"{start} {self.who(event['to_seat'])} {event['hint']} ({places})"
        announced = f", announcing {event['announced']}" if "announced" in event else ""
        result = f": {event['result']}" if "result" in event else ""
        return f"{start} slot {event['slot']}, {event['card']}{announced}{result}"


def _cards_text(cards: list[str]) -> str:
    """Cards with their numbers, such as "R1 x2, R3"."""
    counts = Counter(cards)
    return ", ".join(card if count == 1 else f"{card} x{count}" for card, count in counts.items())


@lru_cache(maxsize=4096)
def _sets_text(cards: tuple[str, ...]) -> str:
    """Different cards by suit, such as "R1 R2 Y5" as "R12 Y5"."""
    return " ".join(
        letter + "".join(card[1:] for card in group) for letter, group in groupby(cards, lambda card: card[0])
    )
