"""Tensors that steps write, and groups of games that are stepped while others are evaluated."""

import threading

import numpy as np
import overlap
import pytest
import torch

import starmine
from starmine import Batch, IllegalActionError, StarmineError, UnknownNameError
from starmine.torch import OverlappingGames, output_tensors

GAMES = 9
SECONDS = 60  # until a test that hangs fails


def batches(number=2, **settings):
    return [Batch("standard", GAMES, seed=seed, **settings) for seed in range(number)]


def choose(outputs, step):
    """Legal actions (N,), others in each step."""
    numbers = torch.arange(GAMES)[:, None] * 7 + torch.arange(20) * 3 + step * 11
    return ((numbers % 20 + 1) * outputs["action_mask"]).argmax(dim=1)


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "bits"])
def test_a_step_writes_into_the_memory_of_the_tensors(dtype):
    batch, twin = Batch("standard", GAMES, dtype=dtype, seed=3), Batch("standard", GAMES, dtype=dtype, seed=3)
    tensors, arrays = output_tensors(batch)
    assert list(tensors) == list(batch.allocate())
    places = {name: tensor.data_ptr() for name, tensor in tensors.items()}
    batch.reset_into(**arrays)
    expected = twin.reset()
    for step in range(20):
        for name, tensor in tensors.items():
            assert tensor.data_ptr() == places[name] == arrays[name].ctypes.data
            assert tensor.shape == expected[name].shape
            np.testing.assert_array_equal(tensor.numpy(), expected[name], err_msg=name)
        actions = choose(tensors, step)
        batch.step_into(actions, **arrays)
        expected = twin.step(actions)


def test_the_other_way_shares_memory_too():
    out = Batch("standard", GAMES, seed=0).step(torch.full((GAMES,), 5))
    for name, array in out.items():
        assert torch.from_numpy(array).data_ptr() == array.ctypes.data, name


def test_tensors_of_some_outputs_and_of_extra_ones():
    batch = Batch("standard", GAMES, seed=0, extra_outputs=["own_hand"])
    tensors, arrays = output_tensors(batch, ["own_hand", "reward"])
    assert list(tensors) == list(arrays) == ["own_hand", "reward"]
    assert tensors["own_hand"].dtype == torch.int8
    with pytest.raises(UnknownNameError, match='output="rewards" is not known: did you mean "reward"'):
        output_tensors(batch, ["rewards"])


@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize("partners", [None, {1: "smart"}], ids=str)
def test_groups_play_as_their_batches_do(groups, partners):
    twins = batches(groups, partners=partners)
    expected = [{name: torch.from_numpy(array) for name, array in twin.reset().items()} for twin in twins]
    with OverlappingGames(batches(groups, partners=partners)) as games:
        for step in range(40 * groups):
            number, outputs = games.recv()
            assert number == step % groups
            for name, tensor in expected[number].items():
                torch.testing.assert_close(outputs[name], tensor, rtol=0, atol=0)
            actions = choose(outputs, step)
            games.send(actions)
            played = twins[number].step(actions)
            expected[number] = {name: torch.from_numpy(array) for name, array in played.items()}
    assert all(twin.episodes.min() > 0 for twin in twins) or partners


class Slow:
    """A batch whose steps begin only when they may."""

    def __init__(self, batch):
        self.batch, self.may_step, self.begun = batch, threading.Event(), threading.Event()

    def __getattr__(self, name):
        return getattr(self.batch, name)

    def step_into(self, *arguments, **arrays):
        self.begun.set()
        assert self.may_step.wait(SECONDS)
        self.batch.step_into(*arguments, **arrays)


def test_a_group_is_stepped_while_the_caller_has_the_next_one():
    slow, other = Slow(Batch("standard", GAMES, seed=0)), Batch("standard", GAMES, seed=1)
    with OverlappingGames([slow, other]) as games:
        first, outputs = games.recv()
        games.send(choose(outputs, 0))
        assert slow.begun.wait(SECONDS)  # its step has begun, and does not end
        second, outputs = games.recv()
        assert (first, second) == (0, 1)
        games.send(choose(outputs, 0))
        slow.may_step.set()
        assert games.recv()[0] == 0


