"""AH2AC2's evaluation: a player as the agent of a seat in the games of its `EvaluationEnvironment`.

The challenge's server plays JaxMARL's Hanabi. After each turn, whoever played it, the server shows each seat its
observation and its legal moves; a seat that is not to act plays the no-op. `EvaluationAgent` reads from an observation
what the last turn has shown, so that any player can hold the seat, not only networks for these observations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import Card, StarmineError, Variant
from starmine.games.players import Player, resolve_player
from starmine.games.seen_game import SeenGame

KINDS = ("play", "discard", "color_hint", "rank_hint")  # of moves, in the order of the section "last_type"
AGENT = "agent_"


class EvaluationAgent:
    """A player as an agent of one game: `action, agent = agent.act(obs, legal_moves)`.

    Call `act` at the start and after each turn, whoever played it, with the observations in their order. An agent plays
    one game.

    Args:
        player: any player that `starmine.play_games` takes.
        agent_id: of the seat, such as "agent_0"; an entry of `env.info.candidate_controlling`.
        num_players: `env.info.num_players`, 2 to 5.
        seed, game: of the player's random choices, as in `SeenGame.seat`.

    Attributes:
        seen: the game as the seat sees it; None before the first observation.

    Raises:
        StarmineError: there is no such agent.
        UnknownNameError: there is no such bot, or a file cannot be read.
        VariantError: the number of players is out of range.

    >>> from starmine.adapters.ah2ac2 import EvaluationAgent
    >>> agent = EvaluationAgent("smart", "agent_1", num_players=2)
    """

    def __init__(self, player: Player, agent_id: str, num_players: int, *, seed: int = 0, game: int = 0) -> None:
        self.seen: SeenGame | None = None
        self._variant = Variant(players=num_players)
        self._layout = self._variant.layout()
        agents = [f"{AGENT}{seat}" for seat in range(num_players)]
        if agent_id not in agents:
            raise StarmineError(f"agent_id={agent_id!r} is not allowed: expected one of {', '.join(agents)}")
        self._seat = agents.index(agent_id)
        self._player, self._seed, self._game = resolve_player(player, "player"), seed, game
        self._table: SeenGame | None = None  # the game without the player, on which a turn is tried

    def act(self, obs: Any, legal_moves: Any) -> tuple[int, EvaluationAgent]:
        """The action in this turn, and this agent.

        Args:
            obs: the observation (D,) as numbers.
            legal_moves: 0 or 1 for each action (A + 1,). The last action is the no-op, of a seat that is not to act.

        Raises:
            StarmineError: arrays of other shapes, an observation to which no turn leads, other legal moves than by the
                rules, or an illegal move of the player.
        """
        noop = self._variant.num_actions
        bits = _array("obs", obs, len(self._layout))[: self._layout["knowledge"].start]
        mask = _array("legal_moves", legal_moves, noop + 1)
        seen = self._take(bits)
        legal = seen.legal_actions() or [noop]
        if np.flatnonzero(mask).tolist() != legal:
            raise StarmineError(f"legal_moves are {np.flatnonzero(mask).tolist()}: by the rules they are {legal}")
        return noop if legal == [noop] else seen.act(), self

    def _take(self, bits: NDArray[np.bool_]) -> SeenGame:
        """Take what the sections before the knowledge of cards show: the first hands, or the last turn."""
        if self._table is None or self.seen is None:
            table = SeenGame(self._variant, self._seat, self._hands(bits))
            self._check(table, bits)
            seen = table.copy()
            seen.seat(self._player, seed=self._seed, game=self._game)
            self._table, self.seen = table, seen
            return seen
        turn, table = self._turn(bits), self._table.copy()
        table.apply(**turn)
        self._check(table, bits)
        self.seen.apply(**turn)
        self._table = table
        return self.seen

    def _hands(self, bits: NDArray[np.bool_]) -> list[list[Card] | None]:
        """The hands by seat; None for the own one."""
        section = self._layout["hands"]
        rows = bits[section.slice].reshape(*section.shape[:2], -1)
        hands: list[list[Card] | None] = [None] * self._variant.players
        for offset, hand in enumerate(rows, 1):
            seat = (self._seat + offset) % self._variant.players
            hands[seat] = [self._card(int(card.argmax())) for card in hand if card.any()]
        return hands

    def _card(self, index: int) -> Card:
        return Card.of(*divmod(index, self._variant.ranks))

    def _turn(self, bits: NDArray[np.bool_]) -> dict[str, Any]:
        """The last turn, as `SeenGame.apply` takes it.

        Raises:
            StarmineError: the sections of the last turn show none.
        """
        assert self._table is not None

        def shown(name: str) -> list[int]:
            ones: list[int] = np.flatnonzero(bits[self._layout[name].slice]).tolist()
            return ones

        names = ("player", "type", "target", "color", "rank", "slot", "card")
        last = {name: ones[0] if (ones := shown(f"last_{name}")) else None for name in names}
        actor = last["player"]
        if actor is None or last["type"] is None:
            raise StarmineError("the observation shows no turn: expected one observation after each turn")
        offset = None if last["target"] is None else (last["target"] - actor) % self._variant.players
        wanted = KINDS[last["type"]], last["slot"], offset, last["color"], last["rank"]
        for action in range(self._variant.num_actions):
            move = self._variant.move(action)
            if (move.kind, move.slot, move.offset, move.color, move.rank) == wanted:
                break
        else:
            raise StarmineError(f"the observation shows a turn that is no move: {wanted}")
        card, drawn, touched = None, None, None
        if last["target"] is not None:
            touched = shown("last_touched")
        elif last["card"] is not None:
            card = self._card(last["card"])
            if actor and len(shown("deck_size")) < self._table.view().deck_size:
                hand = self._hands(bits)[(self._seat + actor) % self._variant.players]
                drawn = hand[-1] if hand else None
        return {"action": action, "card": card, "drawn": drawn, "touched": touched}

    def _check(self, table: SeenGame, bits: NDArray[np.bool_]) -> None:
        """Check that an observation is that of a game.

        Raises:
            StarmineError: it shows something else.
        """
        ours = table.observation()[: len(bits)].astype(bool)
        if np.array_equal(ours, bits):
            return
        names = [section.name for section in self._layout.sections if section.stop <= len(bits)]
        others = [name for name in names if (ours != bits)[self._layout[name].slice].any()]
        raise StarmineError(
            f"the observation does not follow turn {table.length} by the rules: {', '.join(others)} differ; expected "
            "one observation after each turn, whoever played it"
        )


def _array(name: str, given: Any, size: int) -> NDArray[np.bool_]:
    """An array (size,) of zeros and ones, or of probabilities, as bits.

    Raises:
        StarmineError: it has another shape.
    """
    array = np.asarray(given)
    if array.shape != (size,):
        raise StarmineError(f"{name} has shape {array.shape}: expected ({size},)")
    bits: NDArray[np.bool_] = array > 0.5
    return bits
