"""Torch modules as players: recurrent networks keep their hidden states, or are refused."""

import numpy as np
import pytest
import torch
from torch import nn

import starmine
from starmine import HanabiVectorEnv, StarmineError, play_games
from starmine.torch import ColorNetwork, HiddenState, ModulePolicy, PolicyNetwork

VARIANT = starmine.Variant(players=3)


def network(kind, recurrent, variant=VARIANT, **settings):
    """A network with random weights whose choices differ from turn to turn."""
    torch.manual_seed(0)
    made = kind(variant, hidden=(16, 16), recurrent=recurrent, **settings)
    with torch.no_grad():
        made.heads.weight.mul_(300)
    return made


class ByHand:
    """Plays a network, with a hidden state for each seat of each game as in training."""

    def __init__(self, network):
        self.network, self.encoder, self.dtype = network, network.encoder, "bits"
        self.memory = network.initial_state(20)

    def session(self):
        return self

    def reset(self, games, seats):
        self.memory[torch.from_numpy(games), torch.from_numpy(seats)] = 0

    @torch.no_grad()
    def act_batch(self, turns):
        games, seat = torch.from_numpy(turns.game), torch.from_numpy(turns.seat)[None]
        state = HiddenState(self.memory[games], seat, torch.zeros_like(seat, dtype=torch.bool))
        mask = torch.from_numpy(turns.action_mask)
        log_probs, _, self.memory[games] = self.network(self.network.read(turns.obs), mask, state)
        return log_probs.argmax(1).numpy()


@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("kind", [PolicyNetwork, ColorNetwork])
def test_networks_play_as_in_training(kind, recurrent):
    net = network(kind, recurrent)
    games = [
        play_games([player] * 3, 20, seed=2, variant=VARIANT, record=True).trajectories.actions.tolist()
        for player in (net, ModulePolicy(net), ByHand(net))
    ]
    assert games[0] == games[1] == games[2]
    assert len(set(games[0])) > 3


def test_the_hidden_states_of_a_network_matter_and_are_cleared():
    net = network(PolicyNetwork, True)
    policy = ModulePolicy(net)

    class Forgets(ModulePolicy):
        def act_batch(self, turns):
            self.reset(turns.game, turns.seat)
            return super().act_batch(turns)

    def actions(player):
        return play_games([player] * 3, 20, variant=VARIANT, record=True).trajectories.actions.tolist()

    first = actions(policy)
    assert first != actions(Forgets(net))
    assert first == actions(policy)


def test_a_recurrent_network_is_a_partner():
    net = network(PolicyNetwork, True)
    found = []
    for partner in (net, ByHand(net)):
        env = HanabiVectorEnv(8, VARIANT, partners={0: partner, 2: [partner, "smart"]}, seed=1)
        _, info = env.reset()
        for _ in range(40):
            obs, *_, info = env.step(info["action_mask"].argmax(axis=1))
            found.append(obs)
    for one, other in zip(found[:40], found[40:], strict=True):
        np.testing.assert_array_equal(one, other)


