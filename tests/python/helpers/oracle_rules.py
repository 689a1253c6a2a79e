"""The parameters of the oracle's games (see oracle.py) and what follows from them."""

from typing import NamedTuple

MAX_DECK = 64

# Rules, sections 1, 2 and 5: the colours' names in the editions.
COLOR_NAMES = {
    "standard": ["red", "yellow", "green", "white", "blue", "multicolour"],
    "ikebana": ["red", "yellow", "green", "black", "blue", "multicolour"],
    "traditional": ["spades", "hearts", "diamonds", "clubs", "blue", "multicolour"],
}
LETTERS = {"standard": "RYGWBM", "ikebana": "RYGKBM", "traditional": "SHDCBM"}

# Rules, section 6: first and last supported value.
RANGES = {
    "players": (2, 5),
    "colors": (1, 6),
    "ranks": (1, 5),
    "hand_size": (1, 6),
    "max_information_tokens": (0, 16),
    "max_life_tokens": (1, 8),
}

# Rules, sections 1 to 6: what the named variants change.
SMALL = {"colors": 2, "hand_size": 2, "max_information_tokens": 3, "max_life_tokens": 1}
PRESETS = {
    "standard": {},
    "hard": {"max_life_tokens": 1},
    "easy": {"max_information_tokens": 10},
    "empty-hints": {"empty_hints": True},
    "avalanche": {"colors": 6, "copies": [[3, 2, 2, 2, 1]] * 5 + [[1, 1, 1, 1, 1]]},
    "crowning-piece": {"crowning_piece": True},
    "timed-display": {"timed_display": True},
    "traditional": {
        "edition": "traditional",
        "colors": 4,
        "copies": [[2, 2, 2, 2, 2]] * 4,
        "hand_size": 4,
        "max_information_tokens": 6,
    },
    "small": SMALL,
    "very-small": SMALL | {"colors": 1},
    "mini": {"colors": 3, "ranks": 3, "hand_size": 3},
    "mini-aht": {
        "colors": 3,
        "ranks": 3,
        "hand_size": 3,
        "copies": [[2, 2, 1]] * 3,
        "max_information_tokens": 5,
    },
}


class RefusedError(ValueError):
    """The rules do not allow these parameters."""


class Card(NamedTuple):
    """A card; colour and rank count from 0, the text shows ranks from 1."""

    color: int
    rank: int

    def __str__(self):
        return f"{LETTERS['standard'][self.color]}{self.rank + 1}"


class Action(NamedTuple):
    """An action."""

    kind: str  # "discard", "play", "color hint", "rank hint" or "announced play"
    slot: int | None = None
    offset: int | None = None
    color: int | None = None
    rank: int | None = None


def card_from(text):
    """The card that a text like "R1" names, in any edition."""
    for letters in LETTERS.values():
        if text[0] in letters:
            return Card(letters.index(text[0]), int(text[1:]) - 1)
    raise ValueError(text)


def default_copies(ranks):
    """Rules, section 6: 3 of the lowest rank, 1 of the highest, 2 of the others."""
    row = [2] * ranks
    row[-1] = 1
    row[0] = 3
    return row


