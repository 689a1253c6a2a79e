"""How games end."""

from starmine._core import endings

VICTORIES = ("perfect", "deck_exhausted")


def ending_code(name: str) -> int:
    """The code of an ending in arrays, such as `Games.endings`: `starmine.endings()[code - 1]` is its name."""
    return endings().index(name) + 1


def defeats() -> list[int]:
    """The codes of the endings that lose a game, for `numpy.isin(final_ending, starmine.defeats())`.

    Code k is `starmine.endings()[k - 1]`. A game is lost unless it is perfect or its deck runs out.

    >>> import starmine
    >>> [starmine.endings()[code - 1] for code in starmine.defeats()]
    ['lost', 'indispensable_card_lost', 'no_legal_action']
    """
    return [code for code, name in enumerate(endings(), 1) if name not in VICTORIES]
