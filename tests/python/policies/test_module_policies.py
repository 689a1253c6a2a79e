"""Torch modules as players: recurrent networks keep their hidden states, or are refused."""

import numpy as np
import pytest
import torch
from torch import nn

import starmine
from starmine import HanabiVectorEnv, StarmineError, play_games
from starmine.torch import ColorFeatures, ColorNetwork, HiddenState, ModulePolicy, PolicyNetwork

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
        play_games([player] * 3, 20, seed=2, variant=VARIANT).actions.tolist()
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
        return play_games([player] * 3, 20, variant=VARIANT).actions.tolist()

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


class OwnCell(nn.Module):
    """A module with a hidden state that no layer's class tells."""

    def __init__(self, results=2):
        super().__init__()
        self.cell, self.results = nn.Linear(658, 20), results

    def forward(self, observations, action_mask, h=None):
        logits = self.cell(observations)
        return (logits, logits.sum(1), logits)[: self.results]


class ThreeResults(OwnCell):
    """A module whose third result may be a hidden state."""

    def forward(self, observations, action_mask):
        return super().forward(observations, action_mask)


@pytest.mark.parametrize("module", [Gru(), OwnCell()], ids=lambda module: type(module).__name__)
def test_other_recurrent_modules_are_refused(module):
    for play in (
        lambda: play_games([module, "random"], 2),
        lambda: HanabiVectorEnv(2, partners={1: module}),
        lambda: ModulePolicy(module),
        lambda: ModulePolicy(module, recurrent=True),
    ):
        with pytest.raises(StarmineError):
            play()
    assert len(play_games([ModulePolicy(module, recurrent=False), "random"], 2)) == 2


def test_a_module_returns_no_more_than_logits_and_values():
    assert len(play_games([ThreeResults(results=2), "random"], 2)) == 2
    with pytest.raises(starmine.BotError):
        play_games([ThreeResults(results=3), "random"], 2)
    assert len(play_games([ModulePolicy(ThreeResults(results=3), recurrent=False), "random"], 2)) == 2


class OnFeatures(nn.Module):
    """A module that reads packed observations with `ColorFeatures`."""

    def __init__(self, variant):
        super().__init__()
        self.features = ColorFeatures(variant)
        self.layer = nn.Linear(self.features.length, variant.num_actions)

    def forward(self, bits, action_mask):
        assert bits.dtype == torch.uint8
        return self.layer(self.features.read(bits))


class OnNumbers(OnFeatures):
    """The same module, which packs observations itself."""

    def forward(self, observations, action_mask):
        bits = np.packbits(observations.numpy().astype(np.uint8), axis=1, bitorder="little")
        return super().forward(torch.from_numpy(np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8)))), action_mask)


def test_a_module_takes_packed_observations():
    torch.manual_seed(1)
    packs, on_features = OnNumbers(VARIANT), OnFeatures(VARIANT)
    on_features.load_state_dict(packs.state_dict())
    rules = {"games": 20, "variant": VARIANT}
    expected = play_games([packs] * 3, **rules).actions
    policy = ModulePolicy(on_features, dtype="bits")
    assert play_games([policy] * 3, **rules).actions.tolist() == expected.tolist()
    with pytest.raises(starmine.StarmineError):
        ModulePolicy(on_features, dtype="float32")
    with pytest.raises(starmine.StarmineError, match="text"):  # not an unknown name "c"
        ModulePolicy(on_features, extra_outputs="card_features")


def test_observations_have_the_dtype_of_the_module():
    assert len(play_games([OneLayer(nn.Identity()).bfloat16(), "smart"], 2)) == 2