class Gru(nn.Module):
    """A module that would need a hidden state."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({"memory": nn.GRU(658, 8), "head": nn.Linear(8, 20)})

    def forward(self, observations, action_mask):
        return self.layers["head"](self.layers["memory"](observations[None])[0][0])


@pytest.mark.parametrize(
    "memory", [nn.GRU(658, 8), nn.LSTM(658, 8), nn.GRUCell(658, 8)], ids=lambda it: type(it).__name__
)
def test_other_recurrent_modules_are_refused(memory):
    module = Gru()
    module.layers["memory"] = memory
    message = r"Gru is recurrent \(layer 'layers.memory' is a .*\), and would forget each turn: expected .*act_batch"
    for play in (
        lambda: play_games([module, "random"], 2),
        lambda: HanabiVectorEnv(2, partners={1: module}),
        lambda: ModulePolicy(module),
    ):
        with pytest.raises(StarmineError, match=message):
            play()


def test_recurrent_layers_that_do_not_run_over_turns_are_allowed():
    assert len(play_games([ModulePolicy(Gru(), recurrent=False), "random"], 2)) == 2


def test_recurrent_is_checked_against_the_module():
    plain, memory = (PolicyNetwork(VARIANT, hidden=(8,), recurrent=recurrent) for recurrent in (False, True))
    assert ModulePolicy(plain, recurrent=False).module is plain
    assert ModulePolicy(memory, recurrent=True).module is memory
    for module, recurrent, message in (
        (plain, True, "PolicyNetwork has no hidden states"),
        (TwoModes(nn.Identity()), True, "TwoModes has no hidden states"),
        (Gru(), True, "Gru is recurrent"),
        (memory, False, "PolicyNetwork is recurrent"),
    ):
        with pytest.raises(StarmineError, match=message):
            ModulePolicy(module, recurrent=recurrent)


def test_a_network_keeps_its_encoder():
    """Observations of another encoder may have as many features."""
    net = network(PolicyNetwork, False)
    assert ModulePolicy(net, encoder="canonical").encoder == "canonical"
    with pytest.raises(StarmineError, match="encoder='canonical-seer' is not allowed: the network's is 'canonical'"):
        ModulePolicy(net, encoder="canonical-seer", cheats=True)


def test_a_module_takes_extra_outputs_and_has_its_own_encoder():
    class Features(nn.Module):
        encoder = "canonical-minimal"

        def forward(self, observations, action_mask, card_features):
            assert observations.shape[1] == len(VARIANT.layout("canonical-minimal"))
            assert card_features.shape == (len(action_mask), 3, 5, 3)
            return card_features.flatten(1)[:, : action_mask.shape[1]]

    games = play_games([ModulePolicy(Features(), extra_outputs=["card_features"])] * 3, 4, variant=VARIANT)
    assert len(games) == 4


def test_generated_games_of_a_sampling_module_do_not_depend_on_earlier_ones(tmp_path):
    from starmine.data import Dataset, generate

    class Uniform(nn.Module):
        def forward(self, observations, action_mask):
            return torch.zeros(action_mask.shape)

    policy = ModulePolicy(Uniform(), sampled=True)
    for name in ("one", "other"):
        generate([policy, policy], 20, tmp_path / name, progress=False, num_threads=1)
    one, other = (Dataset(tmp_path / name)[:].trajectories.actions for name in ("one", "other"))
    np.testing.assert_array_equal(one, other)


class TwoModes(nn.Module):
    """A module whose layer computes something else in the mode of training."""

    def __init__(self, layer):
        super().__init__()
        self.linear, self.layer = nn.Linear(658, 20), layer

    def forward(self, obs, mask):
        return self.layer(self.linear(obs))


class Attention(nn.MultiheadAttention):
    """The attention of one query to itself."""

    def forward(self, queries):
        queries = queries[:, None]
        return super().forward(queries, queries, queries)[0][:, 0]


class DropoutByFunction(nn.Module):
    """Has the rate of its dropout as torch's own layers have it."""

    dropout = 0.5

    def forward(self, logits):
        return nn.functional.dropout(logits, self.dropout, self.training)


TWO_MODES = [
    nn.Dropout(0.5),
    nn.BatchNorm1d(20),
    nn.RReLU(),
    Attention(20, 1, dropout=0.1, batch_first=True),
    DropoutByFunction(),
    nn.utils.parametrizations.spectral_norm(nn.Linear(20, 20)),
]


@pytest.mark.parametrize("layer", TWO_MODES, ids=lambda layer: type(layer).__name__)
def test_the_mode_of_training_is_refused(layer):
    """Moves would differ from call to call, and depend on the other games."""
    module = TwoModes(layer)
    with pytest.raises(StarmineError, match=r"TwoModes is in the mode of training.*call its eval\(\) first"):
        play_games([module, "smart"], 2)
    policy = ModulePolicy(module.eval())
    assert len(play_games([policy, "smart"], 2)) == 2
    module.train()
    with pytest.raises(starmine.BotError, match="mode of training"):
        play_games([policy, "smart"], 2)


@pytest.mark.parametrize("training", [False, True])
def test_normalisation_over_the_games_of_a_call_is_refused(training):
    """A game's moves would depend on the other games."""
    module = TwoModes(nn.BatchNorm1d(20, track_running_stats=False)).train(training)
    for play in (
        lambda: play_games([module, "smart"], 2),
        lambda: HanabiVectorEnv(2, partners={1: module}),
        lambda: ModulePolicy(module),
    ):
        with pytest.raises(StarmineError, match=r"layer 'layer' is a BatchNorm1d.* depends on the other games"):
            play()


@pytest.mark.parametrize("layer", [nn.Dropout(0.0), nn.LayerNorm(20), nn.GroupNorm(4, 20), nn.RReLU(0.2, 0.2)])
def test_layers_of_one_mode_play_in_each(layer):
    assert len(play_games([TwoModes(layer), "smart"], 2)) == 2


@pytest.mark.parametrize("dtype", [torch.bool, torch.complex64])
def test_actions_are_integers(dtype):
    class Odd(nn.Module):
        def forward(self, obs, mask):
            return torch.ones(len(mask), dtype=dtype)

    with pytest.raises(starmine.BotError, match="integer actions"):
        play_games([Odd(), "smart"], 1)


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (nn.Dropout(0.5), "mode of training"),
        (nn.BatchNorm1d(20, track_running_stats=False).eval(), "layer 'layer' is a BatchNorm1d"),
        (nn.GRU(20, 20).eval(), "layer 'layer' is a GRU"),
        (nn.LSTMCell(20, 20).eval(), "layer 'layer' is a LSTMCell"),
    ],
    ids=lambda it: type(it).__name__,
)
def test_layers_in_torchscript_are_seen(layer, message):
    with pytest.raises(StarmineError, match=message):
        ModulePolicy(TwoModes(torch.jit.script(layer)))


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
def test_torchscript_plays():
    assert len(play_games([torch.jit.script(TwoModes(nn.BatchNorm1d(20)).eval()), "smart"], 2)) == 2
