"""Forged files of games: the golden files of this version, with parts exchanged, bytes changed or cut off.

A reader of games gives games that hold by the rules and names the others, or refuses the file by a `StarmineError`.

    python tests/python/helpers/forged_files.py 60   # so many seconds for each forgery, with new seeds
"""

import argparse
import contextlib
import json
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from forged_inputs import forged_bytes, forged_text
from paths import DATA

import starmine
from starmine.data import Dataset, read_games, verify

CORPUS = DATA / "compat" / "0.4"
JUNK = [None, True, -1, 0, 3, 7, 10**20, 0.5, "", "R1", "x", [], {}, [1], {"a": 1}, "(Play 9)", "No Variant", "6 Suits"]
NUMBERS = [-(2**63), -1, 0, 1, 2, 5, 29, 30, 31, 89, 127, 128, 255, 256, 2**31, 2**63 - 1]


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


def forged_json(generator, text):
    """A JSON text with other parts, or another text."""
    if generator.random() < 0.3:
        return forged_text(generator, text)
    return json.dumps(mutated(json.loads(text), generator))


def forged_array(generator, array):
    """An array with another element, length, type or number of axes."""
    change = generator.randrange(6)
    if array.ndim == 0 or change == 0:
        return array.astype(generator.choice(["int8", "float32", "uint64", "U3", "?"]))
    if change == 1:
        return array[:-1] if generator.random() < 0.5 else array[..., None]
    array, place = array.copy(), tuple(generator.randrange(size) for size in array.shape)
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        array[place] = min(max(generator.choice(NUMBERS), limits.min), limits.max)
    return array


def told(error):
    """The text of a refusal, which is one line."""
    text = str(error)
    assert text, error
    assert "\n" not in text, error
    return text


def assert_read_or_refused(path, name):
    """The games that are read hold by the rules, except Parquet files, and the others have reasons of one line.

    Returns:
        None for a file that was read, and why it was refused otherwise.
    """
    skipped = []
    try:
        found = read_games(path, format=name, on_skip=skipped.append)
    except starmine.StarmineError as error:
        return told(error)
    finally:
        assert all(game.reason and "\n" not in game.reason for game in skipped)
    for game in range(0 if name == "parquet" else len(found)):  # `verify` plays games of Parquet files
        state = found.state(game)
        assert state.score == found.scores[game]
    places = [*found.number.tolist(), *(game.game or 0 for game in skipped)]
    assert sorted(places) == list(range(len(places)))
    return None


def forged_hanab_live(generator, folder):
    """A file of hanab.live's JSON."""
    path = folder / "games.json"
    path.write_text(forged_json(generator, (CORPUS / "exported.json").read_text(encoding="utf-8")), encoding="utf-8")
    return assert_read_or_refused(path, "hanab-live")


def forged_arrays(generator, folder):
    """A file of AH2AC2's arrays."""
    from safetensors import numpy as safetensors

    data = (CORPUS / "exported.safetensors").read_bytes()
    path = folder / "games.safetensors"
    if generator.random() < 0.5:
        path.write_bytes(forged_bytes(generator, data, 8 + int.from_bytes(data[:8], "little")))
    else:
        arrays = safetensors.load(data)
        name = generator.choice(sorted(arrays))
        changed = forged_array(generator, arrays[name])
        path.write_bytes(safetensors.save(arrays | {name: changed} if changed.dtype.kind != "U" else {}))
    return assert_read_or_refused(path, "ah2ac2")


def forged_shard(generator, folder):
    """A shard of games: other values, metadata or bytes. It is read as a format, as a data set, and verified."""
    path = folder / "shard-000000.parquet"
    data = (CORPUS / "games" / path.name).read_bytes()
    path.write_bytes(
        forged_bytes(generator, data, len(data)) if generator.random() < 0.3 else forged_table(generator, data)
    )
    try:
        for rows in Dataset(path).replay(batch_size=8):
            assert len(rows["reward"])
        assert str(verify(path))
    except starmine.StarmineError as error:
        told(error)
    return assert_read_or_refused(path, "parquet")


def forged_table(generator, data):
    """The bytes of a Parquet file with another value in a column, without it, or with other metadata."""
    import pyarrow
    from pyarrow import parquet

    table = parquet.read_table(pyarrow.BufferReader(data))
    metadata, place = dict(table.schema.metadata), generator.randrange(table.num_columns)
    change = generator.randrange(8)
    if change < 2:
        key = generator.choice(sorted(metadata))
        with contextlib.suppress(ValueError):
            metadata[key] = forged_json(generator, metadata[key].decode()).encode("utf-8", "replace")
    elif change == 2:
        table = table.remove_column(place)
    else:
        values = table.column(place).to_pylist()
        row = generator.randrange(len(values))
        values[row] = forged_value(generator, values[row])
        field = table.schema.field(place).with_nullable(True)
        with contextlib.suppress(pyarrow.ArrowException, OverflowError):
            table = table.set_column(place, field, pyarrow.array(values, field.type))
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(table.replace_schema_metadata(metadata), sink)
    return sink.getvalue().to_pybytes()


def forged_value(generator, value):
    """Another value of a column."""
    if isinstance(value, bytes):
        return forged_bytes(generator, value, len(value)) if value else b"\xff"
    if isinstance(value, list):
        return [generator.choice(NUMBERS) for _ in range(len(value) + generator.randint(-1, 1))]
    return generator.choice([*NUMBERS, None])


def forged_folder(generator, folder):
    """A folder of games with another manifest, without a file, or whole."""
    path = folder / "games"
    path.mkdir(exist_ok=True)
    for file in (CORPUS / "games").iterdir():
        (path / file.name).write_bytes(file.read_bytes())
    manifest = path / "_manifest.json"
    what = generator.random()
    if what < 0.2:
        generator.choice(sorted(path.iterdir())).unlink()
    elif what < 0.9:
        manifest.write_text(forged_json(generator, manifest.read_text(encoding="utf-8")), encoding="utf-8")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* shards are missing")
            assert len(Dataset(path)) <= 6
        return None if (found := verify(path)).holds else str(found)
    except starmine.StarmineError as error:
        return told(error)


FORGERIES = {forgery.__name__: forgery for forgery in (forged_hanab_live, forged_arrays, forged_shard, forged_folder)}


def run(name, seed, folder):
    """One forgery in a folder of its own: whether the file was read."""
    try:
        return FORGERIES[name](random.Random(f"{name} {seed}"), folder) is None
    except BaseException as error:
        raise AssertionError(f"{name}, seed {seed}: {error!r}") from error


def main():
    """Forge until the time is over."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("seconds", type=float, help="for each forgery")
    arguments.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9), help="of the first one")
    given = arguments.parse_args()
    print(f"--seed {given.seed}", flush=True)
    for name in FORGERIES:
        results, seed, end = Counter(), given.seed, time.monotonic() + given.seconds
        with tempfile.TemporaryDirectory() as made:
            while time.monotonic() < end:
                results["read" if run(name, seed, Path(made)) else "refused"] += 1
                seed += 1
        print(name, dict(results), flush=True)


if __name__ == "__main__":
    sys.exit(main())
