"""Stored games as chat messages, for supervised and preference training of language models."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from starmine._core import StarmineError, View
from starmine._util.durable import given_path, replacing
from starmine._util.keywords import refuse_without, wrong_type
from starmine._util.numbers import check_number, is_number
from starmine.games.results import Games
from starmine.games.searches import search
from starmine.text.facts import move_text
from starmine.text.prompt import ANSWERS, PROMPT_VERSION, PromptOptions, given_options, rules_prompt, table_prompt

# What tells where an example comes from.
PLACE = ("game", "turn", "seat", "players")


def examples(
    games: Any,
    *,
    seats: Sequence[int] | None = None,
    options: PromptOptions | None = None,
    rollouts: int | None = None,
    blueprint: Any = None,
    ratings: bool = False,
    every: int = 1,
    seed: int | None = None,
    num_threads: int | None = None,
    players: Sequence[Sequence[str]] | None = None,
    fallback_turns: Collection[tuple[int | None, int]] = (),
) -> Iterator[dict[str, Any]]:
    """The moves of stored games as training examples, one for each turn.

    Args:
        games: a `Dataset`, a `Trajectories`, or anything with `len` and `state(game)` or games with `state()`.
        seats: whose moves are exported; None for all.
        options: of the prompts.
        rollouts: of a search that values all legal moves; None for none.
        blueprint: of that search; None for "smart".
        ratings: whether each value has a `rating`, from -1 for the worst legal move to 1 for the best. The example has
            that of the move that was played. Needs `rollouts`.
        every: export each turn whose number, over all games, is a multiple of this.
        seed: of the searches; None for 0.
        num_threads: of the searches; None for 1.
        players: for each game the names of its players by seat, such as those of `ImportedGames.players`; None for
            those of a `Dataset`, and none for other games.
        fallback_turns: the (game, turn) of moves that are left out, with the numbers of `games`: for the games of one
            `play_games`, those of `ChatPlayer.fallback_turns`. An evaluation counts the games of each pairing from 0,
            so its numbers are others than those of its data set. Without this argument the moves that the fallback of
            a chat player chose are exported like its own.

    Yields:
        `messages` (system, user and assistant), `move`, `action`, `game`, `turn`, `seat`, `players` (None without
        names), `final_score` (None for a game that stopped before its end), `prompt_version`, and with a search
        `values`: for each legal move its `move`, `value` and `standard_error`.

    Raises:
        TypeError: `every` or a seat is not an integer, or `games` is a `Games`, whose `trajectories` are expected.
        StarmineError: `every` is below 1, a seat does not exist, an option of the search without `rollouts`, or not one
            entry of `players` for each game, or not one name of it for each seat.
    """
    if isinstance(games, Games):
        raise wrong_type("games", games, "its trajectories, or a Dataset")
    if players is not None and len(players) != len(games):
        raise StarmineError(f"players has {len(players)} entries: expected {len(games)}, one for each game")
    every = check_number("every", every, 1)
    chosen = None if seats is None else [check_number("seats", seat, 0) for seat in seats]
    searching = {"blueprint": blueprint, "seed": seed, "num_threads": num_threads}
    refuse_without("rollouts", rollouts, searching | {"ratings": ratings or None})
    options, count, left_out = given_options(options), 0, set(fallback_turns)
    for game in range(len(games)):
        last, state = _state(games, game, None), _state(games, game, 0)
        for seat in chosen or ():
            check_number("seats", seat, 0, last.variant.players - 1)
        names = _names(games, game) if players is None else list(players[game]) or None
        if names is not None and len(names) != last.variant.players:
            raise StarmineError(f"players[{game}]={names} is not allowed: expected {last.variant.players} names")
        system = rules_prompt(last.variant, options)
        for turn, event in enumerate(last.history):
            if (game, turn) not in left_out and (chosen is None or event.seat in chosen):
                if count % every == 0:
                    view = state.view(event.seat)
                    example = _example(view, system, options, int(event.action))
                    score = last.score if last.is_terminal else None
                    example |= {"game": game, "turn": turn, "seat": event.seat, "players": names, "final_score": score}
                    if rollouts is not None:
                        example["values"] = _values(view, rollouts, searching)
                    yield _rated(example) if ratings else example
                count += 1
            state.apply(event.action)


def _state(games: Any, game: int, turn: int | None) -> Any:
    if hasattr(games, "state"):
        return games.state(game, turn)
    return games[game].state(turn)


def _names(games: Any, game: int) -> list[str] | None:
    """The names of a game's players, if the source knows them."""
    players = () if hasattr(games, "state") else getattr(games[game], "players", ())
    return [str(player["name"]) for player in players] or None


