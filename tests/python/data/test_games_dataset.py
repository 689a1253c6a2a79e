"""Shuffled minibatches hold every turn once, whoever reads them, and go on where a state was taken."""

import copy
import dataclasses
import json
import pickle
import shutil
import warnings

import numpy as np
import pytest
from stored_games import described, played_table, store

import starmine
from starmine.data import shuffle as blocks_module
from starmine.data.colors import color_permutations, permute_colors
from starmine.data.dataset import Dataset
from starmine.data.schema import shard_name, write_table

torch = pytest.importorskip("torch")
pq = pytest.importorskip("pyarrow.parquet")

from torch.utils.data import DataLoader  # noqa: E402

from starmine.torch import GamesDataset, unpack_bits  # noqa: E402

LIGHT = ("action", "game", "turn")
GAMES = 400


@pytest.fixture(scope="module")
def table():
    return played_table(GAMES, seed=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table):
    """Two shards with row groups of 40 games: ten of them, three windows."""
    path = tmp_path_factory.mktemp("games")
    for shard in range(2):
        part = table[shard * 200 : (shard + 1) * 200]
        pq.write_table(write_table(part, described(table, shard=shard)), path / shard_name(shard), row_group_size=40)
    return path


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """TurnOrder of 32 games, of which a window has several."""
    monkeypatch.setattr(blocks_module, "AT_ONCE", 32)


def keys(minibatches):
    """(game, turn) of all rows, in their order."""
    return [pair for rows in minibatches for pair in zip(rows["game"].tolist(), rows["turn"].tolist(), strict=True)]


def all_keys(table):
    return [(game, turn) for game in range(len(table)) for turn in range(table.lengths[game])]


def same_minibatches(one, other):
    assert len(one) == len(other)
    for left, right in zip(one, other, strict=True):
        assert left.keys() == right.keys()
        assert all(torch.equal(left[name], right[name]) for name in left)


# --- Contents ------------------------------------------------------------------------------------------------


def test_an_epoch_has_every_turn_once(folder, table):
    minibatches = list(GamesDataset(folder, 300, outputs=LIGHT))
    assert all(len(rows["game"]) == 300 for rows in minibatches[:-1])
    assert len(minibatches[-1]["game"]) == len(table.actions) % 300
    assert sorted(keys(minibatches)) == all_keys(table)
    dropped = list(GamesDataset(folder, 300, outputs=LIGHT, drop_last=True))
    same_minibatches(dropped, minibatches[:-1])


@pytest.mark.parametrize("dtype", ["bits", "float32", "float16", "bfloat16", "uint8"])
def test_rows_are_those_of_the_replay(dtype, folder, table):
    expected = {name: torch.from_numpy(array) for name, array in rows_by_key(Dataset(folder)).items()}
    firsts = torch.from_numpy(table.offsets)
    for rows in GamesDataset(folder, 512, dtype=dtype):
        place = firsts[rows["game"]] + rows["turn"]
        for name, tensor in rows.items():
            wanted = expected[name][place]
            if name == "obs" and dtype != "bits":
                wanted = unpack_bits(wanted, 658, getattr(torch, dtype))
            assert tensor.dtype == wanted.dtype
            assert torch.equal(tensor, wanted)


def rows_by_key(data, **settings):
    """The rows of a replay as bits by game and turn."""
    pieces = list(data.replay(dtype="bits", **settings))
    rows = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    order = np.lexsort((rows["turn"], rows["game"]))
    return {name: array[order] for name, array in rows.items()}


def test_a_setting_without_its_output_is_refused(folder):
    for setting in ({"dtype": "bits"}, {"encoder": "canonical-minimal"}, {"observers": "all"}):
        with pytest.raises(starmine.StarmineError):
            GamesDataset(folder, outputs=["action"], **setting)


def test_every_seats_observation_can_be_had(folder):
    rows = next(iter(GamesDataset(folder, 64, observers="all", encoder="canonical-seer", dtype="uint8")))
    assert rows["obs"].shape == (64, 2, 658)
    assert set(rows["obs"].unique().tolist()) == {0, 1}


