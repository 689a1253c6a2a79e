"""Which card is in which slot, turn after turn. Cards are numbered in the order of dealing."""

from __future__ import annotations

from starmine._core import Event, Variant


class Hands:
    """The hands of a game that is followed from its deal.

    Args:
        variant: the rules.

    Attributes:
        numbers: the numbers of the cards by seat and slot. Seat 0 is dealt the first ones.
    """

    def __init__(self, variant: Variant) -> None:
        size, players = variant.hand_size, variant.players
        self.numbers = [list(range(seat * size, (seat + 1) * size)) for seat in range(players)]
        self._dealt, self._deck_size = players * size, variant.deck_size

    def follow(self, event: Event) -> None:
        """Take the card of a play or a discard out of its hand, and deal the next one."""
        if event.slot is None:
            return
        hand = self.numbers[event.seat]
        del hand[event.slot]
        if self._dealt < self._deck_size:
            hand.append(self._dealt)
            self._dealt += 1
