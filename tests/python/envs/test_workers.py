"""Copies of an environment in several processes: workers of a DataLoader deal different games without a seed."""

import pytest

import starmine

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, IterableDataset, get_worker_info  # noqa: E402


def vector(seed=None):
    return starmine.HanabiVectorEnv(4, seed=seed)


def single(seed=None):
    return starmine.HanabiEnv(seed=seed)


def pettingzoo(seed=None):
    adapter = pytest.importorskip("starmine.adapters.pettingzoo", exc_type=ImportError)
    env = adapter.env()
    if seed is not None:
        env.reset(seed)
    return env


MAKERS = [vector, single, pettingzoo]


def dealt(env, **options):
    """What a reset deals, as bytes."""
    found = env.reset(**options)
    return found[0].tobytes() if found is not None else str(env.game.hands).encode()


class Deals(IterableDataset):
    """The deals of an environment's first three resets."""

    def __init__(self, env, seeded=False):
        self.env, self.seeded = env, seeded

    def __iter__(self):
        for turn in range(3):
            yield dealt(self.env, **({"seed": get_worker_info().seed} if self.seeded and turn == 0 else {}))


def deals(env, context="fork", **options):
    """The deals of two workers, of each in its order."""
    found = list(DataLoader(Deals(env, **options), batch_size=None, num_workers=2, multiprocessing_context=context))
    return found[::2], found[1::2]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("is_reset", [False, True])
def test_workers_deal_different_games_without_a_seed(make, is_reset):
    env = make()
    before = [dealt(env)] if is_reset else []
    one, other = deals(env)
    again = deals(env)  # of another epoch
    assert len({*before, *one, *other, *again[0], *again[1]}) == 12 + is_reset
    assert dealt(env) not in (*one, *other, *again[0], *again[1])


@pytest.mark.nightly
def test_spawned_workers_deal_different_games_without_a_seed():
    one, other = deals(vector(), "spawn")
    assert not set(one) & set(other)


@pytest.mark.parametrize("make", MAKERS)
def test_workers_deal_the_games_of_a_seed_that_is_given(make):
    one, other = deals(make(5))
    expected = make(5)
    assert one == other == [dealt(expected) for _ in range(3)]
    env = make()
    env.reset(seed=6)
    one, other = deals(env)
    assert one == other


@pytest.mark.parametrize("make", MAKERS)
def test_workers_may_seed_the_environment(make):
    one, other = deals(make(5), seeded=True)
    assert not set(one) & set(other)