@pytest.mark.parametrize("observers", ["current", "all"])
def test_extra_outputs_are_those_of_the_games(observers, folder, table):
    """Also without observations, and in permuted colours."""
    names = ("card_features", "public_marginals", "own_hand")
    expected = table.replay(names, observers=observers)
    rows = [*Dataset(folder).replay(64, observers=observers, outputs=(*LIGHT, *names))]
    for minibatches in (
        [
            {name: array.numpy() for name, array in batch.items()}
            for batch in GamesDataset(folder, 300, outputs=(*LIGHT, *names), observers=observers)
        ],
        rows,
    ):
        for batch in minibatches:
            places = table.offsets[batch["game"]] + batch["turn"]
            for name in names:
                assert batch[name].dtype == expected[name].dtype
                assert np.array_equal(batch[name], expected[name][places])
    permuted = GamesDataset(folder, 10**6, outputs=("game", "turn", *names), observers=observers, permute_colors=True)
    (batch,) = permuted
    places = table.offsets[batch["game"].numpy()] + batch["turn"].numpy()
    assert np.array_equal(batch["card_features"], expected["card_features"][places])  # colours do not matter
    assert not np.array_equal(batch["own_hand"], expected["own_hand"][places])


class OnFeatures(torch.nn.Module):
    """A module on `card_features`, which keeps what it is shown."""

    def __init__(self, variant):
        super().__init__()
        self.layer = torch.nn.Linear(variant.players * variant.hand_size * 3, variant.num_actions)
        self.shown = []

    def forward(self, observations, action_mask, card_features):
        self.shown.append(card_features)
        return self.layer(card_features.flatten(1))


def test_a_network_on_card_features_is_cloned_from_disk(folder):
    data = Dataset(folder)
    torch.manual_seed(0)
    network = OnFeatures(data.variant)
    optimizer, losses = torch.optim.Adam(network.parameters(), 0.01), []
    outputs = ("card_features", "action_mask", "action")
    for batch in GamesDataset(data, 300, outputs=outputs):
        logits = network(None, batch["action_mask"], batch["card_features"])
        losses.append(torch.nn.functional.cross_entropy(logits, batch["action"]))
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < losses[0]
    policy = starmine.torch.ModulePolicy(network, extra_outputs=["card_features"])
    network.shown.clear()
    played = starmine.play_games([policy] * 2, 1)
    assert np.array_equal(torch.cat(network.shown).numpy(), played.replay(["card_features"])["card_features"])


def test_a_view_is_read(folder, table):
    view = Dataset(folder).select(np.arange(5, GAMES, 9))
    rows = list(GamesDataset(view, 100, outputs=LIGHT))
    assert sorted(keys(rows)) == [
        (i, turn) for i, game in enumerate(range(5, GAMES, 9)) for turn in range(table.lengths[game])
    ]
    assert list(GamesDataset(view.select([]), 100, outputs=LIGHT)) == []


def test_colours_are_permuted_for_each_game(folder, table):
    plain = rows_by_key(Dataset(folder))
    data = GamesDataset(folder, 512, dtype="bits", permute_colors=True, seed=4)
    first, again = (list(data) for _ in range(2))
    same_minibatches(first, again)
    seed = np.random.SeedSequence([4, 0, blocks_module._COLORS]).generate_state(1, np.uint64)[0]
    permutations = color_permutations(table.variant, int(seed), np.arange(GAMES))
    expected = permute_colors(table, permutations)
    observations = torch.from_numpy(expected.replay(["obs"], dtype="bits")["obs"])
    actions = torch.from_numpy(expected.actions.astype(np.int64))
    firsts = torch.from_numpy(table.offsets)
    for rows in first:
        place = firsts[rows["game"]] + rows["turn"]
        assert torch.equal(rows["obs"], observations[place])
        assert torch.equal(rows["action"], actions[place])
        assert rows["action_mask"].gather(1, rows["action"][:, None]).all()
        assert torch.equal(rows["return_to_go"], torch.from_numpy(plain["return_to_go"])[place])
    data.set_epoch(1)
    assert any(not torch.equal(one["obs"], other["obs"]) for one, other in zip(first, data, strict=True))