class Rules:
    """The parameters of a variant and what follows from them."""

    def __init__(
        self,
        players=2,
        colors=5,
        ranks=5,
        hand_size=None,
        max_information_tokens=8,
        max_life_tokens=3,
        copies=None,
        random_start_player=False,
        empty_hints=False,
        crowning_piece=False,
        timed_display=False,
        lost_game_score="zero",
        edition="standard",
    ):
        if hand_size is None:
            hand_size = 5 if players in (2, 3) else 4
        self.players = players
        self.colors = colors
        self.ranks = ranks
        self.hand_size = hand_size
        self.max_information_tokens = max_information_tokens
        self.max_life_tokens = max_life_tokens
        self.check_ranges()
        self.copies = copies if copies is not None else [default_copies(ranks)] * colors
        self.random_start_player = random_start_player
        self.empty_hints = empty_hints
        self.crowning_piece = crowning_piece
        self.timed_display = timed_display
        self.lost_game_score = lost_game_score
        self.color_names, self.letters = COLOR_NAMES[edition], LETTERS[edition]
        self.check_deck()
        self.max_score = colors * ranks
        self.actions = self.list_actions()
        self.num_actions = len(self.actions)

    def check_ranges(self):
        """Rules, section 6: refuses what lies outside the supported ranges."""
        for name, (first, last) in RANGES.items():
            if not first <= getattr(self, name) <= last:
                raise RefusedError(f"{name}={getattr(self, name)}: {first} to {last}")

    def check_deck(self):
        """Rules, section 6: refuses invalid tables of copies, and decks with too few cards for the hands."""
        if len(self.copies) != self.colors or any(len(row) != self.ranks for row in self.copies):
            raise RefusedError(f"copies={self.copies}: a row for each colour, in it a number for each rank")
        if any(count not in (1, 2, 3) for row in self.copies for count in row):
            raise RefusedError(f"copies={self.copies}: 1 to 3 of each card")
        self.deck_total = len(self.all_cards())
        if self.deck_total > MAX_DECK:
            raise RefusedError(f"copies={self.copies}: {self.deck_total} cards, at most {MAX_DECK}")
        if self.players * self.hand_size > self.deck_total:
            raise RefusedError(f"hand_size={self.hand_size}: {self.deck_total} cards are too few to deal every hand")
        if self.lost_game_score not in ("zero", "fireworks"):
            raise RefusedError(f"lost_game_score={self.lost_game_score}: zero or fireworks")

    def all_cards(self):
        """Every card, sorted by colour, then rank."""
        cards = []
        for color in range(self.colors):
            for rank in range(self.ranks):
                for _ in range(self.copies[color][rank]):
                    cards.append(Card(color, rank))
        return cards

    def card_text(self, card):
        """A card with the edition's letter."""
        return f"{self.letters[card.color]}{card.rank + 1}"

    def list_actions(self):
        """Rules, section 7: all actions in the order of their ids."""
        slots, offsets = range(self.hand_size), range(1, self.players)
        actions = [Action("discard", slot=slot) for slot in slots]
        actions += [Action("play", slot=slot) for slot in slots]
        for offset in offsets:
            actions += [Action("color hint", offset=offset, color=color) for color in range(self.colors)]
        for offset in offsets:
            actions += [Action("rank hint", offset=offset, rank=rank) for rank in range(self.ranks)]
        if self.timed_display:
            for slot in slots:
                actions += [Action("announced play", slot=slot, color=color) for color in range(self.colors)]
        return actions

    def action_meaning(self, number):
        """An action in words: "discard 0", "play 1", "play 1 red", "hint +1 red" or "hint +1 3"."""
        action = self.actions[number]
        if action.kind == "color hint":
            return f"hint +{action.offset} {self.color_names[action.color]}"
        if action.kind == "rank hint":
            return f"hint +{action.offset} {action.rank + 1}"
        if action.kind == "announced play":
            return f"play {action.slot} {self.color_names[action.color]}"
        return f"{action.kind} {action.slot}"

    def action(self, text):
        """The id of the action with these words."""
        return [self.action_meaning(number) for number in range(self.num_actions)].index(text)

    def rating(self, score):
        """Rules, sections 1 to 3: the word for a final score, None where there is no scale."""
        if self.crowning_piece or self.ranks != 5 or self.colors not in (5, 6):
            return None
        for first, word in [(30, "divine"), (25, "legendary"), (21, "amazing"), (16, "excellent"), (11, "honourable")]:
            if score >= first:
                return word
        return "mediocre" if score >= 6 else "horrible"


def preset(name, **overrides):
    """The rules of a named variant with other parameters where given."""
    return Rules(**PRESETS[name] | overrides)
