"""The GPU path of examples/ppo.py: what a CUDA graph records, groups of games, and graphs where there is a GPU."""

import numpy as np
import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from training_runs import needs_train_extra

from starmine.torch import ActorCritic, ColorFeatures, ColorNetwork, Graphed, color_features
from starmine.torch.unpack import _with_torch

pytestmark = needs_train_extra
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


class Recorded:
    """A stand-in for `Graphed` on a CPU: the third call records the operations, and later calls only repeat them.

    As with a CUDA graph, the arguments are copied into the same memory for each call, the results of a call are
    overwritten by the next, and everything that is not an operation on tensors is as it was in the recorded call.
    """

    made = ()

    def __init__(self, function, device):
        self.function, self.calls, self.graphs = function, {}, {}
        Recorded.made += (self,)

    def __call__(self, *arguments):
        shapes = tuple(argument.shape for argument in arguments)
        self.calls[shapes] = self.calls.get(shapes, 0) + 1
        if self.calls[shapes] <= 2:
            return self.function(*arguments)
        if shapes not in self.graphs:
            return self.record(shapes, arguments)
        graph, own, results = self.graphs[shapes]
        for to, argument in zip(own, arguments, strict=True):
            to.copy_(argument)
        with torch.no_grad():
            found = graph(*own)
        for to, value in zip(parts(results), parts(found), strict=True):
            to.copy_(value)
        return results

    def record(self, shapes, arguments):
        own, results = [argument.clone() for argument in arguments], []

        def function(*arguments):
            results.append(self.function(*arguments))
            return results[0]

        graph = make_fx(function)(*own)
        kept = tuple(value.detach().clone() for value in parts(results[0]))
        self.graphs[shapes] = graph, own, kept if isinstance(results[0], tuple) else kept[0]
        return self.graphs[shapes][2]


def parts(results):
    return results if isinstance(results, tuple) else (results,)


@pytest.fixture
def recorded(monkeypatch):
    """Let scripts record: all computations are operations of PyTorch, as on a GPU."""
    import ppo
    import ppo_distributed

    def read(self, bits, dtype=torch.float32):
        return self._read_with_torch(bits).to(dtype)

    monkeypatch.setattr(ColorFeatures, "read", read)
    monkeypatch.setattr(color_features, "unpack_bits", lambda bits, count: _with_torch(bits, count, torch.float32))
    for network in (ActorCritic, ColorNetwork):
        monkeypatch.setattr(network, "fuse_kernels", lambda self: None)
    monkeypatch.setattr(Recorded, "made", ())
    for module in (ppo, ppo_distributed):
        monkeypatch.setattr(module, "Graphed", Recorded)


def every_tensor(learner):
    """The memory of all tensors that a learner keeps."""
    kept = [value for value in vars(learner).values() if isinstance(value, torch.Tensor)]
    kept += [*learner.policy.parameters(), *learner.average.network.parameters(), learner.average._updates]
    optimizers = [learner.optimizer, *([learner.muon] if learner.muon else [])]
    kept += [value for one in optimizers for state in one.state.values() for value in state.values()]
    return [tensor.data_ptr() for tensor in [*kept, learner.weights.grad, learner.optimizer.param_groups[0]["lr"]]]


def updates_of(learner, count=6):
    found = []
    for update in range(count):
        found.append(learner.update(update / count))
        if update == 2:
            memory = every_tensor(learner)
    assert every_tensor(learner) == memory  # a graph goes on reading and writing the same memory
    return found


CHANGING = {"hold": 0.2, "lr_end": 0.0, "entropy_end": 0.01, "epochs": 2, "groups": 2, "dtype": "float32"}


OPTIONS = {"self-play": {}, "partners": {"players": 3, "partners": "piers=2,simple"}, "Muon": {"optimizer": "muon"}}


