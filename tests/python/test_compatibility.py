"""What docs/stability.md promises: golden files of earlier versions in tests/data/compat are read.

`tests/data/make_compat.py` writes those of this version.
"""

import dataclasses
import json
import shutil
from dataclasses import replace

import compatibility as promised
import numpy as np
import pytest
from paths import DATA
from training_runs import TrainingError, needs_train_extra, write_checkpoint

import starmine

COMPAT = DATA / "compat"
VERSIONS = sorted(path.name for path in COMPAT.iterdir() if path.is_dir())
VARIANTS = promised.variants()


def files(name):
    """The versions that have a golden file of this name."""
    return [version for version in VERSIONS if (COMPAT / version / name).exists()]


def recorded(version, name):
    return json.loads((COMPAT / version / name).read_text(encoding="utf-8"))


# --- Games, actions, observations ----------------------------------------------------------------------------


@pytest.mark.parametrize("version", files("games.json"))
def test_a_seed_deals_the_same_games_with_the_same_results_and_observations(version):
    for name, games in recorded(version, "games.json").items():
        for expected in games:
            found = promised.played_game(VARIANTS[name], expected["seed"])
            # An encoder that came later has no checksum in the file.
            sums = {encoder: found["observations"].get(encoder) for encoder in expected["observations"]}
            assert found | {"observations": sums} == expected, name


@pytest.mark.parametrize("version", files("batches.json"))
def test_a_batch_of_a_seed_plays_the_same_games_in_every_type(version):
    for name, dtypes in recorded(version, "batches.json").items():
        for dtype, expected in dtypes.items():
            assert promised.batch_sums(VARIANTS[name], dtype) == expected, (name, dtype)


@pytest.mark.parametrize("version", files("actions.json"))
def test_an_action_id_keeps_its_meaning(version):
    for name, expected in recorded(version, "actions.json").items():
        assert promised.action_meanings(VARIANTS[name]) == expected, name


@pytest.mark.parametrize("version", files("layouts.json"))
def test_a_section_of_an_observation_keeps_its_name_place_and_shape(version):
    for name, encoders in recorded(version, "layouts.json").items():
        for encoder, expected in encoders.items():
            assert promised.sections(VARIANTS[name], encoder) == expected, (name, encoder)


def test_a_preset_of_an_earlier_version_is_there():
    for version in files("actions.json"):
        assert set(recorded(version, "actions.json")) <= set(VARIANTS)


# --- Stored states and batches -------------------------------------------------------------------------------


@pytest.mark.parametrize("version", files("state.json"))
def test_a_stored_state_is_read(version):
    state = starmine.State.from_json((COMPAT / version / "state.json").read_text(encoding="utf-8"))
    assert [event.action for event in state.history] == [event.action for event in promised.halfway().history]
    assert state.hands == promised.halfway().hands


@pytest.mark.parametrize("name", promised.PARTNERS)
@pytest.mark.parametrize("version", files("stored.json"))
def test_a_stored_batch_goes_on_as_it_did(version, name):
    batch = starmine.Batch.from_bytes((COMPAT / version / f"{name}.bin").read_bytes())
    assert promised.played_on(batch, 40) == recorded(version, "stored.json")[name]


# --- Policies ------------------------------------------------------------------------------------------------

POLICIES = [(version, name) for version in files("policies.json") for name in recorded(version, "policies.json")]


@pytest.mark.parametrize(("version", "name"), POLICIES)
def test_a_policy_file_gives_the_same_outputs(version, name):
    if name == "policy-plain":  # PyTorch plays it
        pytest.importorskip("torch")
    policy = starmine.load_policy(COMPAT / version / f"{name}.safetensors")
    assert policy.about == {"steps": 1}
    found, promise = promised.policy_outputs(policy), recorded(version, "policies.json")[name]
    if isinstance(policy, starmine.policies.TrainedPolicy):
        assert found == promise
    else:  # the core recorded what PyTorch computes now, with sums in another order
        for part in promise:
            np.testing.assert_allclose(found[part], promise[part], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("version", "name"), POLICIES)
def test_a_policy_file_becomes_a_torch_module(version, name):
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    network = starmine.load_policy(COMPAT / version / f"{name}.safetensors").network()
    assert sum(weights.numel() for weights in network.parameters()) > 100


