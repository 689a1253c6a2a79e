"""Starmine against the oracle: random variants of the whole supported range, every position of random games.

Each variant plays --oracle-games games, by players in turn. The encodings of all seats are compared at every
position of half of them, so that the run stays short; all other fields at every position of every game. The
variant with index i is a function of the seed and i, its game k of the seed, i and k.
"""

import random

import pytest
from oracle import ENDINGS, Game
from oracle_comparison import MismatchError, compare, compare_encoding, oracle_position, starmine_position
from oracle_games import PLAYERS, random_rules
from oracle_observation import ENCODERS

import starmine

pytestmark = pytest.mark.slow

VARIANTS = 300
# Variant and game of seed 0 that end so.
ENDS = {
    "perfect": (0, 1),
    "lost": (2, 0),
    "deck_exhausted": (2, 3),
    "indispensable_card_lost": (0, 0),
    "no_legal_action": (25, 2),
}


def check(field, found, expected, where):
    if found != expected:
        raise MismatchError(f"{field}: starmine has {found!r}, the oracle {expected!r}\n{where()}")


def encodings_are_compared(number):
    """Whether the encodings of this game are compared: of every second game of each player."""
    return (number + number // len(PLAYERS)) % 2 == 0


def check_game(variant, rules, generator, number, encoder, title):
    """Plays a game in Starmine and in the oracle, and returns its ending."""
    deck = rules.all_cards()
    generator.shuffle(deck)
    start_player = generator.randrange(rules.players) if rules.random_start_player else 0
    player = PLAYERS[number % len(PLAYERS)](generator)
    actions, layout = [], variant.layout(encoder)
    game = Game(rules, deck, start_player)
    state = variant.new_game(deck=[str(card) for card in deck], start_player=start_player)

    def where():
        texts = ", ".join(rules.action_meaning(action) for action in actions)
        cards = " ".join(str(card) for card in deck)
        return f"{title}, game {number}\ndeck {cards}\nstart {start_player}, step {len(actions)}, actions: {texts}"

    while True:
        expected = oracle_position(game)
        compare(starmine_position(state), expected, where)
        if encodings_are_compared(number):
            for seat in range(rules.players):
                encoding = state.encode(seat, encoder=encoder)
                compare_encoding(encoding, game.observation(seat, encoder), layout, where, seat)
        if game.ending is not None:
            return game.ending
        action = player(game, expected["legal_actions"])
        actions.append(action)
        check("reward", state.apply(action), game.apply(action), where)


def check_parameters(variant, rules, where):
    """Compares what follows from the parameters alone."""
    for name in ["hand_size", "num_actions", "max_score", "copies"]:
        check(name, getattr(variant, name), getattr(rules, name), where)
    check("deck_size", variant.deck_size, rules.deck_total, where)
    for score in range(rules.max_score + 1):
        check(f"rating of {score}", variant.rating(score), rules.rating(score), where)
    for action in range(rules.num_actions):
        text = rules.action_meaning(action)
        check(f"id of {text!r}", variant.action(text), action, where)


@pytest.mark.parametrize("index", range(VARIANTS))
def test_games_equal_those_of_the_oracle(index, pytestconfig):
    games, seed = pytestconfig.option.oracle_games, pytestconfig.option.oracle_seed
    parameters, rules, refused = random_rules(random.Random(f"{seed} {index}"))
    for others, name in refused:
        with pytest.raises(starmine.VariantError, match=name):
            starmine.Variant(**others)
    variant, encoder = starmine.Variant(**parameters), ENCODERS[index % len(ENCODERS)]
    title = f"--oracle-seed={seed}, variant {index} ({encoder}): {parameters}"
    check_parameters(variant, rules, lambda: title)
    for number in range(games):
        check_game(variant, rules, random.Random(f"{seed} {index} {number}"), number, encoder, title)


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_ending_occurs(ending):
    index, number = ENDS[ending]
    parameters, rules, _ = random_rules(random.Random(f"0 {index}"))
    variant, generator = starmine.Variant(**parameters), random.Random(f"0 {index} {number}")
    assert check_game(variant, rules, generator, number, ENCODERS[0], f"variant {index}") == ending