def test_an_illegal_action_is_told_when_the_group_is_received_and_others_go_on():
    with OverlappingGames(batches()) as games:
        _, outputs = games.recv()
        games.send(torch.full((GAMES,), -1))
        _, outputs = games.recv()
        games.send(choose(outputs, 0))
        with pytest.raises(IllegalActionError):
            games.recv()
        games.send([5] * GAMES)  # nothing had moved
        assert [games.recv()[0], games.send([5] * GAMES), games.recv()[0]] == [1, None, 0]
        games.send(np.full(GAMES + 1, 5))
        games.recv()
        games.send([5] * GAMES)
        with pytest.raises(starmine.ArrayError):
            games.recv()


def test_reset_deals_all_groups_and_begins_with_the_first():
    made = batches()
    with OverlappingGames(made, ["obs", "action_mask"]) as games:
        _, outputs = games.recv()
        games.send(choose(outputs, 0))
        games.reset([7, 8])
        for seed in (7, 8):
            number, outputs = games.recv()
            assert number == seed - 7
            np.testing.assert_array_equal(outputs["obs"], Batch("standard", GAMES, seed=seed).observe()["obs"])
            games.send(choose(outputs, 0))
        games.reset()
        assert games.recv()[0] == 0
        assert made[0].episodes.tolist() == [1] * GAMES
        with pytest.raises(StarmineError, match="seeds are 3: expected 2"):
            games.reset([1, 2, 3])


def test_calls_out_of_order_are_refused():
    games = OverlappingGames(batches())
    with pytest.raises(StarmineError, match="no group waits for actions: expected recv first"):
        games.send([5] * GAMES)
    games.recv()
    with pytest.raises(StarmineError, match="group 0 was received and waits for actions: expected send"):
        games.recv()
    games.close()
    for call in (games.recv, games.reset, lambda: games.send([5] * GAMES)):
        with pytest.raises(StarmineError, match="the games are closed"):
            call()
    games.close()
    games.batches[0].step([5] * GAMES)  # free again


def test_other_batches_and_devices_are_refused():
    batch = Batch("standard", 2, seed=0)
    for given, found in (([], 0), ([batch, batch], 2)):
        with pytest.raises(StarmineError, match=f"batches are {found}: expected at least one, each once"):
            OverlappingGames(given)
    with pytest.raises(StarmineError, match="device='meta' is not allowed"):
        OverlappingGames([batch], device="meta")
    with pytest.raises(UnknownNameError, match='output="observation"'):
        OverlappingGames([batch], ["observation"])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU: copies to it are what is tested")
def test_outputs_on_a_gpu_are_those_on_the_cpu():
    twins = batches()
    expected = [twin.reset() for twin in twins]
    with OverlappingGames(batches(), device="cuda") as games:
        for step in range(80):
            number, outputs = games.recv()
            for name, array in expected[number].items():
                assert outputs[name].is_cuda
                np.testing.assert_array_equal(outputs[name].cpu().numpy(), array, err_msg=name)
            actions = choose({"action_mask": outputs["action_mask"].cpu()}, step).cuda()
            games.send(actions)
            expected[number] = twins[number].step(actions.cpu())


def test_the_example_measures_both_ways(monkeypatch, capsys):
    threads = torch.get_num_threads()
    monkeypatch.setattr("sys.argv", ["overlap.py", "--rounds", "1", "--seconds", "0.02", "--games", "16"])
    overlap.main()
    torch.set_num_threads(threads)
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[1].strip() for row in rows] == ["none", "smart", "fireflower"]
    assert all(int(row[0]) == 16 for row in rows)
    for row in rows:
        assert min(float(speed.replace(",", "")) for speed in row[2:4]) > 0