def test_a_module_plays_its_variant_alone():
    module, rules = OneLayer(nn.Identity()), starmine.variant("standard", players=2)
    other = starmine.variant("empty-hints", players=2)
    assert len(play_games([module, "random"], 2, variant=other)) == 2
    own = OneLayer(nn.Identity())
    own.variant = rules
    for policy in (own, ModulePolicy(own), ModulePolicy(module, variant=rules)):
        assert len(play_games([policy, "random"], 2, variant=rules)) == 2
        with pytest.raises(starmine.VariantError):
            play_games([policy, "random"], 2, variant=other)
    with pytest.raises(starmine.VariantError):
        ModulePolicy(network(PolicyNetwork, False), variant=other)


def test_a_network_keeps_its_encoder():
    """Observations of another encoder may have as many features."""
    net = network(PolicyNetwork, False)
    assert ModulePolicy(net, encoder="canonical").encoder == "canonical"
    with pytest.raises(StarmineError):
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
    one, other = (Dataset(tmp_path / name)[:].actions for name in ("one", "other"))
    np.testing.assert_array_equal(one, other)


class OneLayer(nn.Module):
    """A module with a layer behind a linear one."""

    def __init__(self, layer):
        super().__init__()
        self.linear, self.layer = nn.Linear(658, 20), layer

    def forward(self, obs, mask):
        return self.layer(self.linear(obs))


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
def test_torchscript_plays():
    assert len(play_games([torch.jit.script(OneLayer(nn.BatchNorm1d(20)).eval()), "smart"], 2)) == 2


def test_a_network_keeps_what_it_reads():
    plain, colors, remembers = (
        network(kind, memory) for kind, memory in [(PolicyNetwork, False), (ColorNetwork, False), (PolicyNetwork, True)]
    )
    assert ModulePolicy(plain, dtype="bits", recurrent=False).dtype == "bits"
    assert ModulePolicy(remembers, recurrent=True).recurrent
    for module, options in (
        (plain, {"extra_outputs": ["card_features"]}),
        (colors, {"recurrent": True}),
        (remembers, {"recurrent": False}),
        (colors.half(), {}),
        (plain.bfloat16(), {}),
    ):
        with pytest.raises(StarmineError):
            ModulePolicy(module, **options)


WRAPPERS = {
    "compiled": torch.compile,
    "parallel": nn.DataParallel,
    "both": lambda it: nn.DataParallel(torch.compile(it)),
}


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("kind", [PolicyNetwork, ColorNetwork])
def test_a_wrapped_network_plays_as_the_network(kind, wrap):
    own, other = network(kind, True), network(kind, True)
    wrapped = wrap(own)
    expected = play_games([own] * 3, 5, variant=VARIANT)
    assert play_games([wrapped] * 3, 5, variant=VARIANT).actions.tolist() == expected.actions.tolist()
    for tensor in other.parameters():
        tensor.data.zero_()
    other.load_state_dict(wrapped.state_dict())
    assert all(bool((tensor == other.state_dict()[name]).all()) for name, tensor in own.state_dict().items())


def test_a_module_that_calls_a_network_is_played_itself():
    class Worst(nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module

        def forward(self, observations, action_mask):
            return action_mask.float()

    policy = ModulePolicy(Worst(network(PolicyNetwork, False)))
    assert type(policy.module) is Worst


def test_an_error_of_the_width_says_so():
    class Wide(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(688, 20)

        def forward(self, observations, action_mask):
            return self.layer(observations)

    with pytest.raises(starmine.BotError) as caught:
        play_games([Wide(), "random"], 2)
    assert "688 inputs" in str(caught.value)
    assert "658" in str(caught.value)


def test_evaluations_say_which_rules_are_assumed():
    silent, told = OneLayer(nn.Identity()), ModulePolicy(OneLayer(nn.Identity()), variant=starmine.Variant())
    found = starmine.evaluate({"silent": silent, "told": told, "random": "random"}, 2)
    assert found.settings.assumed == ("silent",)
    assert found.to_dict()["settings"]["assumed"] == ["silent"]
    assert "silent did not say which rules" in str(found)
    assert "did not say" not in str(starmine.evaluate({"told": told, "random": "random"}, 2))