@pytest.mark.parametrize("script", ["ppo", "ppo_recurrent", "ppo_distributed"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
def test_recorded_updates_equal_direct_ones(script, options, tiny, recorded, monkeypatch):
    from importlib import import_module

    module = import_module(script)
    kind = {"ppo": "PPO", "ppo_recurrent": "RecurrentPPO", "ppo_distributed": "DistributedPPO"}[script]
    if script == "ppo_distributed":
        monkeypatch.setattr(module.dist, "all_reduce", lambda tensor: tensor.mul_(2))
        monkeypatch.setattr(module.dist, "get_world_size", lambda: 2)
    recorded_learner = getattr(module, kind)(tiny(module, **CHANGING, **options))
    found = updates_of(recorded_learner)
    for made in Recorded.made[:2] if script != "ppo_distributed" else Recorded.made[2:]:
        assert len(made.graphs) == len(made.calls) == 1, "no shape changes between replays"
        assert next(iter(made.calls.values())) > 3

    import ppo

    monkeypatch.setattr(ppo, "Graphed", lambda function, device: function)
    monkeypatch.setattr(module, "Graphed", lambda function, device: function, raising=False)
    direct = getattr(module, kind)(tiny(module, **CHANGING, **options))
    for expected, measures in zip(updates_of(direct), found, strict=True):
        assert measures == pytest.approx(expected, rel=1e-4, abs=1e-6)
    torch.testing.assert_close(recorded_learner.weights, direct.weights)
    torch.testing.assert_close(recorded_learner.average.network.state_dict(), direct.average.network.state_dict())
    assert recorded_learner.games.state_dict() == direct.games.state_dict()


@pytest.mark.parametrize("options", [{}, {"network": "plain"}], ids=["by colour", "plain"])
def test_a_compiled_network_learns_the_same(options, tiny, recorded, monkeypatch):
    """The whole network is one graph of torch.compile, and reads the weights that the optimizer changes."""
    import ppo

    compile = torch.compile
    monkeypatch.setattr(ppo, "Graphed", lambda function, device: function)
    monkeypatch.setattr(
        torch, "compile", lambda network, **options: compile(network, backend="aot_eager", fullgraph=True, **options)
    )
    compiled = ppo.PPO(tiny(ppo, **CHANGING, **options, compile=True))
    assert compiled.network is not compiled.policy
    found = updates_of(compiled)
    direct = ppo.PPO(tiny(ppo, **CHANGING, **options, compile=False))
    assert direct.network is direct.policy
    for expected, measures in zip(updates_of(direct), found, strict=True):
        assert measures == pytest.approx(expected, rel=1e-4, abs=1e-6)
    torch.testing.assert_close(compiled.average.network.state_dict(), direct.average.network.state_dict())


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_groups_lose_no_game_and_mix_no_rows(groups, tiny):
    """Each stored turn is the next one of its game, and each finished game replays to the rewards that were stored."""
    import ppo

    from starmine.training import training_seed

    arguments = tiny(ppo, groups=groups, rollout=24, lost_game_penalty=0.0, lost_points_share=0.0, dtype="float32")
    learner = ppo.PPO(arguments)
    size, features = 8 // groups, learner.policy.color_features
    states, episodes, finished = [None] * 8, [0] * 8, 0
    for _ in range(4):
        learner.collect()
        for game in range(8):
            for turn in range(24):
                if states[game] is None:
                    seed = training_seed(1) + (game // size << 56)
                    rules = learner.games.rewards.rules
                    states[game] = rules.new_game(seed=seed, game=game % size, episode=episodes[game])
                state = states[game]
                bits = np.packbits(state.encode(state.current_player), bitorder="little")
                bits = np.pad(bits, (0, -len(bits) % 8))[None]
                assert torch.equal(learner.inputs[turn, game], features.read(bits)[0])
                assert learner.mask[turn, game].tolist() == list(state.legal_action_mask())
                before = state.score
                state.apply(int(learner.action[turn, game]))
                assert learner.reward[turn, game] == state.score - before
                assert learner.terminated[turn, game] == state.is_terminal
                if state.is_terminal:
                    states[game], episodes[game], finished = None, episodes[game] + 1, finished + 1
        learner.games.take_finished()
    assert finished > 8


def test_a_cpu_runs_the_function_itself():
    calls = []

    def function(x):
        calls.append(x)
        return x + 1

    x, graphed = torch.ones(2), Graphed(function, torch.device("cpu"))
    assert [graphed(x).tolist() for _ in range(4)] == [[2, 2]] * 4
    assert all(call is x for call in calls)


@needs_gpu
def test_a_graph_computes_what_its_function_does():
    device, total = torch.device("cuda"), torch.zeros((), device="cuda")

    def function(x):
        total.add_(x.sum())
        return x * total, torch.rand(3, device=device)

    graphed, drawn = Graphed(function, device), set()
    for call in range(8):
        x = torch.full((2 + call % 2,), float(call), device=device)
        product, random = graphed(x)
        assert torch.equal(product, x * total)
        drawn.add(tuple(random.tolist()))
    assert total.item() == sum(call * (2 + call % 2) for call in range(8))
    assert len(drawn) == 8


@needs_gpu
@pytest.mark.parametrize("script", ["ppo", "ppo_recurrent"])
def test_updates_on_a_gpu_are_the_same_with_and_without_graphs(script, tiny, monkeypatch):
    from importlib import import_module

    import ppo

    module = import_module(script)
    kind = {"ppo": "PPO", "ppo_recurrent": "RecurrentPPO"}[script]
    options = {**CHANGING, "variant": "standard", "device": "cuda", "num_envs": 256, "rollout": 16, "minibatch": 512}
    learner = getattr(module, kind)(tiny(module, **options))
    found = [learner.update(update / 10) for update in range(10)]
    monkeypatch.setattr(ppo, "Graphed", lambda function, device: function)
    direct = getattr(module, kind)(tiny(module, **options))
    for update, measures in enumerate(found):
        assert measures == pytest.approx(direct.update(update / 10), rel=0.05, abs=0.01)
    torch.testing.assert_close(learner.weights, direct.weights, rtol=0.01, atol=0.01)
