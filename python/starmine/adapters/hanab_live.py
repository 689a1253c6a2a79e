"""hanab.live: a player at a table of the site, by the messages that its server sends to a client.

A message is a name, a space and JSON. `HanabLiveClient.receive` takes each message of the server and returns what to
send back::

    | message of the server | what it tells | answer |
    |---|---|---|
    | `tableStart {"tableID"}` | a game starts | `getGameInfo1` |
    | `init {"tableID", "playerNames", "ourPlayerIndex", "options"}` | the rules and the seat | `getGameInfo2` |
    | `gameActionList {"tableID", "list"}` | all so far, also after a lost connection | `loaded`, perhaps a move |
    | `gameAction {"tableID", "action"}` | what has happened now | perhaps a move |
    | `pause {"tableID", "active"}` | the game pauses or goes on | perhaps a move |

All other messages, such as clocks and chat, get no answer. The connection, the login and the choice of a table are the
caller's. The entries of `list`, and each `action`, are::

    | type | fields | meaning |
    |---|---|---|
    | `draw` | `playerIndex`, `order`, `suitIndex`, `rank` | a card is drawn; suit and rank are -1 for the own cards |
    | `play` | `playerIndex`, `order`, `suitIndex`, `rank` | a card is added to its firework |
    | `strike` | | a card is misplayed: `discard` with `failed` follows |
    | `discard` | as `play`, and `failed` | a card is discarded, or was misplayed |
    | `clue` | `giver`, `target`, `clue`, `list` | a hint: `clue.type` 0 names a colour, 1 a rank; `list`: orders |
    | `status` | `clues`, `score` | information tokens, and the sum of the fireworks |
    | `turn` | `currentPlayerIndex` | the next player; -1 after the end |
    | `gameOver` | | the game is over |

An order is a card's place in the deck. Ranks count from 1.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from starmine._core import Card, StarmineError, Variant
from starmine._util.numbers import is_integer
from starmine.data.formats.hanab_live import COLOR_HINT, DISCARD, PLAY, RANK_HINT, moves_of
from starmine.data.formats.hanab_live_rules import rules_of
from starmine.games.players import Player, resolve_player
from starmine.games.seen_game import SeenGame

HINTS = (COLOR_HINT, RANK_HINT)  # by the type of a clue
UNSEEN = -1  # suit and rank of a card that the site hides
QUIET = ("strike", "playerTimes", "cardIdentity")  # actions that tell nothing that others do not tell


class _Left(NamedTuple):
    """A card that has left a hand: the type of the move, the slot, and the card."""

    kind: int
    slot: int
    card: Card


class HanabLiveClient:
    """A player at tables of hanab.live, one game after another.

    Args:
        player: any player that `starmine.play_games` takes.
        seed: of the player's random choices. Its k-th game here has those of game k of `play_games` with this seed.

    Attributes:
        seen: the game that is played, as the player's seat sees it; None before all first hands are known.
        is_over: whether the game is over on the site, which also ends a game in which nothing can be played any more.

    >>> from starmine.adapters.hanab_live import HanabLiveClient
    >>> client = HanabLiveClient("smart")
    >>> client.receive('tableStart {"tableID": 9, "replay": false}')
    ['getGameInfo1 {"tableID": 9}']
    """

    def __init__(self, player: Player, seed: int = 0) -> None:
        self.seen: SeenGame | None = None
        self.is_over = False
        self._player, self._seed = resolve_player(player, "player"), seed
        self._games = -1  # the number of this game
        self._table: int | None = None
        self._variant: Variant | None = None
        self._seat, self._start = 0, 0
        self._is_paused = False
        self._hands: list[list[int]] = []  # the orders, by seat
        self._first: list[list[Card | None]] = []  # the first hands, by seat
        self._left: _Left | None = None  # before the draw that follows it

    def receive(self, message: str) -> list[str]:
        """Take a message of the server.

        Returns:
            The commands to send, in order.

        Raises:
            StarmineError: a message that cannot be read, rules that are none of ours, an action that cannot be in the
                game, or an illegal move of the player.
        """
        name, _, text = message.partition(" ")
        if name not in ("tableStart", "init", "gameActionList", "gameAction", "pause"):
            return []
        try:
            told = json.loads(text)
        except ValueError as error:
            raise StarmineError(f"the data of {name!r} is not JSON: {error}") from None
        table = _field(told, "tableID", name)
        if name == "tableStart":
            return [] if told.get("replay") else [_command("getGameInfo1", table)]
        if name == "init":
            if told.get("spectating") or told.get("replay"):
                return []
            self._begin(table, told)
            return [_command("getGameInfo2", table)]
        if table != self._table:
            return []
        if name == "gameActionList":
            self._deal()
            for action in _list(told, "list", name):
                self._take(action)
            return [_command("loaded", table), *self._moves()]
        if name == "pause":
            self._is_paused = told.get("active") is True
            return self._moves()
        action = told.get("action")
        self._take(action)
        return self._moves() if action["type"] == "turn" else []

    def _begin(self, table: int, told: dict[str, Any]) -> None:
        """Read the rules of a game that starts, or of the same game after a lost connection."""
        names, seat = _list(told, "playerNames", "init"), _field(told, "ourPlayerIndex", "init")
        options = told.get("options")
        if isinstance(options, dict) and options.get("deckPlays"):
            raise StarmineError("init: the option deckPlays is not allowed: our rules do not play the top of the deck")
        self._variant, self._start = rules_of({"options": told.get("options")}, len(names))
        if not 0 <= seat < len(names):
            raise StarmineError(f"init: ourPlayerIndex={seat} is not allowed: expected 0 to {len(names) - 1}")
        self._seat = seat
        self._games += table != self._table
        self._table, self._is_paused = table, told.get("paused") is True

    def _deal(self) -> None:
        """Forget what was told of the game: everything is told again."""
        assert self._variant is not None
        self.seen, self.is_over, self._left = None, False, None
        self._hands = [[] for _ in range(self._variant.players)]
        self._first = [[] for _ in range(self._variant.players)]

    def _take(self, action: Any) -> None:
        """Take an action of a game."""
        kind = action.get("type") if isinstance(action, dict) else None
        if kind == "draw":
            self._draw(action)
        elif kind in ("play", "discard"):
            self._take_card(action)
        elif kind == "clue":
            self._take_hint(action)
        elif kind == "status":
            self._check_status(action)
        elif kind == "turn":
            self._check_turn(action)
        elif kind == "gameOver":
            self.is_over = True
        elif kind not in QUIET:
            raise StarmineError(f"the action {action!r} is not known")

    def _game(self, action: dict[str, Any]) -> SeenGame:
        if self.seen is None:
            raise StarmineError(f"the action {action} comes before all first hands are known")
        return self.seen

    def _player_of(self, action: dict[str, Any], name: str) -> int:
        seat, count = _field(action, name, action["type"]), len(self._hands)
        if not 0 <= seat < count:
            raise StarmineError(f"the action {action} has {name}={seat}: expected 0 to {count - 1}")
        return seat

    def _card(self, action: dict[str, Any]) -> Card | None:
        """The card of an action; None for one that the site hides."""
        suit, rank = (_field(action, name, action["type"]) for name in ("suitIndex", "rank"))
        if suit == rank == UNSEEN:
            return None
        assert self._variant is not None
        if not (0 <= suit < self._variant.colors and 1 <= rank <= self._variant.ranks):
            raise StarmineError(f"the action {action} has no card of {self._variant}")
        return Card.of(suit, rank - 1)

    def _draw(self, action: dict[str, Any]) -> None:
        seat, order, card = self._player_of(action, "playerIndex"), _field(action, "order", "draw"), self._card(action)
        if self.seen is not None:
            if self._left is None or seat != self.seen.current_player:
                raise StarmineError(f"the action {action} follows no play or discard of player {seat}")
            self._play_card(card)
            self._hands[seat].append(order)
            return
        self._hands[seat].append(order)
        self._first[seat].append(card)
        assert self._variant is not None
        size = self._variant.hand_size
        if len(self._first[seat]) > size:
            raise StarmineError(f"the action {action} comes before all first hands are known")
        if all(len(hand) == size for hand in self._first):
            self.seen = SeenGame(self._variant, self._seat, self._first, self._start)
            self.seen.seat(self._player, seed=self._seed, game=self._games)

    def _take_card(self, action: dict[str, Any]) -> None:
        """Take a play or a discard. It is a turn once the card that is drawn after it is known."""
        seen, seat = self._game(action), self._player_of(action, "playerIndex")
        hand, order, card = self._hands[seat], _field(action, "order", action["type"]), self._card(action)
        if order not in hand or seat != seen.current_player or self._left is not None or card is None:
            raise StarmineError(f"the action {action} cannot be: player {seen.current_player} is to act")
        is_added, is_misplay = action["type"] == "play", action.get("failed") is True
        is_next = seen.view().fireworks[card.suit] == card.rank
        if (is_added and not is_next) or (is_misplay and is_next):
            raise StarmineError(
                f"the action {action} is none of our rules: {card} is {'' if is_next else 'not '}playable"
            )
        self._left = _Left(PLAY if is_added or is_misplay else DISCARD, hand.index(order), card)
        if seen.view().deck_size == 0:
            self._play_card(None)
        hand.remove(order)

    def _play_card(self, drawn: Card | None) -> None:
        """Take the turn whose card has left a hand, with the card that was drawn after it."""
        assert self.seen is not None
        assert self._left is not None
        kind, slot, card = self._left
        self.seen.apply(moves_of(self.seen.variant).index((kind, slot, 0)), card=card, drawn=drawn)
        self._left = None

    def _take_hint(self, action: dict[str, Any]) -> None:
        seen, giver, target = self._game(action), self._player_of(action, "giver"), self._player_of(action, "target")
        clue = action.get("clue")
        kind, value = (_field(clue, name, "clue") for name in ("type", "value"))
        move = (HINTS[kind] if kind in (0, 1) else -1, (target - giver) % seen.variant.players, value)
        if giver != seen.current_player or move not in moves_of(seen.variant):
            raise StarmineError(f"the action {action} cannot be: player {seen.current_player} is to act")
        hand, orders = self._hands[target], _list(action, "list", "clue")
        if not set(orders) <= set(hand):
            raise StarmineError(f"the action {action} touches cards that player {target} does not hold: {hand}")
        seen.apply(moves_of(seen.variant).index(move), touched=sorted(map(hand.index, orders)))

    def _check_status(self, action: dict[str, Any]) -> None:
        view = self._game(action).view()
        for name, ours in (("clues", view.information_tokens), ("score", sum(view.fireworks))):
            if _field(action, name, "status") != ours:
                raise StarmineError(f"the action {action} has {name}={action[name]}: by our rules it is {ours}")

    def _check_turn(self, action: dict[str, Any]) -> None:
        seen, player = self._game(action), _field(action, "currentPlayerIndex", "turn")
        self.is_over |= player == UNSEEN
        if player not in (UNSEEN, seen.current_player):
            raise StarmineError(f"the action {action} has player {player}: by our rules it is {seen.current_player}")

    def _moves(self) -> list[str]:
        """The command of the player's move, if it is to act."""
        seen = self.seen
        if self._is_paused or self.is_over or seen is None or seen.is_terminal or seen.current_player != self._seat:
            return []
        assert self._table is not None
        kind, place, value = moves_of(seen.variant)[seen.act()]
        if kind in HINTS:
            target = (self._seat + place) % seen.variant.players
            return [_command("action", self._table, type=kind, target=target, value=value)]
        return [_command("action", self._table, type=kind, target=self._hands[self._seat][place])]


def _command(name: str, table: int, **data: int) -> str:
    """A command as the server reads it."""
    return f"{name} {json.dumps({'tableID': table, **data})}"


def _field(told: Any, name: str, where: str) -> int:
    """An integer of a message."""
    value = told.get(name) if isinstance(told, dict) else None
    if not is_integer(value):
        raise StarmineError(f"{where}: {name}={value!r} is not allowed: expected an integer")
    return int(value)


def _list(told: Any, name: str, where: str) -> list[Any]:
    """A list of a message."""
    value = told.get(name) if isinstance(told, dict) else None
    if not isinstance(value, list):
        raise StarmineError(f"{where}: {name}={value!r} is not allowed: expected a list")
    return value
