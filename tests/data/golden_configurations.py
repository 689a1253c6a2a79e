"""The configurations of the golden data, by name."""

from hle_traces import Configuration


def configuration(players, encoder="canonical", **parameters):
    """A base game with other parameters where given."""
    variant = {
        "players": players,
        "colors": 5,
        "ranks": 5,
        "hand_size": 5 if players < 4 else 4,
        "max_information_tokens": 8,
        "max_life_tokens": 3,
        "random_start_player": False,
    }
    return Configuration(variant | parameters, encoder)


def sized(players, colors, ranks, hand_size, information_tokens, life_tokens, encoder="canonical", random_start=False):
    """A game with all sizes given."""
    return configuration(
        players,
        encoder,
        colors=colors,
        ranks=ranks,
        hand_size=hand_size,
        max_information_tokens=information_tokens,
        max_life_tokens=life_tokens,
        random_start_player=random_start,
    )


BASE_GAMES = {
    "standard-2": configuration(2),
    "standard-3": configuration(3),
    "standard-4": configuration(4),
    "standard-5": configuration(5),
    "standard-2-minimal": configuration(2, "canonical-minimal"),
    "standard-3-minimal": configuration(3, "canonical-minimal"),
    "standard-5-minimal": configuration(5, "canonical-minimal"),
    "standard-2-seer": configuration(2, "canonical-seer"),
    "standard-4-seer": configuration(4, "canonical-seer"),
    "standard-5-seer": configuration(5, "canonical-seer"),
    "random-start-2": configuration(2, random_start_player=True),
    "random-start-3-seer": configuration(3, "canonical-seer", random_start_player=True),
    "random-start-4-minimal": configuration(4, "canonical-minimal", random_start_player=True),
    "random-start-5": configuration(5, random_start_player=True),
    "easy-2": configuration(2, max_information_tokens=10),
    "easy-4-minimal": configuration(4, "canonical-minimal", max_information_tokens=10),
    "hard-2": configuration(2, max_life_tokens=1),
    "hard-3-seer": configuration(3, "canonical-seer", max_life_tokens=1),
}

# Small and Very-Small of HLE's own list, and the 3 x 3 game.
PRESETS = {
    "small-2": sized(2, 2, 5, 2, 3, 1),
    "small-3": sized(3, 2, 5, 2, 3, 1, "canonical-minimal"),
    "small-4": sized(4, 2, 5, 2, 3, 1, "canonical-seer"),
    "small-5": sized(5, 2, 5, 2, 3, 1),
    "very-small-2": sized(2, 1, 5, 2, 3, 1),
    "very-small-3": sized(3, 1, 5, 2, 3, 1, "canonical-seer"),
    "very-small-4": sized(4, 1, 5, 2, 3, 1, "canonical-minimal"),
    "very-small-5": sized(5, 1, 5, 2, 3, 1),  # the deal empties the deck
    "mini-2": sized(2, 3, 3, 3, 8, 3),
    "mini-3-seer": sized(3, 3, 3, 3, 8, 3, "canonical-seer"),
}

EXTREMES = {
    "hand-1-2": configuration(2, hand_size=1),
    "hand-1-5-seer": configuration(5, "canonical-seer", hand_size=1),
    "hand-2-4": configuration(4, hand_size=2),
    "hand-3-3-minimal": configuration(3, "canonical-minimal", hand_size=3),
    "hand-6-2": configuration(2, hand_size=6),
    "hand-6-5": configuration(5, hand_size=6),
    "information-0-2": configuration(2, max_information_tokens=0, max_life_tokens=8),
    "information-0-small-4": sized(4, 2, 3, 2, 0, 6, "canonical-seer", random_start=True),
    "information-1-3": configuration(3, max_information_tokens=1),
    "information-16-5": configuration(5, max_information_tokens=16),
    "life-8-3": configuration(3, max_life_tokens=8),
    "life-5-4-minimal": configuration(4, "canonical-minimal", max_life_tokens=5, max_information_tokens=13),
}

ODD_SIZES = {
    "colors-4-ranks-4": sized(3, 4, 4, 4, 5, 2, random_start=True),
    "colors-3-ranks-2": sized(2, 3, 2, 3, 4, 4, "canonical-seer"),
    "colors-2-ranks-3": sized(4, 2, 3, 1, 2, 5, random_start=True),
    "colors-1-ranks-5": sized(3, 1, 5, 1, 6, 3),
    "colors-4-ranks-1": sized(2, 4, 1, 2, 3, 2),
}

# The deal leaves none, or one or two cards, in the deck.
TIGHT_DECKS = {
    "empty-deck-1x1-3": sized(3, 1, 1, 1, 2, 3),
    "empty-deck-1x5-2": sized(2, 1, 5, 5, 4, 2, random_start=True),
    "empty-deck-5x1-5": sized(5, 5, 1, 3, 3, 2, "canonical-minimal"),
    "empty-deck-3x4-4": sized(4, 3, 4, 6, 7, 3, "canonical-seer"),
    "empty-deck-5x2-4": sized(4, 5, 2, 5, 2, 8),
    "one-card-left-1x1-2": sized(2, 1, 1, 1, 1, 1),
    "one-card-left-1x3-5": sized(5, 1, 3, 1, 3, 2, random_start=True),
    "two-cards-left-5x2-3": sized(3, 5, 2, 6, 8, 3),
    "two-cards-left-4x3-4": sized(4, 4, 3, 5, 4, 2),
}

CONFIGURATIONS = BASE_GAMES | PRESETS | EXTREMES | ODD_SIZES | TIGHT_DECKS
