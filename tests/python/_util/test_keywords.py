"""Keyword arguments that do not exist are refused with the nearest name that does."""

import inspect

import gymnasium
import pytest

import starmine
from starmine import data
from starmine._util.keywords import RULES, named_keywords

STANDARD = starmine.Variant()
PAIR = ["simple", "simple"]

CALLS = [
    (starmine.Variant, "player", "players"),
    (lambda **wrong: starmine.Batch(STANDARD, 2, **wrong), "encodr", "encoder"),
    (lambda **wrong: starmine.variant("hard", **wrong), "player", "players"),
    (starmine.HanabiEnv, "player", "players"),
    (starmine.HanabiEnv, "encodr", "encoder"),
    (lambda **wrong: starmine.HanabiEnv(STANDARD, **wrong), "max_lives", "max_life_tokens"),
    (starmine.HanabiVectorEnv, "n_threads", "num_threads"),
    (starmine.HanabiVectorEnv, "auto_reset", "autoreset_mode"),
    (lambda **wrong: starmine.play_games(PAIR, **wrong), "game", "games"),
    (lambda **wrong: starmine.evaluate(PAIR, **wrong), "outputs", "output"),
    (lambda **wrong: starmine.load_policy("ippo-2p", **wrong), "sample", "sampled"),
    (lambda **wrong: data.generate(PAIR, **wrong), "shard_sizes", "shard_size"),
    (lambda **wrong: starmine.look.replay_html(STANDARD.new_game(0), **wrong), "policies", "policy"),
    (lambda **wrong: gymnasium.make("starmine:Starmine/Hanabi-v0", **wrong), "render", "render_mode"),
    (lambda **wrong: gymnasium.make_vec("starmine:Starmine/Hanabi-v0", num_envs=2, **wrong), "color", "colors"),
]


@pytest.mark.parametrize(("call", "wrong", "nearest"), CALLS)
def test_the_nearest_name_is_suggested(call, wrong, nearest):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{wrong}': did you mean \"{nearest}\""):
        call(**{wrong: 1})


ADAPTERS = [
    ("jax", lambda adapter, **wrong: adapter.HanabiJaxEnv(2, autoreset_mode="SameStep", **wrong)),
    ("jaxmarl", lambda adapter, **wrong: adapter.HanabiJaxMARLEnv(2, **wrong)),
    ("pettingzoo", lambda adapter, **wrong: adapter.HanabiAECEnv(**wrong)),
    ("sb3", lambda adapter, **wrong: adapter.HanabiVecEnv(2, **wrong)),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of the libraries
@pytest.mark.parametrize(("name", "call"), ADAPTERS)
def test_adapters_suggest_the_nearest_name(name, call):
    adapter = pytest.importorskip(f"starmine.adapters.{name}", exc_type=ImportError)
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_lives': did you mean \"max_life_tokens\""):
        call(adapter, max_lives=1)


def test_hles_observation_type_is_answered_with_the_encoder():
    for call in (starmine.HanabiEnv, lambda **wrong: starmine.variant("hard", **wrong)):
        with pytest.raises(TypeError, match="expected the environment's encoder='canonical-minimal'"):
            call(observation_type=1)


def test_the_parameters_of_a_variant_are_known():
    assert list(RULES) == list(STANDARD.parameters())


def test_a_function_keeps_its_signature_and_its_name():
    def add(one, /, two=2, *, three):
        """The sum."""
        return one + two + three

    checked = named_keywords(add)
    assert (checked.__name__, checked.__doc__) == ("add", "The sum.")
    assert inspect.signature(checked) == inspect.signature(add)
    assert checked(1, three=3) == 6
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument"):
        checked(1)
    with pytest.raises(TypeError, match=r'did you mean "two"\? Expected one of two, three'):
        checked(1, tow=1, three=3)
