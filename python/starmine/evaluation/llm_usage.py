"""What the calls of language models came to: the totals of chat players, kept with the games of each pairing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from starmine._core import _Player

if TYPE_CHECKING:
    from starmine.text import ChatPlayer

Calls: TypeAlias = dict[str, Any]  # totals, as `ChatPlayer.totals` has them, without the name


def added(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """The sums of the numbers and lists of two nested dicts. A text is a first problem; that of `one` is kept."""
    total = dict(one)
    for name, value in other.items():
        if name not in total:
            total[name] = value
        elif isinstance(value, Mapping):
            total[name] = added(total[name], value)
        elif not isinstance(value, str):
            total[name] = total[name] + value
    return total


def chat_players(players: Mapping[str, Any]) -> dict[str, ChatPlayer]:
    """The chat players among some players, by name; a player of several names has the first."""
    if all(isinstance(player, _Player) for player in players.values()):
        return {}  # without an import
    from starmine.text.chat import ChatPlayer

    by_name: dict[str, ChatPlayer] = {}
    for name, player in players.items():
        if isinstance(player, ChatPlayer) and all(player is not known for known in by_name.values()):
            by_name[name] = player
    return by_name


def games_at_once(players: Mapping[str, Any], chunk: int) -> int:
    """How many games are played at once: `chunk`, or at most as many as chat players make calls at the same time.

    More games would be no faster, and an interruption would lose more of them.
    """
    calls = [chat.concurrency for chat in chat_players(players).values()]
    return min(chunk, max(calls, default=chunk))


@contextmanager
def count_calls(names: Sequence[str], players: Sequence[Any], first_game: int) -> Iterator[dict[str, Calls]]:
    """The totals of the calls that chat players make in a block that plays games; they are there after the block.

    Args:
        names: of the players, by seat.
        players: those at the table, by seat.
        first_game: the number of the first game in its pairing.
    """
    chats = chat_players(dict(zip(names, players, strict=True)))
    before = {name: (len(chat.exchanges), chat.fallbacks) for name, chat in chats.items()}
    calls: dict[str, Calls] = {}
    with ExitStack() as stack:
        for chat in chats.values():
            stack.enter_context(chat.seated(names, first_game))
        yield calls
    for name, (exchanges, fallbacks) in before.items():
        from starmine.text.exchange import totals

        chat = chats[name]
        calls[name] = totals(chat.exchanges[exchanges:], chat.fallbacks - fallbacks)


def fallback_share(usages: Iterable[Mapping[str, Calls]]) -> float:
    """The share of the moves of chat players that their fallback has chosen; 0 without chat players.

    Args:
        usages: for each pairing the totals by chat player.
    """
    every = [calls for pairing in usages for calls in pairing.values()]
    chosen = sum(calls["fallbacks"] for calls in every)
    return float(chosen / max(1, chosen + sum(calls["outcomes"].get("move", 0) for calls in every)))
