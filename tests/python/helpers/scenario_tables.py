"""The two tables at which scenarios are played: Starmine's and the oracle's.

Both offer the same: the rules' and the game's own fields, and the few things that the two name differently.
"""

import oracle_rules
from oracle import Game
from oracle_observation import in_order

import starmine


def split_variant(variant):
    """A scenario's variant, a preset's name or parameters with or without a preset, as name and parameters."""
    if isinstance(variant, str):
        return variant, {}
    return variant.get("preset", "standard"), {name: value for name, value in variant.items() if name != "preset"}


class OracleTable:
    """A game of the oracle."""

    refusal = oracle_rules.RefusedError

    def __init__(self, variant, top, start_player):
        name, parameters = split_variant(variant)
        self.rules = oracle_rules.preset(name, **parameters)
        self.deck_total = self.rules.deck_total
        self.game = Game(self.rules, complete_deck(self.rules, top), start_player)

    def action(self, text):
        """The id of the action, None where no action has these words."""
        texts = [self.rules.action_meaning(number) for number in range(self.rules.num_actions)]
        return texts.index(text) if text in texts else None

    def text(self, cards):
        return " ".join(self.rules.card_text(card) for card in cards)

    def seen(self, seat):
        """The hands by offset, the own one hidden."""
        own, *others = in_order(self.game, seat)
        return [hidden(own), *[self.text([held.card for held in hand]) for hand in others]]

    def touched(self):
        return self.game.last_action["touched"]

    def target(self):
        return self.game.last_action["target"]

    def plausible(self, seat):
        """What hints alone allow each card of a hand to be."""
        texts = []
        for held in self.game.held[seat]:
            colors = [color for color, is_plausible in enumerate(held.plausible_colors) if is_plausible]
            ranks = [rank for rank, is_plausible in enumerate(held.plausible_ranks) if is_plausible]
            texts.append(self.text([oracle_rules.Card(color, rank) for color in colors for rank in ranks]))
        return texts


class StarmineTable:
    """A game of Starmine."""

    refusal = starmine.VariantError

    def __init__(self, variant, top, start_player):
        name, parameters = split_variant(variant)
        self.rules = starmine.variant(name, **parameters)
        self.deck_total = self.rules.deck_size
        rules = oracle_rules.preset(name, **parameters)
        deck = [rules.card_text(card) for card in complete_deck(rules, top)]
        self.game = self.rules.new_game(deck=deck, start_player=start_player)

    def action(self, text):
        """The id of the action, None where no action has these words."""
        try:
            return self.rules.action(text)
        except (starmine.NotationError, starmine.IllegalActionError):
            return None

    def text(self, cards):
        return " ".join(str(card) for card in cards)

    def seen(self, seat):
        """The hands by offset, the own one hidden."""
        own, *others = self.game.view(seat).hands
        assert own == [None] * len(own)
        return [hidden(own), *[self.text(hand) for hand in others]]

    def touched(self):
        return self.game.history[-1].touched

    def target(self):
        return self.game.history[-1].target

    def plausible(self, seat):
        """What hints alone allow each card of a hand to be."""
        view = self.game.view(seat)
        return [self.text(view.knowledge(0, slot).plausible) for slot in range(len(self.game.hands[seat]))]


def hidden(hand):
    return " ".join("?" for _ in hand)


def complete_deck(rules, top):
    """The cards of the top, then all other cards, sorted by colour, then rank."""
    top = [oracle_rules.card_from(text) for text in top.split()]
    rest = rules.all_cards()
    for card in top:
        rest.remove(card)
    return top + rest
