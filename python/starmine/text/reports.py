"""A score that says something: points, unusable replies, tokens and seconds, regret of moves, and misplays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from starmine._core import StarmineError
from starmine._util.equality import equal_by_value
from starmine._util.keywords import refuse_without, wrong_type
from starmine._util.numbers import check_number, without_nan
from starmine.games.endings import defeats
from starmine.games.results import FALLBACK, Games, mean_and_error, with_error
from starmine.games.searches import search
from starmine.look.analysis import mistakes
from starmine.text.chat import ChatPlayer
from starmine.text.exchange import calls_text, shortened, totals
from starmine.text.facts import move_text

LONGEST = 300  # characters of a problem in the table
MOST_SEARCHED = 200  # moves of a player
KNOWABLE = 0.5  # a misplay was knowable if the seat could expect the card to fit at most this probably


@equal_by_value
@dataclass(frozen=True)
class Regret:
    """What the searched moves of a player cost, in points.

    Attributes:
        mean: mean regret of the searched moves; nan without any. The regret of a move is the value of the search's move
            minus its own value. One half of the roll-outs chooses the search's move and the other half values both
            moves, so that noise does not favour the search's move. A regret can be below 0, with few roll-outs mostly
            by noise.
        standard_error: of the mean, from the spread of the regrets; None for fewer than two moves.
        search_error: standard error of a single regret, since values are means over rollouts; averaged over the moves;
            nan without any.
        moves: number of searched moves.
        best: share of the searched moves with a regret of 0; nan without any.
        worst: dicts of up to ten moves, the largest regret first: `game`, `turn`, `seat`, `move`, `best` (the search's
            move) and `points` (the regret).
    """

    mean: float
    standard_error: float | None
    search_error: float
    moves: int
    best: float
    worst: list[dict[str, Any]]


@equal_by_value
@dataclass(frozen=True)
class PlayerReport:
    """One chat player.

    Attributes:
        player: its name.
        seats: the seats that it held.
        moves: number of moves that its replies named, in games that were played to their end. Misplays and regret are
            of these moves, not of those of the fallback.
        totals: what its calls came to in all games, given up or not, as `ChatPlayer.totals` has it without the name.
        misplays: number of its misplays.
        knowable_misplays: misplays of cards that were playable with a probability of at most 0.5, by all that the seat
            could know.
        regret: the regret of its moves; None without `rollouts`.
    """

    player: str
    seats: list[int]
    moves: int
    totals: dict[str, Any]
    misplays: int
    knowable_misplays: int
    regret: Regret | None


@equal_by_value
@dataclass(frozen=True)
class TextReport:
    """The report of games in which language models played.

    Attributes:
        games: number of games that were played to their end.
        given_up: number of games that were given up.
        mean: mean score; nan without games.
        standard_error: of the mean; None for fewer than two games.
        max_score: of the variant.
        lost: share of lost games among those that were played to their end; nan without games.
        players: a report for each chat player.
    """

    games: int
    given_up: int
    mean: float
    standard_error: float | None
    max_score: int
    lost: float
    players: list[PlayerReport] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON can represent it."""
        plain: dict[str, Any] = without_nan(asdict(self))
        return plain

    def rows(self) -> list[tuple[str, str]]:
        """Names and values, as the table shows them."""
        games = f"{self.games}" + (f" ({self.given_up} given up)" if self.given_up else "")
        fallback = any(player.totals["fallbacks"] for player in self.players)
        score = with_error(self.mean, self.standard_error, digits=2) + FALLBACK * fallback
        note = f" ({FALLBACK} a fallback chose some moves)" * fallback
        rows = [
            ("games", games),
            ("mean score", f"{score} of {self.max_score}{note}"),
            ("lost games", f"{self.lost:.1%}"),
        ]
        for player in self.players:
            rows += [
                (f"{player.player}: moves", f"{player.moves} in seats {', '.join(map(str, player.seats))}"),
                (f"{player.player}: replies", calls_text(player.totals)),
                *(
                    (f"{player.player}: first {outcome} reply", shortened(" ".join(problem.split()), LONGEST))
                    for outcome, problem in sorted(player.totals["problems"].items())
                ),
                (f"{player.player}: misplays", f"{player.misplays}, of which {player.knowable_misplays} were knowable"),
            ]
            if player.regret is not None:
                error = with_error(player.regret.mean, player.regret.standard_error, digits=3)
                said = f"{error} points over {player.regret.moves} moves, {player.regret.best:.0%} of them the best"
                none = "none of its replies' moves was searched with enough roll-outs"
                rows.append((f"{player.player}: regret a move", said if player.regret.moves else none))
        return rows

    def __str__(self) -> str:
        rows = self.rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:{width}}  {value}" for name, value in rows)


