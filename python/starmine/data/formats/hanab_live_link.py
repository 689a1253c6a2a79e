"""Games of hanab.live as share links, which hold the whole game.

A link ends in `/replay-json/DATA` or `/shared-replay-json/DATA`. DATA is `PLAYERS_AND_DECK,ACTIONS,VARIANT` with a
hyphen after every 20 characters, written in the digits a-z, 0-9, A-Z of the base 62:

- the number of players; the lowest and the highest rank; a digit for each card: `suit * ranks + rank`, both from 0
- the lowest and the highest type of action (`00` where there is none); two digits for each action: `(value + 1) * types
  + type`, with 0 for `value + 1` where there is no value and types counted from the lowest; then the target
- the id of the variant

A fourth part may name the seed of the deck. Options are not in the link. A file has a link in each line.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from starmine._core import StarmineError, Variant
from starmine._util.durable import replace_file
from starmine.data.formats.hanab_live import NAMES, entries, game_of
from starmine.data.formats.hanab_live_rules import game_rules, suits_called
from starmine.data.formats.records import ImportedGames, ReadGames, read_each
from starmine.data.formats.text_files import Readable, read_text

DIGITS = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SITE = "https://hanab.live/shared-replay-json/"
BETWEEN_HYPHENS = 20
DIGITS_OF_AN_ID = 9  # of a variant, at most
# What may follow is the number of a turn.
LINK = re.compile(r"(?:.*/)?(?:shared-)?replay-json/(?P<data>[\w,-]+)/?(?:[?#].*)?", re.ASCII)
# A link that names a game by its number and does not hold it.
NUMBERED = re.compile(r"(?:(?:https?://)?(?:www\.)?hanab\.live)?/?(?:shared-)?replay/(?P<id>\d+)(?:[/?#].*)?", re.ASCII)
EXPORT = "https://hanab.live/export/"


def is_link(text: str) -> bool:
    """Whether a text is a link to a game."""
    return LINK.fullmatch(text.strip()) is not None


def refuse_number(text: str) -> None:
    """Refuse a link that names a game by its number."""
    match = NUMBERED.fullmatch(text.strip())
    if match is not None:
        raise StarmineError(
            f"the link {text.strip()!r} does not hold its game: download {EXPORT}{match['id']} and read that file"
        )


def read(path: Readable, variant: Variant | None = None) -> ReadGames:
    """Read a file of links."""
    return read_links([line for line in read_text(path).splitlines() if line.strip()], variant)


def read_links(links: list[str], variant: Variant | None = None) -> ReadGames:
    """The games of links."""
    return read_each(links, lambda link: replace(game_of(entry_of(link)), players=()), variant)  # a link has no names


def entry_of(link: str) -> dict[str, Any]:
    """The JSON object of the game that a link holds, as `hanab_live` describes it."""
    refuse_number(link)
    match = LINK.fullmatch(link.strip())
    if match is None:
        raise StarmineError(f"{link.strip()!r} is no link to a game: expected .../replay-json/DATA")
    parts = match["data"].replace("-", "").split(",")
    if len(parts) < 3 or not parts[2].isdecimal() or len(parts[2]) > DIGITS_OF_AN_ID:
        raise StarmineError(f"the link has the parts {parts}: expected players and deck, actions, and a variant's id")
    players, deck = _deck(parts[0])
    entry = {
        "players": list(NAMES[:players]),
        "deck": deck,
        "actions": _actions(parts[1]),
        "options": {"variant": suits_called(int(parts[2])).name},
    }
    return entry | {"seed": parts[3]} if parts[3:] and parts[3] else entry


def _range(text: str, what: str) -> tuple[int, int]:
    """The lowest and the highest of two decimal digits."""
    if len(text) < 2 or not text[:2].isdecimal() or text[0] > text[1]:
        raise StarmineError(f"the link's {what} begin with {text[:2]!r}: expected a lowest and a highest digit")
    return int(text[0]), int(text[1])


def _value(digit: str) -> int:
    value = DIGITS.find(digit)
    if value < 0:
        raise StarmineError(f"{digit!r} is no digit of a link")
    return value


def _deck(text: str) -> tuple[int, list[dict[str, int]]]:
    """The number of players and the cards of the first part."""
    players = text[:1]
    if players not in tuple("2345"):
        raise StarmineError(f"the link begins with {players!r}: expected 2 to 5 players")
    lowest, highest = _range(text[1:], "ranks")
    cards = [divmod(_value(digit), highest - lowest + 1) for digit in text[3:]]
    return int(players), [{"suitIndex": suit, "rank": rank + lowest} for suit, rank in cards]


def _actions(text: str) -> list[dict[str, int]]:
    """The actions of the second part."""
    lowest, highest = _range(text, "types of action")
    digits = text[2:]
    if len(digits) % 2:
        raise StarmineError(f"the link's actions have {len(digits)} digits: expected an even number")
    actions = []
    for place in range(0, len(digits), 2):
        value, kind = divmod(_value(digits[place]), highest - lowest + 1)
        action = {"type": kind + lowest, "target": _value(digits[place + 1])}
        actions.append(action if value == 0 else action | {"value": value - 1})
    return actions


def link_of(entry: dict[str, Any], number: int) -> str:
    """The link to a game."""
    ranks = [card["rank"] for card in entry["deck"]]
    lowest, highest = min(ranks), max(ranks)
    deck = [DIGITS[card["suitIndex"] * (highest - lowest + 1) + card["rank"] - lowest] for card in entry["deck"]]
    types = [action["type"] for action in entry["actions"]]
    first, last = min(types), max(types)
    actions = [
        DIGITS[(action["value"] + 1) * (last - first + 1) + action["type"] - first] + DIGITS[action["target"]]
        for action in entry["actions"]
    ]
    data = f"{len(entry['players'])}{lowest}{highest}{''.join(deck)},{first}{last}{''.join(actions)},{number}"
    parts = [data[place : place + BETWEEN_HYPHENS] for place in range(0, len(data), BETWEEN_HYPHENS)]
    return SITE + "-".join(parts)


def links(games: ImportedGames) -> list[str]:
    """The links to games. Seats are numbered from the one that started; names are left out."""
    suits, options = game_rules(games.variant)
    if options:
        raise StarmineError(
            f"{games.variant} is not allowed: a link has no options, so it lacks {', '.join(options)}; expected the "
            "format hanab-live"
        )
    return [link_of(entry, suits.number) for entry in entries(games)]


def write(games: ImportedGames, path: Path) -> None:
    """Write a file, a link a line."""
    replace_file(path, "".join(link + "\n" for link in links(games)).encode())
