"""Whole games of bots, bots written in Python, and policies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant, _play_bots, _Tables
from starmine.keywords import named_keywords
from starmine.language import actions_text
from starmine.played import BotError, Failure, Games, RecordedGames, raised_at
from starmine.players import Player, Policy, policy_actions, policy_encoder, resolve_player
from starmine.trajectories import Trajectories
from starmine.vector import resolve_variant

Array = NDArray[Any]
Columns: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int8]]


def resolve_table(players: Sequence[Any], variant: str | Variant) -> Variant:
    """The variant; a preset gets as many seats as there are players.

    Raises:
        StarmineError: `players` is no sequence, or its length is not the variant's number of seats.
        UnknownNameError: there is no such preset.
    """
    if isinstance(players, str) or not isinstance(players, Sequence):
        raise StarmineError(f"players={players!r} is not allowed: expected a sequence with an entry for each seat")
    if isinstance(variant, str):
        return resolve_variant(variant, {"players": len(players)})
    resolved = resolve_variant(variant, {})
    if len(players) != resolved.players:
        raise StarmineError(
            f"players has {len(players)} entries: expected {resolved.players}, one for each seat of this variant"
        )
    return resolved


@overload
def play_games(
    players: Sequence[Player],
    games: int = ...,
    seed: int = ...,
    variant: str | Variant = ...,
    threads: int | None = ...,
    first_game: int = ...,
    *,
    record: Literal[True],
) -> RecordedGames: ...


@overload
def play_games(
    players: Sequence[Player],
    games: int = ...,
    seed: int = ...,
    variant: str | Variant = ...,
    threads: int | None = ...,
    first_game: int = ...,
    record: bool = ...,
) -> Games: ...


@named_keywords
def play_games(
    players: Sequence[Player],
    games: int = 1000,
    seed: int = 0,
    variant: str | Variant = "standard",
    threads: int | None = None,
    first_game: int = 0,
    record: bool = False,
) -> Games:
    """Play whole games.

    Game i has the deck of game i, episode 0, of a batch with this seed: equal seeds deal equal games to all players.

    Args:
        players: one for each seat. Text is a bot's name (see `starmine.bots()`), a list of rules, such as "rules:
            play-safe; hint-playable; discard-oldest" (see `starmine.rules()`), the name of a trained policy (see
            `starmine.policies()`), or a policy file, such as "policy: mine.safetensors"; "policy: mine.safetensors;
            sampled" samples its moves. Objects are the result of `load_policy`; a `PythonBot`, as a class with
            `act(view)` or an object of one; the result of `make_bot`, which stands for its text; a `Policy`, with
            `act_batch`; or a torch module, which gets float32 observations (K, D) and masks bool (K, A), and returns
            logits (K, A), of which the best legal one is played, or actions (K,).
        games: number of games, at least 1.
        seed: 0 to 2**64 - 1.
        variant: a preset's name, with as many seats as there are players, or a `Variant`.
        threads: threads for games in which bots hold all seats; None for one for each core.
        first_game: the index of the first game.
        record: whether the result has the `trajectories` of the games; it is a `RecordedGames` then.

    Raises:
        UnknownNameError: there is no such bot, preset, encoder or policy file.
        SerializationError: a policy file is damaged or inconsistent.
        VariantError: a bot does not play the variant.
        StarmineError: a number out of range, a number of players that is not the variant's, or a policy that sees its
            own hand and does not say so.
        BotError: a player raised an exception or chose an illegal move; it holds the other games' results. Its cause
            is the exception of the first game in which a player raised one.

    >>> import starmine
    >>> games = starmine.play_games(["random", "random"], games=100)
    >>> games.scores.shape
    (100,)
    """
    rules = resolve_table(players, variant)
    seats = [resolve_player(player, f"players[{seat}]") for seat, player in enumerate(players)]
    names = [player if isinstance(player, str) else None for player in seats]
    if None not in names:
        threads = (os.cpu_count() or 1) if threads is None else threads
        columns, recorded, *_ = _play_bots(rules, names, games, seed, first_game, threads, record)
        return results(rules, columns, recorded)
    table = _Mixed(_Tables(rules, names, games, seed, first_game), seats, first_game)
    columns = table.play()
    failures = sorted(table.failures, key=lambda failure: failure.game)
    result = results(rules, columns, table.tables.recorded() if record else None, failures)
    if result.failures:
        raise BotError(result.failures, result) from table.cause
    return result


def results(rules: Variant, columns: Columns, recorded: Any, failures: Sequence[Failure] = ()) -> Games:
    """The results of games, with the trajectories if they were recorded."""
    if recorded is None:
        return Games(rules, *columns, failures=list(failures))
    return RecordedGames(rules, *columns, failures=list(failures), trajectories=Trajectories(rules, *recorded))


class _Mixed:
    """Games in which Python players hold some of the seats."""

    def __init__(self, tables: _Tables, seats: list[Any], first_game: int) -> None:
        self.tables = tables
        self.seats = seats
        self.first_game = first_game
        self.failures: list[Failure] = []
        self.abandoned: set[int] = set()
        # The exception of the first game in which a player raised one.
        self.cause: Exception | None = None
        self.cause_game = -1
        # Instances of bots that were given as classes, by seat and game.
        self.own: dict[tuple[int, int], Any] = {}

    def play(self) -> Columns:
        """Play all games to the end."""
        games = np.arange(len(self.tables.outcomes()[0]))
        for policy in {id(player): player for player in self.seats if isinstance(player, Policy)}.values():
            if callable(getattr(policy, "reset", None)):
                policy.reset(games)  # type: ignore[attr-defined]
        goes_on = np.ones(len(games), dtype=bool)
        while True:
            to_act = self.tables.run()
            for game in np.flatnonzero(goes_on & (to_act < 0)).tolist():
                self.end_game(game)
            goes_on = to_act >= 0
            if not (to_act >= 0).any():
                return self.tables.outcomes()
            # A policy that holds several seats is called once for all of them.
            policies: dict[int, tuple[Any, list[int]]] = {}
            for seat in np.unique(to_act[to_act >= 0]).tolist():
                waiting = np.flatnonzero(to_act == seat)
                player = self.seats[seat]
                if isinstance(player, Policy):
                    policies.setdefault(id(player), (player, []))[1].extend(waiting.tolist())
                else:
                    for game in waiting.tolist():
                        self.ask_bot(player, seat, game)
            for policy, waiting_games in policies.values():
                self.ask_policy(policy, sorted(waiting_games), to_act)

    def ask_bot(self, player: Any, seat: int, game: int) -> None:
        """Let a Python bot play its turn in one game."""
        move = None
        try:
            if isinstance(player, type):
                if (seat, game) not in self.own:
                    self.own[seat, game] = player()
                player = self.own[seat, game]
            move = player.act(self.tables.view(game))
            self.tables.apply(game, move)
        except Exception as error:
            self.give_up(game, seat, move, error)

    def end_game(self, game: int) -> None:
        """Show a game that has ended to the Python bots that played it."""
        if game in self.abandoned:
            return
        state = None
        told: list[Any] = []
        for seat, player in enumerate(self.seats):
            bot = self.own.pop((seat, game), None) if isinstance(player, type) else player
            if not callable(getattr(bot, "end", None)) or any(bot is other for other in told):
                continue
            told.append(bot)
            state = self.tables.state(game) if state is None else state
            try:
                bot.end(state.copy())
            except Exception as error:
                self.give_up(game, seat, None, error)
                return

    def ask_policy(self, policy: Any, games: list[int], to_act: Array) -> None:
        """Let a policy play its turn in some games."""
        encoder = policy_encoder(policy, f"players[{to_act[games[0]]}]")
        observations, masks = self.tables.encode(games, encoder)
        try:
            chosen = policy_actions(policy, observations, masks, np.array(games, dtype=np.int64))
        except Exception as error:
            for game in games:
                self.give_up(game, int(to_act[game]), None, error)
            return
        actions = dict(zip(games, chosen.tolist(), strict=True))
        for game in self.tables.apply_all(games, list(actions.values())):
            legal = actions_text(self.tables.variant, masks[games.index(game)])
            refusal = StarmineError(f"which is not legal: expected one of {legal}")
            self.give_up(game, int(to_act[game]), actions[game], refusal)

    def give_up(self, game: int, seat: int, move: Any, error: Exception) -> None:
        """Record a failure and abandon the game."""
        self.tables.abandon(game)
        self.abandoned.add(game)
        message = str(error)
        if move is None:
            message = f"raised {type(error).__name__}: {error}{raised_at(error)}"
            if self.cause is None or game < self.cause_game:
                self.cause, self.cause_game = error, game
        self.failures.append(Failure(self.first_game + game, seat, move, message))
