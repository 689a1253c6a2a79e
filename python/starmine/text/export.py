"""Stored games as chat messages, for supervised and preference training of language models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from starmine._core import StarmineError, View
from starmine.games.search import search
from starmine.text.facts import move_text
from starmine.text.prompt import PROMPT_VERSION, PromptOptions, rules_prompt, table_prompt

REPLIES = {"line": "MOVE: {move}", "json": '{{"move": "{move}"}}', "xml": "<move>{move}</move>"}


def examples(
    games: Any,
    *,
    seats: Sequence[int] | None = None,
    options: PromptOptions | None = None,
    rollouts: int | None = None,
    blueprint: Any = "smart",
    every: int = 1,
    seed: int = 0,
    num_threads: int = 1,
) -> Iterator[dict[str, Any]]:
    """The moves of stored games as training examples, one for each turn.

    Args:
        games: a `Dataset`, a `Trajectories`, or anything with `len` and `state(game)` or games with `state()`.
        seats: whose moves are exported; None for all.
        options: of the prompts.
        rollouts: of a search that values all legal moves; None for none.
        blueprint: of that search.
        every: export each turn whose number, over all games, is a multiple of this.
        seed: of the searches.
        num_threads: of the searches.

    Yields:
        `messages` (system, user and assistant), `move`, `action`, `game`, `turn`, `seat`, `final_score`,
        `prompt_version`, and with a search `values`: for each legal move its `move`, `value` and `error`.

    Raises:
        StarmineError: `every` is below 1, or a seat does not exist.
    """
    if every < 1:
        raise StarmineError(f"every={every} is not allowed: expected at least 1")
    options, count = options or PromptOptions(), 0
    for game in range(len(games)):
        last = _state(games, game, None)
        for seat in seats or ():
            if not 0 <= seat < last.variant.players:
                raise StarmineError(f"seats has {seat}: expected 0 to {last.variant.players - 1}")
        system = rules_prompt(last.variant, options)
        for turn, event in enumerate(last.history):
            if seats is not None and event.seat not in seats:
                continue
            count += 1
            if (count - 1) % every:
                continue
            view = _state(games, game, turn).view(event.seat)
            yield _example(view, system, options, int(event.action)) | {
                "game": game,
                "turn": turn,
                "seat": event.seat,
                "final_score": last.score,
                **({} if rollouts is None else {"values": _values(view, blueprint, rollouts, seed, num_threads)}),
            }


def _state(games: Any, game: int, turn: int | None) -> Any:
    if hasattr(games, "state"):
        return games.state(game, turn)
    return games[game].state(turn)


def _example(view: View, system: str, options: PromptOptions, action: int) -> dict[str, Any]:
    move = move_text(view, action)
    return {
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": table_prompt(view, options)},
            {"role": "assistant", "content": REPLIES[options.answer].format(move=move)},
        ],
        "move": move,
        "action": action,
        "prompt_version": PROMPT_VERSION,
    }


def _values(view: View, blueprint: Any, rollouts: int, seed: int, num_threads: int) -> list[dict[str, Any]]:
    """The values of the legal moves, the best first."""
    found = search(view, blueprint, rollouts=rollouts, seed=seed, threads=num_threads)
    valued = [action for action in found.actions if action.rollouts > 1]
    return [
        {"move": move_text(view, action.action), "value": round(action.mean, 4), "error": round(action.error, 4)}
        for action in sorted(valued, key=lambda action: -action.mean)
    ]


def preferences(found: Iterator[dict[str, Any]], margin: float = 0.25) -> Iterator[dict[str, Any]]:
    """Pairs of a better and a worse move, from examples with values.

    Args:
        found: what `examples` yields with `rollouts`.
        margin: least lead, in points, of the better move over the worse one.

    Yields:
        `prompt` (system and user message), `chosen` and `rejected` (an assistant message each), `points`.
    """
    for example in found:
        values = example["values"]
        if len(values) < 2:
            continue
        best, worst = values[0], values[-1]
        points = best["value"] - worst["value"]
        if points < margin:
            continue
        reply = example["messages"][2]["content"].replace(example["move"], "{move}")
        sides = {
            name: [{"role": "assistant", "content": reply.replace("{move}", side["move"])}]
            for name, side in (("chosen", best), ("rejected", worst))
        }
        yield {"prompt": example["messages"][:2], **sides, "points": round(points, 4)}


def write_lines(found: Iterator[dict[str, Any]], path: str | Path) -> int:
    """Write dicts as JSON lines, ASCII; returns their number. The file is replaced as a whole."""
    from starmine._util.durable import replace_file

    lines = [json.dumps(entry) for entry in found]
    replace_file(Path(path), "".join(line + "\n" for line in lines).encode())
    return len(lines)
