"""Asks players written in Python for their moves: the only place that calls policies and bots written in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant, View
from starmine._util.arrays import Array
from starmine.games.draws import NOISE, POLICY, choose_legal, draw, fractions
from starmine.games.player_texts import Noisy
from starmine.games.players import Factory, Wishes, cheats, check_variant, is_policy, policy_wishes
from starmine.games.turns import Turns

Numbers: TypeAlias = NDArray[np.uint64]


def actions_text(variant: Variant, mask: NDArray[np.bool_]) -> str:
    """The actions of a mask, bool (num_actions,), with their moves in words, as error messages list them."""
    return ", ".join(f"{action} ({variant.action_meaning(action)})" for action in np.flatnonzero(mask).tolist())


def sees_every_turn(player: Any) -> bool:
    """Whether a player in Python also sees the turns of other seats."""
    player = player.player if isinstance(player, Noisy) else player
    return bool(getattr(getattr(player, "example", player), "all_turns", False))


class GamesSeen(Protocol):
    """What players see of N games."""

    @property
    def variant(self) -> Variant:
        """The rules."""

    def _rows(self, games: Array, seats: Array, wanted: tuple[str, str, list[str]]) -> dict[str, Array]:
        """A row of observations, action mask and extra outputs for each pair of a game and a seat."""


class Fault(NamedTuple):
    """What a player did wrong in a game.

    Attributes:
        player: the policy or bot.
        game: the number of the game.
        seat: the seat.
        move: what it chose, or None if it raised an exception.
        error: the exception, or what is wrong with the move.
    """

    player: Any
    game: int
    seat: int
    move: Any
    error: Exception


class Request(NamedTuple):
    """The rows of a policy before a turn."""

    number: int
    game: NDArray[np.int64]
    seat: NDArray[np.int64]
    to_act: NDArray[np.bool_]
    uniform: NDArray[np.float64]
    rows: dict[str, Array]


class Moves(NamedTuple):
    """What players chose in a turn of N games.

    Attributes:
        actions: int64 (N,), the legal actions of policies; -1 where no policy acts.
        bots: the moves of bots, as (game, seat, move), which may be illegal.
        waits: bool (N,), the games whose bot was asked and has not answered yet.
    """

    actions: NDArray[np.int64]
    bots: list[tuple[int, int, Any]]
    waits: NDArray[np.bool_]


class Asked(NamedTuple):
    """A bot that was asked for a move and answers later."""

    number: int
    seat: int
    view: View
    answer: Future[Any]


class PythonPlayers:
    """The Python players of N games.

    A policy is asked once for all of its rows of a turn. Whatever arrays a player gets are copies. Bots are asked game
    by game, or together if they have `act_views`. A game whose bot answers later does not hold up the other games.

    The hidden states of a policy belong to this object, which asks the policy for a `session()`. A copy of this object
    has copies of the hidden states.

    Args:
        players: the players, as `resolve_player` returns them, one for each seat or for each partner; None where
            somebody else plays. Factories make an object for each entry.
        games: what the players see.
        failed: called for each game in which a player raised an exception or a policy chose an illegal action. If it
            raises, the turn breaks off.
        view: gives the view of the seat to act in a game; needed for bots.

    Attributes:
        numbers: int64, for each entry of `players` the number of its object; -1 for None. Entries with the same object
            and the same noise have the same number.
        numbers_by_seat: int64 (N, P), the number of the object in each seat of each game, -1 for another player.
        see_every_turn: whether some policy sees the turns of the other seats.
    """

    def __init__(
        self,
        players: Sequence[Any],
        games: GamesSeen,
        failed: Callable[[Fault], None],
        view: Callable[[int], View] | None = None,
    ) -> None:
        self.games, self.failed, self.view = games, failed, view
        self._given: list[tuple[Any, float]] = []  # players and the probability of noise, by number
        self._objects: list[Any] = []
        self._wishes: list[Wishes | None] = []
        self.numbers = np.array([self._number(player) for player in players], np.int64)
        self.numbers_by_seat = np.zeros((0, 0), np.int64)
        self._seeds, self._places = np.zeros(0, np.uint64), np.zeros(0, np.uint64)  # of the games
        self._turns = np.zeros((0, 0), np.uint64)  # of each seat so far
        self.see_every_turn = any(wishes is not None and wishes.all_turns for wishes in self._wishes)
        # Objects of bots that were given as classes or functions, by number, game and seat.
        self._own: dict[tuple[int, int, int], Any] = {}
        self._asked: dict[int, Asked] = {}  # by game
        self._answered: SimpleQueue[tuple[int, Future[Any]]] = SimpleQueue()

    def __getstate__(self) -> dict[str, Any]:
        """All but the queue of answers, which cannot be copied; between turns of environments it is empty."""
        return {name: value for name, value in vars(self).items() if name != "_answered"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _answered=SimpleQueue())

    def _number(self, player: Any) -> int:
        if player is None:
            return -1
        epsilon = player.epsilon if isinstance(player, Noisy) else 0.0
        player = player.player if isinstance(player, Noisy) else player
        if isinstance(player, Factory) and not player.makes_bots:
            made = player()
            if cheats(made) is not player.cheats:
                raise StarmineError(f"{player!r} makes policies of which only some cheat: expected all of them or none")
            player = made
        for number, (known, noise) in enumerate(self._given):
            if known is player and noise == epsilon:
                return number
        check_variant(player, self.games.variant)
        self._given.append((player, epsilon))
        has_sessions = is_policy(player) and callable(getattr(player, "session", None))
        self._objects.append(player.session() if has_sessions else player)
        self._wishes.append(policy_wishes(player, "player") if is_policy(player) else None)
        return len(self._objects) - 1

    def forget(self) -> None:
        """Drop the objects of bots that were made for single games, and the questions that wait for an answer."""
        self._own.clear()
        self.cancel()

    def cancel(self) -> None:
        """Drop the questions that wait for an answer."""
        asked, self._asked, self._answered = self._asked, {}, SimpleQueue()
        for question in asked.values():
            question.answer.cancel()

    def begin(self, games: Array, seeds: Numbers, places: Numbers) -> None:
        """Tell the policies that games begin; `numbers_by_seat` says who plays them.

        The objects of bots that played earlier games of these numbers are dropped.

        Args:
            games: their numbers (K,).
            seeds: the seeds of their decks, uint64 (K,).
            places: uint64 (K,), which stand for their indices and episodes, see `place_of`.
        """
        if self._turns.shape != self.numbers_by_seat.shape:
            count = len(self.numbers_by_seat)
            self._seeds, self._places = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
            self._turns = np.zeros(self.numbers_by_seat.shape, np.uint64)
        self._seeds[games], self._places[games], self._turns[games] = seeds, places, 0
        if self._own:
            begun = set(games.tolist())
            self._own = {place: bot for place, bot in self._own.items() if place[1] not in begun}
        numbers_by_seat = self.numbers_by_seat[games]
        for number, player in enumerate(self._objects):
            if self._wishes[number] is None or not callable(getattr(player, "reset", None)):
                continue
            rows, seats = np.nonzero(numbers_by_seat == number)
            if not len(rows):
                continue
            its_games = games[rows].astype(np.int64)
            try:
                player.reset(its_games.copy(), seats.astype(np.int64))
            except Exception as error:
                for game, seat in dict(zip(its_games.tolist(), seats.tolist(), strict=True)).items():
                    self.failed(Fault(player, game, seat, None, error))

    def _drawn(self, purpose: int, games: Array, seats: Array, *places: int) -> Numbers:
        """Numbers (K,) that follow from the games (K,), the seats (K,) and the turns that these have had."""
        seen = self._seeds[games], self._places[games], self._turns[games, seats]
        return draw(seen[0], purpose, seen[1], seats, seen[2], *places)

    def ask(self, to_act: Array) -> Moves:
        """Show the players a turn and take the moves that are known.

        A game whose bot answers later has no move yet; it is not shown again before the answer. If no game can go on
        without an answer, this call waits for one.

        Args:
            to_act: integers (N,), the seat to act; -1 in games that nobody plays.
        """
        if self._asked:
            to_act = to_act.copy()
            to_act[list(self._asked)] = -1
        return self.take(to_act, self.look(to_act))

    def look(self, to_act: Array) -> list[Request]:
        """What the policies see of a turn; the arguments are those of `ask`."""
        acting = self._acting(to_act)
        seen = []
        for number, wishes in enumerate(self._wishes):
            if wishes is None:
                continue
            policy = self._objects[number]
            if wishes.differ(policy):
                wishes = self._wishes[number] = policy_wishes(policy, "player")
            if wishes.all_turns:
                game, seat = np.nonzero((self.numbers_by_seat == number) & (to_act >= 0)[:, None])
            else:
                game = np.flatnonzero(acting == number)
                seat = to_act[game].astype(np.int64)
            if len(game):
                wanted = wishes.encoder, wishes.dtype, list(wishes.extra_outputs)
                uniform, rows = fractions(self._drawn(POLICY, game, seat)), self.games._rows(game, seat, wanted)
                seen.append(Request(number, game, seat, to_act[game] == seat, uniform, rows))
        return seen

    def take(self, to_act: Array, asked: Sequence[Request]) -> Moves:
        """The moves of a turn, given what the policies see of it."""
        actions = np.full(len(to_act), -1, np.int64)
        for policy in asked:
            self._take_policy(policy, actions)
        acting = self._acting(to_act)
        bots: list[tuple[int, int, Any]] = []
        for number, wishes in enumerate(self._wishes):
            if wishes is not None:
                continue
            games = np.flatnonzero(acting == number).tolist()
            bot = self._objects[number]
            is_one = hasattr(bot, "act_views") and not is_maker(bot)
            takes = self._take_together if is_one else self._take_one_by_one
            for game, move in takes(number, games, to_act) if games else ():
                self._add(bots, number, game, int(to_act[game]), move)
        if self._asked:
            others_go_on = bool(bots or (actions >= 0).any() or ((acting < 0) & (to_act >= 0)).any())
            for game, question, move in self._answers(not others_go_on):
                self._add(bots, question.number, game, question.seat, move)
        waits = np.zeros(len(to_act), np.bool_)
        waits[list(self._asked)] = True
        return Moves(actions, bots, waits)

    def show(self, to_act: Array) -> None:
        """Show the policies a turn whose moves are chosen elsewhere. Bots are not asked.

        Args:
            to_act: integers (N,), the seat to act; -1 in games that nobody plays.
        """
        self.cancel()
        chosen = np.full(len(to_act), -1, np.int64)
        for policy in self.look(to_act):
            self._take_policy(policy, chosen)
        acting = self._acting(to_act)
        for number, wishes in enumerate(self._wishes):
            if wishes is None:
                games = np.flatnonzero(acting == number)
                self._turns[games, to_act[games]] += np.uint64(1)

    def _add(self, bots: list[tuple[int, int, Any]], number: int, game: int, seat: int, move: Any) -> None:
        """Add the move of a bot to those of the turn; an exception is a failure."""
        if isinstance(move, Exception):
            self.failed(Fault(self._objects[number], game, seat, None, move))
        else:
            bots.append((game, seat, move))

    def _acting(self, to_act: Array) -> NDArray[np.int64]:
        """The number of the object that is to act in each game, -1 for another player."""
        return np.where(to_act >= 0, self.numbers_by_seat[np.arange(len(to_act)), to_act], -1)

    def _take_policy(self, asked: Request, actions: NDArray[np.int64]) -> None:
        """Write the actions of a policy."""
        policy, (game, seat, masks) = self._objects[asked.number], (asked.game, asked.seat, asked.rows["action_mask"])
        try:
            chosen = chosen_actions(policy, asked)
        except Exception as error:
            for one, seat_asked in dict(zip(asked.game.tolist(), asked.seat.tolist(), strict=True)).items():
                self.failed(Fault(policy, one, seat_asked, None, error))
            return
        if not asked.to_act.all():
            chosen, game, seat, masks = (array[asked.to_act] for array in (chosen, game, seat, masks))
        instead = self._noise(asked.number, game, seat, masks)
        chosen = np.where(instead >= 0, instead, chosen)
        self._turns[game, seat] += np.uint64(1)
        is_action = (chosen >= 0) & (chosen < masks.shape[1])
        is_legal = is_action & masks[np.arange(len(game)), np.where(is_action, chosen, 0)]
        if is_legal.all():
            actions[game] = chosen
            return
        actions[game] = np.where(is_legal, chosen, -1)
        for row in np.flatnonzero(~is_legal).tolist():
            legal = actions_text(self.games.variant, masks[row])
            refusal = StarmineError(f"which is not legal: expected one of {legal}")
            self.failed(Fault(policy, int(game[row]), int(seat[row]), int(chosen[row]), refusal))

    def _take_together(self, number: int, games: list[int], to_act: Array) -> Iterator[tuple[int, Any]]:
        """The moves that a bot with `act_views` knows at once, or the exceptions that it raised."""
        assert self.view is not None
        views = [self.view(game) for game in games]
        try:
            moves = list(self._objects[number].act_views(views, list(games)))
            if len(moves) != len(games):
                raise StarmineError(f"act_views returned {len(moves)} moves: expected {len(games)}")
        except Exception as error:
            moves = [error] * len(games)
        for game, view, move in zip(games, views, moves, strict=True):
            seat = int(to_act[game])
            if isinstance(move, Future):
                self._asked[game] = Asked(number, seat, view, move)
                move.add_done_callback(partial(_put, self._answered, game))
            else:
                yield game, move if isinstance(move, Exception) else self._played(number, game, view, move)

    def _answers(self, waits: bool) -> Iterator[tuple[int, Asked, Any]]:
        """The answers that have come since the last turn: games, what was asked, and moves or exceptions.

        Args:
            waits: whether there is at least one.
        """
        while self._asked:
            try:
                game, answer = self._answered.get(waits)
            except Empty:
                return
            question = self._asked.get(game)
            if question is None or question.answer is not answer:
                continue  # the answer to a question that was asked again after an interruption
            waits = False
            del self._asked[game]
            try:
                move = self._played(question.number, game, question.view, answer.result())
            except Exception as error:
                move = error
            yield game, question, move

    def _take_one_by_one(self, number: int, games: list[int], to_act: Array) -> Iterator[tuple[int, Any]]:
        """The moves of a bot, or the exceptions that it raised."""
        assert self.view is not None
        maker = self._objects[number]
        for game in games:
            seat = int(to_act[game])
            try:
                if is_maker(maker) and (number, game, seat) not in self._own:
                    self._own[number, game, seat] = maker()
                view = self.view(game)
                move = self._own.get((number, game, seat), maker).act(view)
                yield game, self._played(number, game, view, move)
            except Exception as error:
                yield game, error

    def _played(self, number: int, game: int, view: View, move: Any) -> Any:
        """A bot's move, or that of its noise."""
        games, seats = np.array([game]), np.array([view.observer])
        instead = int(self._noise(number, games, seats, view.legal_action_mask()[None])[0])
        self._turns[games, seats] += np.uint64(1)
        return move if instead < 0 else instead

    def _noise(self, number: int, games: Array, seats: Array, masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The actions (K,) that noise plays in games (K,) for seats (K,) with masks (K, A); -1 where it does not."""
        epsilon = self._given[number][1]
        if not epsilon or not len(games):
            return np.full(len(games), -1, np.int64)
        is_noise = fractions(self._drawn(NOISE, games, seats, 0)) < epsilon
        return np.where(is_noise, choose_legal(self._drawn(NOISE, games, seats, 1), masks), -1)

    def end(self, game: int, state_of: Callable[[int], Any]) -> None:
        """Show a game that has ended to its bots.

        Args:
            game: its number.
            state_of: gives the open table of a game; it is called only if a bot wants to see it.
        """
        state, told = None, set()
        for seat, number in enumerate(self.numbers_by_seat[game].tolist()):
            if number < 0 or self._wishes[number] is not None:
                continue
            player = self._objects[number]
            bot = self._own.pop((number, game, seat), None) if is_maker(player) else player
            if not callable(getattr(bot, "end", None)) or id(bot) in told:
                continue
            told.add(id(bot))
            state = state_of(game) if state is None else state
            try:
                bot.end(state.copy())
            except Exception as error:
                self.failed(Fault(bot, game, seat, None, error))
                return


def _put(answered: SimpleQueue[tuple[int, Future[Any]]], game: int, answer: Future[Any]) -> None:
    """Note that a bot has answered; called in the bot's thread."""
    answered.put((game, answer))


def is_maker(player: Any) -> bool:
    """Whether a bot is a class or a function, which makes an object for each game."""
    return isinstance(player, type | Factory)


def chosen_actions(policy: Any, asked: Request) -> Array:
    """The actions that a policy chooses, integers (K,), which may be illegal.

    Args:
        policy: the policy.
        asked: what it sees.
    """
    # The policy gets its own copy of all that is still needed here.
    rows = asked.rows | {"action_mask": asked.rows["action_mask"].copy()}
    rows |= {"game": asked.game.copy(), "seat": asked.seat.copy(), "to_act": asked.to_act.copy()}
    chosen: Array = np.asanyarray(policy.act_batch(Turns(uniform=asked.uniform, **rows)))
    if isinstance(chosen, np.ma.MaskedArray):
        raise StarmineError("actions are a masked array: expected one without a mask")
    if chosen.shape != asked.game.shape or not np.issubdtype(chosen.dtype, np.integer):
        raise StarmineError(
            f"actions have shape {chosen.shape} and dtype {chosen.dtype}: expected integers ({len(asked.game)},)"
        )
    return chosen
