"""Whatever a file holds, a reader gives games that hold by the rules and names the others, or refuses the file."""

import json
import random

import numpy as np
import pytest
from format_games import games_of, imported

import starmine
from starmine.data import read_games, write_games
from starmine.data.formats import hanab_live_link

JUNK = [None, True, -1, 0, 3, 7, 10**20, 0.5, "", "R1", "x", [], {}, [1], {"a": 1}, "(Play 9)", "No Variant", "6 Suits"]


def places(value, path=()):
    """The paths to all values inside a JSON value."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from places(entry, (*path, key))


def mutated(value, generator):
    """A JSON value with one to three of its parts replaced, removed or repeated."""
    for _ in range(generator.randint(1, 3)):
        path = generator.choice([path for path in places(value) if path] or [()])
        if not path:
            return generator.choice(JUNK)
        owner = value
        for key in path[:-1]:
            owner = owner[key]
        change = generator.randrange(4)
        if change == 0 and isinstance(owner, list):
            owner.insert(path[-1], owner[path[-1]])
        elif change == 1:
            del owner[path[-1]]
        else:
            owner[path[-1]] = generator.choice(JUNK)
    return value


def assert_read_or_refused(path, name):
    """The games that are read hold by the rules, and each of the others has a reason in one line."""
    try:
        found = read_games(path, format=name, on_error="skip")
    except starmine.StarmineError as error:
        return str(error)
    for game in range(len(found)):
        state = found.trajectories.state(game)
        assert state.score == found.scores[game]
        assert found.recorded_scores[game] in (-1, state.score)
    assert sorted([*found.indices.tolist(), *(game.index for game in found.skipped)]) == list(
        range(len(found) + len(found.skipped))
    )
    assert all(game.reason and "\n" not in game.reason for game in found.skipped)
    return None


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("name", ["hanab-live", "hle", "jaxmarl"])
def test_a_changed_file_of_json(name, seed, tmp_path):
    generator = random.Random(seed)
    games = games_of(starmine.Variant(), count=2, seed=seed % 5)
    path = tmp_path / "games"
    write_games(games, path, format=name)
    if name == "jaxmarl":
        file = path / generator.choice(["decks.json", "actions.json"])
        file.write_text(json.dumps(mutated(json.loads(file.read_text()), generator)))
    elif name == "hle":
        lines = [json.dumps(mutated(json.loads(line), generator)) for line in path.read_text().splitlines()]
        path.write_text("\n".join(lines))
    else:
        path.write_text(json.dumps(mutated(json.loads(path.read_text()), generator)))
    assert_read_or_refused(path, name)


@pytest.mark.parametrize("seed", range(50))
def test_a_changed_link(seed, tmp_path):
    generator = random.Random(seed)
    link = hanab_live_link.links(imported(games_of(starmine.Variant(), count=1, seed=seed % 5)))[0]
    place = generator.randrange(link.index("replay-json/"), len(link))
    other = generator.choice("abcABC019-,_%é")
    path = tmp_path / "games.links"
    path.write_text(link[:place] + other + link[place + generator.randrange(2) :], encoding="utf-8")
    assert assert_read_or_refused(path, "hanab-live-link") is None


@pytest.mark.parametrize("seed", range(50))
def test_changed_arrays(seed, tmp_path):
    numpy_safetensors = pytest.importorskip("safetensors.numpy")
    generator = np.random.default_rng(seed)
    path = tmp_path / "games.safetensors"
    write_games(games_of(starmine.Variant(players=3), count=2, seed=seed % 5), path)
    arrays = numpy_safetensors.load_file(path)
    name = generator.choice(sorted(arrays))
    array = arrays[name].copy()
    limits = np.iinfo(array.dtype)
    array[tuple(generator.integers(0, size) for size in array.shape)] = generator.choice(
        [limits.min, -1, 0, 1, 2, 5, 29, 30, 31, 89, limits.max]
    )
    path.write_bytes(numpy_safetensors.save(arrays | {name: array}))
    assert_read_or_refused(path, "ah2ac2")
