"""Tensors that steps write, and groups of games that are stepped while others are evaluated."""

import itertools
import os
import signal
import sys
import threading
import time

import numpy as np
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


class Uncopied:
    """Actions on a device from which a copy fails; torch's "meta" is such a device."""

    tensor = torch.empty(GAMES, dtype=torch.int64, device="meta")


def test_a_send_that_raises_loses_nothing():
    twin = Batch("standard", GAMES, seed=0)
    expected = twin.reset()
    with OverlappingGames(batches()) as games:
        number, outputs = games.recv()
        with pytest.raises(NotImplementedError, match="meta"):
            games.send(Uncopied.tensor)
        with pytest.raises(StarmineError, match="group 0 was received and waits for actions"):
            games.recv()
        actions = choose(outputs, 0)
        games.send(actions)
        expected = twin.step(actions)
        assert games.recv()[0] == 1
        games.send([5] * GAMES)
        number, outputs = games.recv()
        assert number == 0
        for name, array in expected.items():
            np.testing.assert_array_equal(outputs[name].numpy(), array, err_msg=name)


@pytest.mark.parametrize("wrong", [[5] * (GAMES + 1), [-1] * GAMES, [5.0] * GAMES, "five"], ids=str)
def test_actions_that_a_step_refuses_move_no_game_and_others_take_their_place(wrong):
    twin = Batch("standard", GAMES, seed=0)
    twin.reset()
    with OverlappingGames(batches(1)) as games:
        _, outputs = games.recv()
        actions = choose(outputs, 0)
        for _ in range(3):
            games.send(wrong)
            with pytest.raises((StarmineError, TypeError)):
                games.recv()
        games.send(actions)
        _, outputs = games.recv()
        for name, array in twin.step(actions).items():
            np.testing.assert_array_equal(outputs[name].numpy(), array, err_msg=name)


def interrupt_soon():
    """Send this process a SIGINT while it waits."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background

    def interrupt():
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()


def test_ctrl_c_while_a_step_is_awaited_loses_nothing():
    twin = Batch("standard", GAMES, seed=0)
    twin.reset()
    slow = Slow(Batch("standard", GAMES, seed=0))
    with OverlappingGames([slow, Batch("standard", GAMES, seed=1)]) as games:
        _, outputs = games.recv()
        actions = choose(outputs, 0)
        games.send(actions)
        games.recv()
        games.send([5] * GAMES)
        began = time.monotonic()
        for _ in range(2):
            interrupt_soon()
            with pytest.raises(KeyboardInterrupt):
                games.recv()
        assert time.monotonic() - began < SECONDS
        slow.may_step.set()
        number, outputs = games.recv()
        assert number == 0
        for name, array in twin.step(actions).items():
            np.testing.assert_array_equal(outputs[name].numpy(), array, err_msg=name)
        games.send(choose(outputs, 1))
        assert games.recv()[0] == 1


def test_ctrl_c_while_a_reset_waits_for_a_step_changes_nothing():
    slow = Slow(Batch("standard", GAMES, seed=0))
    with OverlappingGames([slow]) as games:
        _, outputs = games.recv()
        games.send(choose(outputs, 0))
        interrupt_soon()
        with pytest.raises(KeyboardInterrupt):
            games.reset([7])
        slow.may_step.set()
        _, outputs = games.recv()
        np.testing.assert_array_equal(outputs["obs"].numpy(), slow.batch.observe()["obs"])
        assert slow.batch.episodes.tolist() == [0] * GAMES


class Interrupts:
    """Raises KeyboardInterrupt in the block that it guards, at most once a block, when `come` is called."""

    def __init__(self):
        self.armed, self.count = False, 0

    def come(self, *_):
        if self.armed:
            self.armed, self.count = False, self.count + 1
            raise KeyboardInterrupt

    def insist(self, call):
        """Call until no interrupt comes; what it returns."""
        while True:
            try:
                self.armed = True
                found = call()
                self.armed = False
            except KeyboardInterrupt:
                continue
            return found


def play_through(interrupts, turns, before_a_call):
    """Play two groups as their twins do, whatever interrupts come."""
    made, twins = batches(), batches()
    expected = [twin.reset() for twin in twins]
    with OverlappingGames(made) as games:

        def receive():
            before_a_call()
            return games.received or games.recv()

        def send_if_waiting():
            before_a_call()
            if games.received is not None:
                games.send(actions)

        for turn in range(turns):
            number, outputs = interrupts.insist(receive)
            assert number == turn % 2
            for name, array in expected[number].items():
                np.testing.assert_array_equal(outputs[name].numpy(), array, err_msg=name)
            actions = choose(outputs, turn)
            interrupts.insist(send_if_waiting)
            assert games.received is None
            expected[number] = twins[number].step(actions)


def test_an_interrupt_at_any_line_loses_and_repeats_no_turn():
    from starmine.torch import overlap

    interrupts, lines, wanted = Interrupts(), [0], [0]

    def trace(frame, event, _):
        if frame.f_code.co_filename != overlap.__file__:
            return None
        if event == "line" and interrupts.armed:
            lines[0] += 1
            if lines[0] == wanted[0]:
                interrupts.come()
        return trace

    before = sys.gettrace()
    for wanted[0] in itertools.count(1):
        lines[0], count = 0, interrupts.count
        sys.settrace(trace)
        try:
            play_through(interrupts, 4, lambda: None)
        finally:
            sys.settrace(before)
        if interrupts.count == count:
            break
    assert wanted[0] > 40


def test_interrupts_at_random_moments_lose_and_repeat_no_turn():
    interrupts, rng = Interrupts(), np.random.default_rng(0)
    before = signal.signal(signal.SIGALRM, interrupts.come)
    try:
        play_through(interrupts, 1000, lambda: signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, 1e-4)))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupts.count > 100


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


def test_other_batches_and_devices_are_refused(monkeypatch):
    batch = Batch("standard", 2, seed=0)
    for given, found in (([], 0), ([batch, batch], 2)):
        with pytest.raises(StarmineError, match=f"batches are {found}: expected at least one, each once"):
            OverlappingGames(given)
    for device in ("meta", "gpu", 3.5):
        with pytest.raises(StarmineError, match=f"device={device!r} is not allowed: expected the CPU or a CUDA device"):
            OverlappingGames([batch], device=device)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(StarmineError, match="device='cuda' is not allowed here: PyTorch"):
        OverlappingGames([batch], device="cuda")
    with pytest.raises(StarmineError, match="pin_memory=True is not allowed here: PyTorch"):
        output_tensors(batch, pin_memory=True)
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
