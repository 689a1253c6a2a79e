"""Comparison of the position of a Starmine state with that of an oracle game."""

from oracle_rules import Card

PLAIN_FIELDS = ["score", "information_tokens", "life_tokens", "deck_size", "current_player", "ending", "fireworks"]


class MismatchError(AssertionError):
    """Starmine and the oracle differ."""


def starmine_position(state):
    """The fields of a state."""
    return {
        **{name: getattr(state, name) for name in PLAIN_FIELDS},
        "is_terminal": state.is_terminal,
        "hands": [[(card.suit, card.rank) for card in hand] for hand in state.hands],
        "discard_pile": [(card.suit, card.rank) for card in state.discard_pile],
        "legal_actions": list(state.legal_actions()),
    }


def oracle_position(game):
    """The same fields of an oracle game."""
    return {
        **{name: getattr(game, name) for name in PLAIN_FIELDS},
        "is_terminal": game.ending is not None,
        "hands": game.hands,
        "discard_pile": game.discard_pile,
        "legal_actions": game.legal_actions(),
    }


def plain(value):
    """Cards as text, for messages."""
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return str(Card(*value)) if isinstance(value, tuple) else value


def compare(found, expected, where):
    """Raises MismatchError with the first field that differs; `where()` describes the game."""
    if found == expected:
        return
    for field, value in expected.items():
        if found[field] != value:
            raise MismatchError(f"{field}: starmine has {plain(found[field])}, the oracle {plain(value)}\n{where()}")


def compare_encoding(found, expected, layout, where, seat):
    """Raises MismatchError where a seat's encoding differs, with the sections that differ."""
    found = found.tolist()
    if found == expected:
        return
    sections = [section for section in layout if found[section.slice] != expected[section.slice]]
    names = ", ".join(section.name for section in sections) or "no section"
    sizes = f"{len(found)} bits for {len(expected)}" if len(found) != len(expected) else ""
    differing = [bit for bit, pair in enumerate(zip(found, expected, strict=False)) if pair[0] != pair[1]]
    difference = f"{names} (bits {differing[:20]}) {sizes}"
    raise MismatchError(f"encoding of seat {seat}: starmine differs from the oracle in {difference}\n{where()}")
