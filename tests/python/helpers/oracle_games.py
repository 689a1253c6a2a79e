"""Random variants and players for the comparison with the oracle.

The players look at the oracle's open table and return an action. They are made for variety: high scores, ends of
the deck, and the rare endings of the crowning piece.
"""

from oracle_rules import RefusedError, Rules
from random_variants import random_parameters


def random_rules(generator):
    """Allowed parameters, their rules, and the refused parameters that were drawn before."""
    refused = []
    while True:
        parameters = random_parameters(generator)
        try:
            return parameters, Rules(**parameters), refused
        except RefusedError as error:
            refused.append((parameters, str(error).split("=")[0]))


def of_kind(game, legal, kind):
    """The legal actions of a kind; "hint" stands for both kinds of hint."""
    return [number for number in legal if game.rules.actions[number].kind.endswith(kind)]


def card_of(game, number):
    """The card that a play or discard removes from the hand."""
    return game.held[game.current_player][game.rules.actions[number].slot].card


class UniformPlayer:
    """A uniformly random legal action."""

    def __init__(self, generator):
        self.generator = generator

    def __call__(self, game, legal):
        return self.generator.choice(legal)


class PeekingPlayer:
    """Looks at its own cards: plays what is playable, else hints or discards what is not needed.

    Each game has its own rate of slips (uniformly random actions) and its own liking for hints.
    """

    slip_rates = (0.0, 0.02, 0.1)
    hint_rates = (0.1, 0.5, 0.9)

    def __init__(self, generator):
        self.generator = generator
        self.slip_rate = generator.choice(self.slip_rates)
        self.hint_rate = generator.choice(self.hint_rates)

    def __call__(self, game, legal):
        if self.generator.random() < self.slip_rate:
            return self.generator.choice(legal)
        for choices in self.preferences(game, legal):
            if choices:
                return self.generator.choice(choices)
        return self.generator.choice(legal)

    def preferences(self, game, legal):
        """Lists of actions, in order of preference."""
        plays = self.good_plays(game, legal)
        hints = of_kind(game, legal, "hint")
        discards = of_kind(game, legal, "discard")
        spare = [number for number in discards if not game.is_indispensable(card_of(game, number))]
        dead = [number for number in spare if card_of(game, number).rank < game.fireworks[card_of(game, number).color]]
        mistakes = of_kind(game, legal, "play") if game.life_tokens > 1 else []
        spare_mistakes = [number for number in mistakes if not game.is_indispensable(card_of(game, number))]
        rest = [dead, spare, hints, spare_mistakes, discards]
        if self.generator.random() < self.hint_rate:
            rest = [hints, dead, spare, spare_mistakes, discards]
        return [plays, *rest]

    def good_plays(self, game, legal):
        """Plays, plain or announced with the true colour, that succeed, of the lowest rank in the hand."""
        plays = []
        for number in of_kind(game, legal, "play"):
            action, card = game.rules.actions[number], card_of(game, number)
            if game.is_playable(card) and action.color in (None, card.color):
                plays.append(number)
        lowest = min((card_of(game, number).rank for number in plays), default=None)
        return [number for number in plays if card_of(game, number).rank == lowest]


class SpendingPlayer(PeekingPlayer):
    """Seats with even numbers spend every token and keep their cards, the others run out of cards."""

    slip_rates = (0.0, 0.0, 0.02)

    def preferences(self, game, legal):
        ordinary = super().preferences(game, legal)
        if game.current_player % 2:
            return ordinary
        return [of_kind(game, legal, "hint"), *ordinary]


PLAYERS = [UniformPlayer, PeekingPlayer, PeekingPlayer, SpendingPlayer]
