"""Asks the players at the seats of games for their moves: the only place that calls policies and bots in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant, View
from starmine._util.arrays import Array
from starmine.games.actions import action_id
from starmine.games.draws import NOISE, POLICY, Numbers, choose_legal, draw, fractions
from starmine.games.failures import error_text
from starmine.games.player_texts import Noisy
from starmine.games.players import Factory, PolicyInputs, cheats, is_policy, policy_inputs
from starmine.games.turns import Turns
from starmine.policies.variant_check import check_variant


class Fault(NamedTuple):
    """What a player did wrong.

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

    @property
    def message(self) -> str:
        """What was wrong, without the move."""
        return f"raised {error_text(self.error)}" if self.move is None else str(self.error)


def raise_fault(fault: Fault) -> NoReturn:
    """Raise an error that names the player, what it did and where; an exception that the player raised is its cause."""
    chose = "" if fault.move is None else f"chose {fault.move!r}, "
    message = f"player {fault.player!r} in seat {fault.seat} of game {fault.game} {chose}{fault.message}"
    raise StarmineError(message) from (fault.error if fault.move is None else None)


class Views(Protocol):
    """What the seats of N games see."""

    @property
    def variant(self) -> Variant:
        """The rules."""

    def _rows(self, games: Array, seats: Array, wanted: tuple[str, str, list[str]]) -> dict[str, Array]:
        """A row of observations, action mask and extra outputs for each pair of a game and a seat."""

    def _view(self, game: int) -> View:
        """The view of the seat to act in a game."""


class Holder(NamedTuple):
    """A player that holds seats.

    Attributes:
        player: as it was given.
        noise: the probability of a random move in the place of its own.
        asked: the object that chooses moves: a policy's session, a bot, or a bot's class.
        inputs: what a policy sees; None for bots.
    """

    player: Any
    noise: float
    asked: Any
    inputs: PolicyInputs | None


class Question(NamedTuple):
    """A bot that was asked for a move and answers later."""

    holder: Holder
    view: View
    answer: Future[Any]