@pytest.mark.parametrize("lengths", [[0] * 6, [0, 3, 0, 2, 0, 1]])
def test_games_that_were_stopped_early_are_read(lengths, tmp_path):
    table = played_table(6, seed=2)
    offsets = np.cumsum([0, *lengths])
    firsts = table.offsets[:-1]
    actions = [table.actions[first : first + turns] for first, turns in zip(firsts, lengths, strict=True)]
    played = {"actions": np.concatenate(actions), "offsets": offsets}
    table = dataclasses.replace(table, **played, scores=table.scores * 0, endings=table.endings * 0)
    path = store(tmp_path / "games.parquet", table)
    for shuffle in (True, False):
        assert sorted(keys(GamesDataset(path, 4, shuffle=shuffle))) == all_keys(table)
    assert sorted(keys(Dataset(path).replay())) == all_keys(table)
    assert Dataset(path).endings[1] == 0


# --- Order -----------------------------------------------------------------------------------------------------


def test_without_shuffling_games_and_turns_come_in_order(folder, table):
    assert keys(GamesDataset(folder, 300, outputs=LIGHT, shuffle=False)) == all_keys(table)


def test_the_order_is_a_function_of_seed_and_epoch(folder):
    data = GamesDataset(folder, 300, outputs=LIGHT, seed=1)
    first = keys(data)
    assert keys(data) == first
    assert keys(GamesDataset(folder, 300, outputs=LIGHT, seed=1)) == first
    data.set_epoch(1)
    second = keys(data)
    assert data.epoch == 1
    other = keys(GamesDataset(folder, 300, outputs=LIGHT, seed=2))
    assert len({tuple(order) for order in (first, second, other)}) == 3
    assert sorted(second) == sorted(other) == sorted(first)