def _example(view: View, system: str, options: PromptOptions, action: int) -> dict[str, Any]:
    move = move_text(view, action)
    return {
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": table_prompt(view, options)},
            {"role": "assistant", "content": ANSWERS[options.answer][1].format(move=move)},
        ],
        "move": move,
        "action": action,
        "prompt_version": PROMPT_VERSION,
    }


def _values(view: View, rollouts: int, options: dict[str, Any]) -> list[dict[str, Any]]:
    """The values of the legal moves, the best first."""
    result = search(view, rollouts=rollouts, **{name: value for name, value in options.items() if value is not None})
    valued = [action for action in result.actions if action.rollouts > 1]
    return [
        {
            "move": move_text(view, action.action),
            "value": round(action.mean, 4),
            "standard_error": round(action.standard_error, 4),
        }
        for action in sorted(valued, key=lambda action: -action.mean)
    ]


def _rated(example: dict[str, Any]) -> dict[str, Any]:
    """The example with ratings: its values on a scale from -1 to 1, and 0 where all are equal."""
    values = example["values"]
    best, worst = (values[0]["value"], values[-1]["value"]) if values else (0, 0)
    for entry in values:
        share = (entry["value"] - worst) / (best - worst) if best > worst else 0.5
        entry["rating"] = round(2 * share - 1, 4)
    played = [entry["rating"] for entry in values if entry["move"] == example["move"]]
    return example | {"rating": played[0] if played else None}


def preferences(valued: Iterator[dict[str, Any]], margin: float = 0.25) -> Iterator[dict[str, Any]]:
    """Pairs of a better and a worse move, from examples with values.

    Args:
        valued: what `examples` yields with `rollouts`.
        margin: least lead, in points, of the better move over the worse one.

    Yields:
        `prompt` (the messages before the reply), `chosen` and `rejected` (an assistant message each), `points`, and the
        `game`, `turn`, `seat` and `players` of the example. The points are the greatest value minus the least one, so
        that noise makes them rather too large; with more `rollouts` less so.

    Raises:
        StarmineError: `margin` is no number of at least 0, or an example has no values.
    """
    if not is_number(margin, 0):
        raise StarmineError(f"margin={margin!r} is not allowed: expected a number of at least 0")
    for example in valued:
        if "values" not in example:
            raise StarmineError("an example has no values: expected those of examples(..., rollouts=N)")
        values = example["values"]
        if len(values) < 2:
            continue
        best, worst = values[0], values[-1]
        points = best["value"] - worst["value"]
        if points < margin:
            continue
        reply = example["messages"][-1]["content"].replace(example["move"], "{move}")
        sides = {
            name: [{"role": "assistant", "content": reply.replace("{move}", side["move"])}]
            for name, side in (("chosen", best), ("rejected", worst))
        }
        place: dict[str, Any] = {name: example[name] for name in PLACE}
        yield {"prompt": example["messages"][:-1], **sides, "points": round(points, 4), **place}


def write_lines(lines: Iterable[dict[str, Any]], path: str | Path) -> int:
    """Write dicts as JSON lines, ASCII; returns their number. The file is replaced as a whole, after the last line."""
    count = 0
    with replacing(given_path("path", path)) as file:
        for entry in lines:
            file.write(json.dumps(entry).encode() + b"\n")
            count += 1
    return count