def report(
    games: Games,
    players: Sequence[Any],
    *,
    rollouts: int | None = None,
    blueprint: Any = None,
    moves: int | None = None,
    seed: int | None = None,
    num_threads: int | None = None,
) -> TextReport:
    """The report of games that `play_games` played with `record=True`.

    Args:
        games: the recorded games, also `BotError.games`.
        players: those that were given to `play_games`, one for each seat; chat players are reported.
        rollouts: games that `starmine.search` plays to value the moves of a turn, at least 2; None for no regret. About
            1,000 separate good moves from bad ones and take a tenth of a second.
        blueprint: the player of these games, as `starmine.search` takes it; None for "smart".
        moves: the most moves of a player that are searched, None for 200; if it made more, they are drawn by chance.
        seed: of that draw and of the searches; None for 0.
        num_threads: threads of each search; None for 1.

    Raises:
        TypeError: `games` are others, `players` is no sequence, or `moves` or `rollouts` is not an integer.
        StarmineError: games that were not recorded, `moves` or `rollouts` too small, not one player for each seat, a
            chat player that was asked in other seats or games, or an option of the searches without `rollouts`.
    """
    if not isinstance(games, Games):
        raise wrong_type("games", games, "the result of play_games(..., record=True)")
    if isinstance(players, str) or not isinstance(players, Sequence):
        raise wrong_type("players", players, "a sequence with an entry for each seat")
    searching = {"blueprint": blueprint, "seed": seed, "num_threads": num_threads}
    refuse_without("rollouts", rollouts, searching | {"moves": moves})
    chosen = {name: value for name, value in searching.items() if value is not None}
    if rollouts is not None:
        check_number("rollouts", rollouts, 2)
    most = MOST_SEARCHED if moves is None else check_number("moves", moves, 1)
    trajectories = games.trajectories
    if len(players) != games.variant.players:
        raise StarmineError(f"players has {len(players)} entries: expected {games.variant.players}, one for each seat")
    played = np.flatnonzero(games.endings > 0).tolist()
    scores = games.scores[played]
    mean, error = mean_and_error(scores)
    lost = float(np.mean(np.isin(games.endings[played], defeats()))) if played else float("nan")
    chats = {id(player): player for player in players if isinstance(player, ChatPlayer)}.values()
    reports = []
    for chat in chats:
        seats = [seat for seat, player in enumerate(players) if player is chat]
        _check_exchanges(chat, trajectories, seats)
        places, misplays, knowable = _moves_of(chat, trajectories, played)
        reports.append(
            PlayerReport(
                player=chat.name,
                seats=seats,
                moves=len(places),
                totals=totals(chat.exchanges, chat.fallbacks),
                misplays=misplays,
                knowable_misplays=knowable,
                regret=None
                if rollouts is None
                else regret(trajectories, _drawn(places, most, seed or 0), rollouts=rollouts, **chosen),
            )
        )
    return TextReport(len(played), len(games) - len(played), mean, error, games.variant.max_score, lost, reports)