def test_a_minibatch_mixes_games_and_turns(folder, table):
    rows = next(iter(GamesDataset(folder, 200, outputs=LIGHT)))
    assert len(rows["game"].unique()) >= 25, "of the 32 games of a block"
    longest = int(table.lengths.max())
    assert rows["turn"].unique().numel() > longest / 2
    groups = {game // 40 for game in rows["game"].tolist()}
    assert len(groups) == blocks_module.GROUPS_IN_A_WINDOW, "of as many row groups as a window has"
    neighbours = np.diff(np.array(keys([rows])), axis=0)
    assert (neighbours == [0, 1]).all(axis=1).mean() < 0.05


# --- Readers ---------------------------------------------------------------------------------------------------


def workers(number):
    """Settings of a loader whose workers are forked: they have the small blocks too, and import nothing anew."""
    return {"num_workers": number} | ({"multiprocessing_context": "fork"} if number else {})


@pytest.mark.parametrize("num_workers", [0, 1, 2])
@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_workers_and_ranks_share_the_turns(num_workers, world_size, folder, table):
    found = []
    for rank in range(world_size):
        data = GamesDataset(folder, 300, outputs=LIGHT, rank=rank, world_size=world_size)
        part = keys(DataLoader(data, batch_size=None, **workers(num_workers)))
        games = {game for game, _ in part}
        assert abs(len(games) - GAMES / world_size) < 1
        found += part
    assert sorted(found) == all_keys(table)


def test_more_readers_than_games_have_nothing_left(folder):
    data = Dataset(folder).select([3, 390])
    parts = [keys(GamesDataset(data, 8, outputs=LIGHT, rank=rank, world_size=5)) for rank in range(5)]
    assert sum(len(part) > 0 for part in parts) == 2
    assert {game for part in parts for game, _ in part} == {0, 1}


def test_workers_that_stay_learn_of_the_epoch(folder, table):
    data = GamesDataset(folder, 300, outputs=LIGHT)
    loader = DataLoader(data, batch_size=None, persistent_workers=True, **workers(1))
    orders = []
    for epoch in range(2):
        data.set_epoch(epoch)
        orders.append(keys(loader))
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == all_keys(table)
    data.set_epoch(0)
    assert orders[0] == keys(data)


def test_a_copy_has_its_own_epoch_and_place(folder):
    for duplicate in (copy.copy, copy.deepcopy, lambda data: pickle.loads(pickle.dumps(data))):
        data = GamesDataset(folder, 300, outputs=LIGHT)
        rest = iter(data)
        next(rest)
        twin = duplicate(data)
        next(rest)
        twin.load_state_dict(twin.state_dict())
        same_minibatches([next(iter(twin))], [list(GamesDataset(folder, 300, outputs=LIGHT))[1]])
        twin.set_epoch(3)
        assert (data.epoch, twin.epoch) == (0, 3)


def test_a_data_set_is_pickled_for_workers_that_are_spawned(folder):
    data = GamesDataset(folder, 300, outputs=LIGHT, seed=5)
    data.set_epoch(3)
    assert keys(pickle.loads(pickle.dumps(data))) == keys(data)


@pytest.mark.nightly
def test_workers_that_are_spawned_read_every_turn(folder, table):
    loader = DataLoader(
        GamesDataset(folder, 300, outputs=LIGHT), batch_size=None, num_workers=2, multiprocessing_context="spawn"
    )
    assert sorted(keys(loader)) == all_keys(table)


def test_the_place_among_distributed_processes_is_the_default(folder, tmp_path):
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        data = GamesDataset(folder, 300)
        assert (data.rank, data.world_size) == (0, 1)
    finally:
        torch.distributed.destroy_process_group()


# --- State -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("taken", [0, 1, 4, 9])
@pytest.mark.parametrize("shuffle", [True, False])
def test_a_restored_state_goes_on_to_the_bit(taken, shuffle, folder):
    settings = {"batch_size": 300, "dtype": "bits", "seed": 3, "permute_colors": True, "shuffle": shuffle}
    data = GamesDataset(folder, **settings)
    data.set_epoch(2)
    iterator = iter(data)
    for _ in range(taken):
        next(iterator)
    state = json.loads(json.dumps(data.state_dict()))
    restored = GamesDataset(folder, **settings)
    restored.load_state_dict(state)
    assert restored.epoch == 2
    rest = list(iterator)
    assert len(rest) > 1
    same_minibatches(list(restored), rest)
    same_minibatches(list(restored)[taken:], rest)


def test_after_an_epoch_nothing_is_left(folder):
    data = GamesDataset(folder, 300, outputs=LIGHT)
    whole = list(data)
    data.load_state_dict(data.state_dict())
    assert list(data) == []
    data.load_state_dict(data.state_dict())
    data.set_epoch(1)
    assert len(list(data)) == len(whole)


def test_a_state_of_another_order_is_refused(folder):
    state = GamesDataset(folder, 300).state_dict()
    with pytest.raises(starmine.StarmineError):
        GamesDataset(folder, 300, seed=1).load_state_dict(state)
    with pytest.raises(starmine.StarmineError):
        GamesDataset(Dataset(folder).select([1, 2, 3]), 300).load_state_dict(state)
    data = GamesDataset(folder, 300, outputs=LIGHT)
    next(iter(data))
    other = GamesDataset(folder, 300, outputs=LIGHT, rank=1, world_size=2)
    other.load_state_dict(data.state_dict())
    with pytest.raises(starmine.StarmineError):
        iter(other)


def test_a_state_of_another_data_set_of_the_same_size_is_refused_and_nothing_is_changed(tmp_path):
    def generated(name, rules="mini", seed=1, bot="iggi"):
        starmine.data.generate([bot] * 2, 40, tmp_path / name, rules, seed, shard_size=20, progress=False)
        return Dataset(tmp_path / name)

    first, fireworks = generated("first"), starmine.variant("mini", lost_game_score="fireworks")
    others = [generated("seed", seed=2), generated("bot", bot="piers"), generated("rules", rules=fireworks)]
    others += [first.select(range(0, 40, 2)), first.select(slice(20))]
    data = GamesDataset(first, 30, outputs=LIGHT)
    iterator = iter(data)
    next(iterator)
    state = pickle.loads(pickle.dumps(data.state_dict()))
    expected = next(iterator)
    for other in others:
        resumed = GamesDataset(other, 30, outputs=LIGHT)
        before = resumed.state_dict()
        with pytest.raises(starmine.StarmineError):
            resumed.load_state_dict(state)
        assert resumed.state_dict() == before
    shutil.copytree(tmp_path / "first", tmp_path / "copy")
    resumed = GamesDataset(tmp_path / "copy", 30, outputs=LIGHT)
    resumed.load_state_dict(state)
    for name, tensor in next(iter(resumed)).items():
        assert torch.equal(tensor, expected[name])


def test_a_data_set_is_equal_to_one_of_the_same_content(tmp_path, folder):
    data = Dataset(folder)
    shutil.copytree(folder, tmp_path / "copy")
    assert data == Dataset(tmp_path / "copy")
    assert hash(data) == hash(Dataset(tmp_path / "copy"))
    assert data == pickle.loads(pickle.dumps(data)) == copy.deepcopy(data)
    assert data.select(slice(3)) == data.select([0, 1, 2]) != data.select([0, 1, 3])
    assert data.filter(min_score=0) == data != data.select(slice(399))
    assert data != str(folder)


def test_files_without_a_checksum_have_a_content_too(tmp_path):
    games = starmine.play_games(["iggi"] * 2, 20, seed=1, variant="mini")
    others = starmine.play_games(["iggi"] * 2, 20, seed=2, variant="mini")
    for name, written in (("one", games), ("same", games), ("other", others)):
        starmine.data.write_games(written, tmp_path / f"{name}.parquet")
        table = pq.read_table(tmp_path / f"{name}.parquet")
        assert b"starmine.content" in pq.read_metadata(tmp_path / f"{name}.parquet").metadata
        pq.write_table(table, tmp_path / name)
        assert b"starmine.content" not in pq.read_metadata(tmp_path / name).metadata
    for suffix in ("", ".parquet"):
        one, same, other = (Dataset(tmp_path / f"{name}{suffix}") for name in ("one", "same", "other"))
        assert one == same != other
    with pytest.raises(starmine.StarmineError):
        GamesDataset(tmp_path / "one").load_state_dict(GamesDataset(tmp_path / "other").state_dict())


def test_a_place_before_the_first_one_is_refused_and_nothing_is_changed(folder):
    data = GamesDataset(folder, 300, outputs=LIGHT)
    with pytest.raises(starmine.StarmineError):
        data.load_state_dict(data.state_dict() | {"position": [0, 0, -1], "epoch": 3})
    assert data.epoch == 0


@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")
@pytest.mark.parametrize("num_workers", [0, 2])
def test_torchdatas_loader_resumes_in_the_middle(num_workers, folder):
    loaders = pytest.importorskip("torchdata.stateful_dataloader")

    def loader():
        data = GamesDataset(folder, 300, dtype="bits", permute_colors=True)
        return loaders.StatefulDataLoader(data, batch_size=None, **workers(num_workers))

    first = loader()
    iterator = iter(first)
    for _ in range(5):
        next(iterator)
    state = pickle.loads(pickle.dumps(first.state_dict()))
    second = loader()
    second.load_state_dict(state)
    same_minibatches(list(second), list(iterator))


# --- Refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_tensors_are_pinned_for_a_device(folder):
    assert all(tensor.is_pinned() for tensor in next(iter(GamesDataset(folder, 300))).values())


def test_an_error_of_the_reader_reaches_the_user(folder, tmp_path, table):
    path = tmp_path / "games.parquet"
    pq.write_table(write_table(table, described(table)), path)
    data = GamesDataset(path, 100)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        list(data)


@pytest.mark.parametrize("seed", [0, 1, starmine.games.EVALUATION_SEED])
def test_decks_of_evaluations_are_warned_of(tmp_path, seed):
    from starmine.data import evaluation_decks, generate, write_games

    generate(["iggi"] * 2, 5, tmp_path / "made", "mini", seed, evaluation_decks=True, progress=False)
    played = starmine.play_games(["iggi"] * 2, 5, variant="mini", seed=seed)
    write_games(played, tmp_path / "written.parquet")
    for path in (tmp_path / "made", tmp_path / "written.parquet"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            GamesDataset(path)
        said = f"5 of the first 5 games of {starmine.data.Dataset(path)} have decks of evaluations: "
        assert [str(warning.message).startswith(said) for warning in caught] == [True] * (seed != 1)
        assert {warning.filename for warning in caught} <= {__file__}
    games = played
    assert evaluation_decks(games).tolist() == [seed != 1] * 5
    assert evaluation_decks(games, [seed]).all()
    assert not evaluation_decks(games, [seed + 1]).any()
    for others in (played, starmine.data.Dataset(tmp_path / "made")[:]):
        assert evaluation_decks(others).tolist() == [seed != 1] * 5