# --- Checkpoints ---------------------------------------------------------------------------------------------


def resumed(version, monkeypatch, folder, installed=None):
    """Resume the golden checkpoint of `examples/ppo.py` where `installed` is this package's version."""
    import ppo
    import torch

    from starmine.training import checkpoint, matmul_dtype

    if installed:
        monkeypatch.setattr(checkpoint, "version", lambda _: installed)
    found = checkpoint.read_checkpoint(COMPAT / version / "checkpoint.pt")
    known = {field.name for field in dataclasses.fields(ppo.Args)} - {"out", "resume"}
    arguments = {name: value for name, value in found["args"].items() if name in known}
    arguments["total_steps"] += 32
    (folder / "run").mkdir()
    (folder / "run" / "config.json").write_text('{"resumed": []}')
    dtype = str(matmul_dtype("auto", torch.device("cpu"))).removeprefix("torch.")  # 0.4 stored "auto"
    write_checkpoint(folder / "run" / "checkpoint.pt", found | {"args": found["args"] | {"dtype": dtype}})
    ppo.main(ppo.Args(**{**arguments, "hidden": tuple(arguments["hidden"])}, out=folder / "run", resume=True))
    return found, checkpoint.read_checkpoint(folder / "run" / "checkpoint.pt")


@pytest.mark.slow
@needs_train_extra
@pytest.mark.parametrize("version", ["0.4"])
def test_a_checkpoint_of_ppo_goes_on(version, tmp_path, monkeypatch):
    import torch

    from starmine.training import checkpoint

    threads = torch.get_num_threads()
    made_by = checkpoint.read_checkpoint(COMPAT / version / "checkpoint.pt")["identity"]["starmine"]
    before, after = resumed(version, monkeypatch, tmp_path, made_by)
    assert after["progress"][1] == before["progress"][1] + 1
    torch.set_num_threads(threads)


@needs_train_extra
def test_a_checkpoint_of_another_version_is_refused(tmp_path, monkeypatch):
    with pytest.raises(TrainingError):
        resumed("0.4", monkeypatch, tmp_path, "9.9")


# --- Files of games and evaluations --------------------------------------------------------------------------


def exports():
    """The golden files of games, one a format."""
    return [(version, path.name) for version in VERSIONS for path in sorted((COMPAT / version).glob("exported.*"))]


@pytest.mark.parametrize("version", files("games"))
def test_a_folder_of_games_is_verified_and_read(version, tmp_path):
    data = pytest.importorskip("starmine.data")
    pytest.importorskip("pyarrow")
    shutil.copytree(COMPAT / version / "games", tmp_path / "games")
    games = data.Dataset(tmp_path / "games")
    assert len(games) == 6
    assert data.verify(tmp_path / "games").games == 6
    rows = [row["reward"].size for row in games.replay(batch_size=64)]
    assert sum(rows) > 6 * 20


@pytest.mark.parametrize(("version", "name"), exports())
def test_a_file_of_games_is_read(version, name):
    data = pytest.importorskip("starmine.data")
    pytest.importorskip("pyarrow")
    pytest.importorskip("safetensors")
    found = data.read_games(COMPAT / version / name)
    expected = data.read_games(COMPAT / version / "games")
    assert np.array_equal(found.decks, expected.decks)
    assert np.array_equal(found.actions, expected.actions)


@pytest.mark.parametrize("version", files("games"))
def test_the_same_games_are_generated(version, tmp_path):
    data = pytest.importorskip("starmine.data")
    pytest.importorskip("pyarrow")
    data.generate(["simple", "simple"], games=6, output=tmp_path, shard_size=3, seed=4, progress=False)
    found, stored = data.Dataset(tmp_path)[:], data.Dataset(COMPAT / version / "games")[:]
    assert replace(found, roster=stored.roster) == stored  # version 0.4 stored no identities of players


CHECKSUMS = {  # of the games, and of the data set
    "0.4/games": (
        "245fe28612a6ac617365949cb1e6e25206a615130c47bb9b32bbc53e1b7ad040",
        "9f7ce22a8d72ab737ecb1f1640a9dec13c010c3423dcc876777f5612b5d415d1",
    ),
    "0.4/evaluation": (
        "b858f8a3e2d566647ae35a3928ba1a0f692998d955b6354928ed8ea8402bf227",
        "708488d571bd21a08d7b69b11707b90f886913c86d9dfe844dd1a70561c53d93",
    ),
}