def _check_exchanges(chat: ChatPlayer, trajectories: Any, seats: Sequence[int]) -> None:
    """Refuse a player whose moves are not those of the games, so that no other games are counted."""
    asked = {exchange.seat for exchange in chat.exchanges}
    if not asked <= set(seats):
        raise StarmineError(
            f"player {chat.name!r} was asked in seats {', '.join(map(str, sorted(asked)))}, and here it has seats "
            f"{', '.join(map(str, seats))}: expected the players in the order of play_games"
        )
    states = [trajectories.state(game) for game in range(len(trajectories))]
    moves = sum(event.seat in seats for state in states for event in state.history)
    chosen = chat.fallbacks + sum(exchange.outcome == "move" for exchange in chat.exchanges)
    if moves != chosen:
        raise StarmineError(
            f"player {chat.name!r} chose {chosen} moves, but made {moves} in these games: expected a player that was "
            "asked in these games only; call its clear() before other games"
        )


def _moves_of(chat: ChatPlayer, trajectories: Any, games: Sequence[int]) -> tuple[list[tuple[int, int]], int, int]:
    """The (game, turn) of the moves that replies named in some games, their misplays, and those that were knowable."""
    named = {(exchange.game, exchange.turn) for exchange in chat.exchanges if exchange.outcome == "move"}
    places, misplays, knowable = [], 0, 0
    for game in games:
        state = trajectories.state(game)
        places += [(game, turn) for turn in range(len(state.history)) if (game, turn) in named]
        for mistake in mistakes(state):
            if mistake.kind == "misplay" and (game, mistake.turn - 1) in named:
                misplays += 1
                knowable += mistake.chance is not None and mistake.chance <= KNOWABLE
    return places, misplays, knowable


def _drawn(places: list[tuple[int, int]], most: int, seed: int) -> list[tuple[int, int]]:
    if len(places) <= most:
        return places
    chosen = np.random.default_rng(seed).choice(len(places), most, replace=False)
    return [places[index] for index in sorted(chosen.tolist())]


def regret(
    trajectories: Any,
    places: Sequence[tuple[int, int]],
    blueprint: Any = "smart",
    rollouts: int = 1000,
    seed: int = 0,
    num_threads: int = 1,
) -> Regret:
    """What moves cost: the value of the search's move minus that of the chosen one, by `starmine.search`.

    A move that is chosen by noisy values looks better than it is. So one search chooses the move, and another one, with
    other hands and decks, values it and the chosen one. Moves that it values by less than two roll-outs are left out.

    Args:
        trajectories: the games.
        places: the (game, turn) of the moves.
        blueprint: as `starmine.search` takes it.
        rollouts: of both searches together, at least 2.
        seed: of the first search.
        num_threads: of each search.
    """
    costs, errors, worst = [], [], []
    for game, turn in places:
        state = trajectories.state(game, turn)
        chosen = int(trajectories.state(game).history[turn].action)
        view = state.view(state.current_player)
        half = rollouts // 2
        best = search(view, blueprint, rollouts=half, seed=seed, num_threads=num_threads).action
        result = search(view, blueprint, rollouts=rollouts - half, seed=seed ^ 1, num_threads=num_threads)
        value, value_of_best = result.value(chosen), result.value(best)
        if min(value.rollouts, value_of_best.rollouts) < 2:
            continue
        cost = value_of_best.mean - value.mean
        costs.append(cost)
        both = value.standard_error, value_of_best.standard_error
        errors.append(0.0 if best == chosen else math.hypot(*both))
        names: Mapping[str, Any] = {"move": move_text(view, chosen), "best": move_text(view, best)}
        worst.append({"game": game, "turn": turn, "seat": view.observer, **names, "points": round(cost, 3)})
    if not costs:
        nan = float("nan")
        return Regret(nan, None, nan, 0, nan, [])
    mean, error = mean_and_error(np.array(costs))
    worst.sort(key=lambda entry: -entry["points"])
    return Regret(mean, error, float(np.mean(errors)), len(costs), float(np.mean(np.array(costs) == 0)), worst[:10])