class PythonPlayers:
    """The Python players at the seats of N games.

    A policy is asked once for all of its rows of a turn. Players get copies of arrays. Bots are asked game
    by game, or together if they have `act_views`. A game whose bot answers later does not hold up the other games.

    The hidden states of a policy belong to this object, which asks the policy for a `session()`. A copy of this object
    has copies of the hidden states.

    Args:
        players: the players, as `resolve_player` returns them, one for each seat or for each partner; None where
            somebody else plays. Factories of policies make an object for each entry.
        num_games: N.
        views: what the seats of the games see.
        report: called for each game in which a player failed. If it raises, the turn breaks off.

    Attributes:
        holders: int64, the player number of each entry of `players`, -1 for None. `begin` takes these numbers.
            Entries with the same object and the same noise have the same number.
        views: as it was given.
    """

    def __init__(
        self,
        players: Sequence[Any],
        num_games: int,
        views: Views,
        report: Callable[[Fault], None] = raise_fault,
    ) -> None:
        self.views, self._report = views, report
        self._holders: list[Holder] = []
        self.holders = np.array([self._number(player) for player in players], np.int64)
        self._seats = np.full((num_games, views.variant.players), -1, np.int64)  # the number of who holds them
        self._seeds, self._deals = np.zeros(num_games, np.uint64), np.zeros(num_games, np.uint64)
        self._turns = np.zeros(self._seats.shape, np.uint64)  # that each seat has had
        self._made: dict[tuple[int, int], Any] = {}  # bots that were made for one game, by game and seat
        self._open: dict[int, Question] = {}  # by game
        self._answered: SimpleQueue[int] | None = None  # games whose questions are answered

    def _number(self, player: Any) -> int:
        if player is None:
            return -1
        noise, player = (player.epsilon, player.player) if isinstance(player, Noisy) else (0.0, player)
        if isinstance(player, Factory) and not player.makes_bots:
            made = player()
            if cheats(made) is not player.cheats:
                raise StarmineError(f"{player!r} makes policies of which only some cheat: expected all of them or none")
            player = made
        for number, holder in enumerate(self._holders):
            if holder.player is player and holder.noise == noise:
                return number
        check_variant(player, self.views.variant)
        inputs = policy_inputs(player, "player") if is_policy(player) else None
        asked = player.session() if inputs is not None and hasattr(player, "session") else player
        self._holders.append(Holder(player, noise, asked, inputs))
        return len(self._holders) - 1

    def begin(self, games: Array, seeds: Numbers, deals: Numbers, holders: Array) -> None:
        """Seat the players in games that begin, and tell the policies.

        Args:
            games: the numbers of the games (K,).
            seeds: the seeds of their decks, uint64 (K,).
            deals: uint64 (K,), see `deal_number`.
            holders: int64 (P,) or (K, P), the number of the player in each seat, -1 for somebody else.
        """
        self._seats[games], self._seeds[games], self._deals[games], self._turns[games] = holders, seeds, deals, 0
        if self._made:
            begun = set(games.tolist())
            self._made = {place: bot for place, bot in self._made.items() if place[0] not in begun}
        for number, holder in enumerate(self._holders):
            if holder.inputs is None or not hasattr(holder.asked, "reset"):
                continue
            rows, seats = np.nonzero(self._seats[games] == number)
            if len(rows):
                told = games[rows].astype(np.int64)
                try:
                    holder.asked.reset(told.copy(), seats.astype(np.int64))
                except Exception as error:
                    self._report_all(holder, told, seats, error)

    def play(self, to_act: Callable[[], Array], step: Callable[[NDArray[np.int64], NDArray[np.bool_]], Any]) -> None:
        """Ask the players, turn after turn, until no seat is to act.

        Args:
            to_act: gives the seats to act, integers (N,); -1 in games that are to wait.
            step: plays a turn; gets the actions (N,) and which games move, bool (N,). The action is -1 where somebody
                else acts. Games whose player has not answered or has failed do not move.
        """
        try:
            while ((seats := to_act()) >= 0).any():
                step(*self._ask(seats))
        finally:
            self._cancel()

    def act(self, seat: int) -> int:
        """The action of the player in a seat, which is to act in the only game."""
        try:
            return int(self._ask(np.array([seat]))[0][0])
        finally:
            self._cancel()

    def look(self, to_act: Array) -> list[tuple[Holder, Turns]]:
        """What policies see of a turn before it is played.

        Args:
            to_act: integers (N,), the seat to act; -1 in games that are not shown.
        """
        acting, seen = self._acting(to_act), []
        for number, holder in enumerate(self._holders):
            if holder.inputs is None:
                continue
            if holder.inputs.all_turns:
                game, seat = np.nonzero((self._seats == number) & (to_act >= 0)[:, None])
            else:
                game = np.flatnonzero(acting == number)
                seat = to_act[game].astype(np.int64)
            if len(game):
                wanted = holder.inputs.encoder, holder.inputs.dtype, list(holder.inputs.extra_outputs)
                rows, uniform = self.views._rows(game, seat, wanted), fractions(self._draw(POLICY, game, seat))
                seen.append((holder, Turns(game=game, seat=seat, to_act=to_act[game] == seat, uniform=uniform, **rows)))
        return seen

    def show(self, to_act: Array, seen: list[tuple[Holder, Turns]] | None = None) -> None:
        """Show a turn whose move these players do not decide.

        A bot that was made for its game is asked, too, and its move is dropped. A bot that was given as an object is
        not: it may have seen the turn at another table.

        Args:
            to_act: as `look` takes it.
            seen: what `look` gave before the turn; None to look now.
        """
        unused = np.full(len(to_act), -1, np.int64)
        for holder, turns in self.look(to_act) if seen is None else seen:
            self._ask_policy(holder, turns, unused)
        acting = self._acting(to_act)
        for number, holder in enumerate(self._holders):
            if holder.inputs is None:
                games = np.flatnonzero(acting == number)
                if is_maker(holder.asked):
                    self._show_bots(holder, games.tolist())
                self._turns[games, to_act[games]] += np.uint64(1)

    def _show_bots(self, holder: Holder, games: list[int]) -> None:
        """Ask the bots of games, and drop their moves."""
        for game, view, answer in self._answers(holder, games):
            error = answer.exception() if isinstance(answer, Future) else answer
            if isinstance(error, Exception):
                self._report(Fault(holder.asked, game, view.observer, None, error))

    def end(self, game: int, state_of: Callable[[int], Any]) -> None:
        """Show a game that has ended to its bots.

        Args:
            game: its number.
            state_of: gives a copy of the open table of a game; called for each bot that wants to see it.
        """
        told: list[Any] = []
        for seat, number in enumerate(self._seats[game].tolist()):
            if number < 0 or (holder := self._holders[number]).inputs is not None:
                continue
            bot = self._made.pop((game, seat), None) if is_maker(holder.asked) else holder.asked
            if not callable(getattr(bot, "end", None)) or any(bot is other for other in told):
                continue
            told.append(bot)
            try:
                bot.end(state_of(game))
            except Exception as error:
                self._report(Fault(bot, game, seat, None, error))
                return

    def _ask(self, to_act: Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The actions of the players to act and which games move, as `play` hands them to `step`.

        If every game waits for an answer, this method blocks until one arrives.
        """
        actions = np.full(len(to_act), -1, np.int64)
        if self._open:
            to_act = to_act.copy()
            to_act[list(self._open)] = -1
        for holder, turns in self.look(to_act):
            self._ask_policy(holder, turns, actions)
        acting = self._acting(to_act)
        for number, holder in enumerate(self._holders):
            if holder.inputs is not None:
                continue
            for game, view, answer in self._answers(holder, np.flatnonzero(acting == number).tolist()):
                if isinstance(answer, Future):
                    self._wait_for(game, Question(holder, view, answer))
                else:
                    actions[game] = self._action(holder, game, view, answer)
        others = (acting < 0) & (to_act >= 0)
        if self._open:
            self._take_answers(actions, waits=not (others | (actions >= 0)).any())
        return actions, others | (actions >= 0)

    def _acting(self, to_act: Array) -> NDArray[np.int64]:
        """The number of the player that is to act in each game, -1 for somebody else."""
        return np.where(to_act >= 0, self._seats[np.arange(len(to_act)), to_act], -1)

    def _ask_policy(self, holder: Holder, turns: Turns, actions: NDArray[np.int64]) -> None:
        """Write the actions of a policy."""
        # The policy may change what it gets: it gets its own copy of all that is still needed here.
        needed = {name: getattr(turns, name).copy() for name in ("game", "seat", "to_act", "action_mask")}
        try:
            chosen = _checked(holder.asked.act_batch(replace(turns, **needed)), len(turns))
        except Exception as error:
            self._report_all(holder, turns.game, turns.seat, error)
            return
        games, seats, masks = turns.game, turns.seat, turns.action_mask
        if not turns.to_act.all():
            acts = turns.to_act
            chosen, games, seats, masks = chosen[acts], games[acts], seats[acts], masks[acts]
        chosen = self._with_noise(holder, games, seats, masks, chosen)
        self._turns[games, seats] += np.uint64(1)
        is_action = (chosen >= 0) & (chosen < masks.shape[1])
        is_legal = is_action & masks[np.arange(len(games)), np.where(is_action, chosen, 0)]
        actions[games] = np.where(is_legal, chosen, -1)
        for row in np.flatnonzero(~is_legal).tolist():
            refusal = self._illegal(masks[row])
            self._report(Fault(holder.asked, int(games[row]), int(seats[row]), int(chosen[row]), refusal))

    def _answers(self, holder: Holder, games: list[int]) -> Iterator[tuple[int, View, Any]]:
        """What a bot answers in games: moves, exceptions or futures."""
        bot, makes = holder.asked, is_maker(holder.asked)
        if not makes and hasattr(bot, "act_views") and games:
            views = [self.views._view(game) for game in games]
            try:
                answers = list(bot.act_views(views, list(games)))
                if len(answers) != len(games):
                    raise StarmineError(f"act_views returned {len(answers)} moves: expected {len(games)}")
            except Exception as error:
                answers = [error] * len(games)
            yield from zip(games, views, answers, strict=True)
            return
        for game in games:
            view = self.views._view(game)
            place = game, view.observer
            try:
                if makes and place not in self._made:
                    self._made[place] = bot()
                answer = (self._made[place] if makes else bot).act(view)
            except Exception as error:
                answer = error
            yield game, view, answer

    def _wait_for(self, game: int, question: Question) -> None:
        """Record an open question, so that its answer is collected later."""
        answered = self._answered = SimpleQueue() if self._answered is None else self._answered
        self._open[game] = question
        question.answer.add_done_callback(lambda _: answered.put(game))  # called in the bot's thread

    def _take_answers(self, actions: NDArray[np.int64], waits: bool) -> None:
        """Write the actions of the bots that have answered since the last turn, of at least one if `waits`."""
        assert self._answered is not None
        while self._open:
            try:
                game = self._answered.get(waits)
            except Empty:
                return
            waits, question = False, self._open.pop(game)
            try:
                answer = question.answer.result()
            except Exception as error:
                answer = error
            actions[game] = self._action(question.holder, game, question.view, answer)

    def _cancel(self) -> None:
        """Drop the questions that wait for an answer."""
        questions, self._open, self._answered = self._open, {}, None
        for question in questions.values():
            question.answer.cancel()

    def _action(self, holder: Holder, game: int, view: View, answer: Any) -> int:
        """The action of a bot, or that of its noise; -1 if the bot failed."""
        variant, seat, mask = self.views.variant, view.observer, view.legal_action_mask()
        move = None if isinstance(answer, Exception) else answer
        try:
            if isinstance(answer, Exception):
                raise answer
            action = action_id(variant, answer)
            if not (0 <= action < len(mask) and mask[action]):
                raise self._illegal(mask)
        except Exception as error:
            self._report(Fault(holder.asked, game, seat, move, error))
            return -1
        if holder.noise:
            games, seats, chosen = np.array([game]), np.array([seat]), np.array([action])
            action = int(self._with_noise(holder, games, seats, mask[None], chosen)[0])
        self._turns[game, seat] += np.uint64(1)
        return action

    def _illegal(self, mask: NDArray[np.bool_]) -> StarmineError:
        """What is wrong with an action that is not in a mask, bool (num_actions,)."""
        legal = (f"{action} ({self.views.variant.action_meaning(action)})" for action in np.flatnonzero(mask).tolist())
        return StarmineError(f"which is not legal: expected one of {', '.join(legal)}")

    def _report_all(self, holder: Holder, games: Array, seats: Array, error: Exception) -> None:
        """Report an exception for each of the games (K,) in which a policy holds seats (K,)."""
        for game, seat in zip(games.tolist(), seats.tolist(), strict=True):
            self._report(Fault(holder.asked, game, seat, None, error))

    def _draw(self, purpose: int, games: Array, seats: Array, *keys: int) -> Numbers:
        """Numbers (K,) that follow from the games (K,), the seats (K,) and the turns that these have had."""
        return draw(self._seeds[games], purpose, self._deals[games], seats, self._turns[games, seats], *keys)

    def _with_noise(self, holder: Holder, games: Array, seats: Array, masks: Array, chosen: Array) -> Array:
        """The chosen actions (K,) in games (K,) for seats (K,) with masks (K, A), or those of the noise."""
        if not holder.noise:
            return chosen
        is_noise = fractions(self._draw(NOISE, games, seats, 0)) < holder.noise
        return np.where(is_noise, choose_legal(self._draw(NOISE, games, seats, 1), masks), chosen)


def sees_every_turn(player: Any) -> bool:
    """Whether a player in Python also sees the turns of other seats."""
    player = player.player if isinstance(player, Noisy) else player
    return bool(getattr(getattr(player, "example", player), "all_turns", False))


def is_maker(player: Any) -> bool:
    """Whether a bot is a class or a function, which makes an object for each game."""
    return isinstance(player, type | Factory)


def _checked(actions: Any, rows: int) -> Array:
    """The actions that a policy returned, integers (rows,), which may be illegal.

    Raises:
        StarmineError: another shape or type.
    """
    chosen: Array = np.asanyarray(actions)
    if isinstance(chosen, np.ma.MaskedArray):
        raise StarmineError("actions are a masked array: expected one without a mask")
    if chosen.shape != (rows,) or not np.issubdtype(chosen.dtype, np.integer):
        raise StarmineError(f"actions have shape {chosen.shape} and dtype {chosen.dtype}: expected integers ({rows},)")
    return chosen