@pytest.mark.parametrize(("name", "expected"), CHECKSUMS.items())
def test_checksums_and_fingerprints_are_those_of_the_version(name, expected):
    """A stored state of a `GamesDataset` has the fingerprint."""
    data = pytest.importorskip("starmine.data")
    pytest.importorskip("pyarrow")
    games = data.Dataset(COMPAT / name)
    assert (data.checksum_of(games.tables()), games.fingerprint) == expected


def test_the_fingerprint_of_a_selection_is_that_of_the_version():
    data = pytest.importorskip("starmine.data")
    pytest.importorskip("pyarrow")
    selected = data.Dataset(COMPAT / "0.4" / "games").select([1, 4])
    assert selected.fingerprint == "f841dffd200251ac57e154a0af9894b10c1dd0ccc98a11e86fb3949724240548"


def test_the_checksum_of_exported_games_is_that_of_the_version():
    data = pytest.importorskip("starmine.data")
    pytest.importorskip("pyarrow")
    pytest.importorskip("safetensors")
    found = data.checksum_of(data.read_games(COMPAT / "0.4" / "exported.safetensors"))
    assert found == "cae85b11490856a0f45037310276e69db4727b80c54d5411bafd9c2c55942f43"


def test_a_folder_of_games_of_another_version_is_refused(tmp_path, monkeypatch):
    data = pytest.importorskip("starmine.data")
    pytest.importorskip("pyarrow")
    from starmine.data.generation import configuration

    monkeypatch.setattr(configuration, "version", lambda _: "9.9")
    shutil.copytree(COMPAT / "0.4" / "games", tmp_path / "games")
    with pytest.raises(starmine.StarmineError):
        data.generate(["simple", "simple"], games=6, output=tmp_path / "games", shard_size=3, seed=4, progress=False)


def evaluate(folder, monkeypatch, version):
    """Evaluate, or go on, as this version of the package."""
    pytest.importorskip("pyarrow")
    from starmine.evaluation import run

    monkeypatch.setattr(run, "version", lambda _: version)
    return starmine.evaluate(["simple"], games=10, seed=2, output=folder, figure=False)


def test_an_evaluation_goes_on(tmp_path, monkeypatch):
    shard, folder = "evaluation/shard-000000.parquet", COMPAT / "0.4"
    shutil.copytree(folder / "evaluation", tmp_path / "evaluation")
    evaluate(tmp_path / "evaluation", monkeypatch, recorded("0.4", "evaluation/eval.json")["settings"]["version"])
    assert (tmp_path / shard).read_bytes() == (folder / shard).read_bytes()


def test_games_without_an_ending_failed_in_evaluations_of_version_0_4(tmp_path):
    """Version 0.4 stored no reasons: in its evaluations a game without an ending is one in which a player failed."""
    data = pytest.importorskip("starmine.data")
    pytest.importorskip("pyarrow")
    from starmine.data.files import write_file

    stored = data.Dataset(COMPAT / "0.4" / "evaluation")
    told = recorded("0.4", "evaluation/eval.json")["pairings"][0]
    assert (stored.failures, len(stored)) == (None, told["games"])
    assert (stored.mean, stored.standard_error) == pytest.approx((told["score"], told["standard_error"]))
    games = stored[:]
    games = replace(games, endings=np.where(np.arange(len(games)) == 3, 0, games.endings).astype(np.uint8))
    write_file(tmp_path / "games.parquet", stored.metadata[0], games)
    found = data.Dataset(tmp_path / "games.parquet")
    assert np.flatnonzero(found.failures != "").tolist() == [3]
    assert found.mean == np.delete(games.scores, 3).mean() == found[:].mean == data.info(found.files[0].path).total.mean


def test_an_evaluation_of_another_version_is_refused(tmp_path, monkeypatch):
    evaluate(tmp_path, monkeypatch, "0.4")
    with pytest.raises(starmine.StarmineError):
        evaluate(tmp_path, monkeypatch, "9.9")
