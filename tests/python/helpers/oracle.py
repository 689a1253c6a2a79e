"""The rules of the game written a second time, from the rule sheet alone, to check Starmine against.

Naive on purpose: lists, dicts and loops that read like the sheet. Nothing here comes from Starmine or from HLE.
"""

import copy

from oracle_observation import observation

ENDINGS = ["lost", "perfect", "indispensable_card_lost", "deck_exhausted", "no_legal_action"]
DEFEATS = ["lost", "indispensable_card_lost", "no_legal_action"]


class IllegalError(ValueError):
    """The rules do not allow this action now."""


class HeldCard:
    """A card in a hand and what hints have told about it."""

    def __init__(self, card, rules):
        self.card = card
        self.plausible_colors = [True] * rules.colors
        self.plausible_ranks = [True] * rules.ranks
        self.hinted_color = None
        self.hinted_rank = None

    def copy(self):
        other = copy.copy(self)
        other.plausible_colors, other.plausible_ranks = self.plausible_colors[:], self.plausible_ranks[:]
        return other

    def hear_color(self, color):
        """Rules, section 1: a matching card has the colour, another one has not."""
        if self.card.color == color:
            self.hinted_color = color
            for other in range(len(self.plausible_colors)):
                self.plausible_colors[other] = other == color
        else:
            self.plausible_colors[color] = False

    def hear_rank(self, rank):
        """The same for a rank."""
        if self.card.rank == rank:
            self.hinted_rank = rank
            for other in range(len(self.plausible_ranks)):
                self.plausible_ranks[other] = other == rank
        else:
            self.plausible_ranks[rank] = False


class Game:
    """One game on the open table."""

    def __init__(self, rules, deck, start_player=0):
        assert sorted(deck) == rules.all_cards()
        self.rules = rules
        self.deck = list(deck)  # the top card first
        self.current_player = start_player
        self.information_tokens = rules.max_information_tokens
        self.life_tokens = rules.max_life_tokens
        self.fireworks = [0] * rules.colors
        self.discard_pile = []
        self.turns_left = rules.players  # once the deck is empty
        self.last_action = None
        self.ending = None
        self.held = [[] for _ in range(rules.players)]
        for hand in self.held:
            for _ in range(rules.hand_size):
                self.draw(hand)

    def copy(self):
        """An independent copy of the game."""
        other = copy.copy(self)
        other.deck, other.fireworks, other.discard_pile = self.deck[:], self.fireworks[:], self.discard_pile[:]
        other.held = [[held.copy() for held in hand] for hand in self.held]
        return other

    @property
    def hands(self):
        """The cards of each seat, the oldest first."""
        return [[held.card for held in hand] for hand in self.held]

    @property
    def deck_size(self):
        return len(self.deck)

    @property
    def score(self):
        """Rules, section 1: the fireworks' heights; 0 for a defeat, unless it keeps them."""
        if self.ending in DEFEATS and self.rules.lost_game_score == "zero":
            return 0
        return sum(self.fireworks)

    def rating(self, score):
        return self.rules.rating(score)

    def observation(self, seat, encoder="canonical"):
        """What a seat sees, as a list of 0 and 1 (rules, section 8)."""
        return observation(self, seat, encoder)

    def is_playable(self, card):
        return self.fireworks[card.color] == card.rank

    def is_indispensable(self, card):
        """Whether the perfect score is out of reach once this card is discarded."""
        already_discarded = self.discard_pile.count(card)
        return card.rank >= self.fireworks[card.color] and already_discarded + 1 == self.copies_of(card)

    def copies_of(self, card):
        return self.rules.copies[card.color][card.rank]

    def is_legal(self, action):
        """Rules, sections 1 and 3."""
        if self.ending is not None:
            return False
        own_hand = self.held[self.current_player]
        if action.kind in ("play", "announced play"):
            return action.slot < len(own_hand)
        if action.kind == "discard":
            return action.slot < len(own_hand) and self.information_tokens < self.rules.max_information_tokens
        hand = self.held[self.seat_at(action.offset)]
        if self.information_tokens == 0 or not hand:
            return False
        return self.rules.empty_hints or any(self.matches(action, held.card) for held in hand)

    def legal_actions(self):
        """The ids of the legal actions, in order; none after the end."""
        return [number for number, action in enumerate(self.rules.actions) if self.is_legal(action)]

    def apply(self, number):
        """Takes the current player's turn and returns the reward."""
        action = self.rules.actions[number]
        if not self.is_legal(action):
            raise IllegalError(self.rules.action_meaning(number))
        score = self.score
        is_last_round = not self.deck
        lost_indispensable = False
        self.last_action = {"seat": self.current_player, "action": action}
        if action.kind in ("color hint", "rank hint"):
            self.hint(action)
        else:
            lost_indispensable = self.put_down(action)
        if is_last_round:
            self.turns_left -= 1
        self.current_player = self.seat_at(1)
        self.ending = self.find_ending(lost_indispensable)
        return self.score - score

    def hint(self, action):
        """Rules, section 1: names a colour or a rank to a teammate."""
        self.information_tokens -= 1
        target = self.seat_at(action.offset)
        hand = self.held[target]
        touched = [slot for slot, held in enumerate(hand) if self.matches(action, held.card)]
        self.last_action.update(target=target, touched=touched)
        for held in hand:
            if action.kind == "color hint":
                held.hear_color(action.color)
            else:
                held.hear_rank(action.rank)

    def put_down(self, action):
        """Plays or discards a card and draws; returns whether an indispensable card was discarded."""
        hand = self.held[self.current_player]
        card = hand.pop(action.slot).card
        added = action.kind != "discard" and self.is_playable(card)
        if action.kind == "announced play" and card.color != action.color:
            added = False
        lost_indispensable = not added and self.is_indispensable(card)
        regained = 0
        if added:
            regained = self.add_to_firework(card, announced=action.kind == "announced play")
        else:
            self.discard_pile.append(card)
            if action.kind == "discard":
                self.regain_token()
            else:
                self.life_tokens -= 1
        self.last_action.update(card=card, added=added, regained=regained)
        self.draw(hand)
        return lost_indispensable

    def add_to_firework(self, card, announced):
        """Adds a card; returns the tokens regained (rules, sections 1 and 4)."""
        self.fireworks[card.color] += 1
        regained = 0
        if announced:
            regained += self.regain_token()
        if self.fireworks[card.color] == self.rules.ranks:
            regained += self.regain_token()
        return regained

    def regain_token(self):
        """Regains an information token unless they are full; returns how many."""
        if self.information_tokens == self.rules.max_information_tokens:
            return 0
        self.information_tokens += 1
        return 1

    def draw(self, hand):
        if self.deck:
            hand.append(HeldCard(self.deck.pop(0), self.rules))

    def find_ending(self, lost_indispensable):
        """The first of the endings that holds (rules, sections 1 and 3)."""
        crowning_piece = self.rules.crowning_piece
        if self.life_tokens == 0:
            return "lost"
        if all(height == self.rules.ranks for height in self.fireworks):
            return "perfect"
        if crowning_piece and lost_indispensable:
            return "indispensable_card_lost"
        if not crowning_piece and self.turns_left == 0:
            return "deck_exhausted"
        if not self.legal_actions():
            return "no_legal_action"
        return None

    def seat_at(self, offset):
        return (self.current_player + offset) % self.rules.players

    @staticmethod
    def matches(hint, card):
        """Whether a hint points out a card."""
        return card.color == hint.color if hint.kind == "color hint" else card.rank == hint.rank
