"""Which card is in which slot, turn after turn. Cards are numbered in the order of dealing."""

from __future__ import annotations

from starmine._core import Event, Variant


class Hands:
    """The hands of a game that is followed from its deal.

    Args:
        variant: the rules.

    Attributes:
        numbers: the numbers of the cards by seat and slot. Seat 0 is dealt the first ones.
        dealt: number of cards that have been dealt.
    """

    def __init__(self, variant: Variant) -> None:
        size, players = variant.hand_size, variant.players
        self.numbers = [list(range(seat * size, (seat + 1) * size)) for seat in range(players)]
        self.dealt, self.deck_size = players * size, variant.deck_size

    def follow(self, event: Event) -> bool:
        """Take the card of a play or a discard out of its hand, and deal the next one. Returns whether there is one."""
        return event.slot is not None and self.take(event.seat, event.slot)

    def take(self, seat: int, slot: int) -> bool:
        """Take a card out of a hand, and deal the next one. Returns whether there is one."""
        hand = self.numbers[seat]
        del hand[slot]
        draws = self.dealt < self.deck_size
        if draws:
            hand.append(self.dealt)
            self.dealt += 1
        return draws
