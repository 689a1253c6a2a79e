"""starmine.torch's network: its memory, its card features, and the files that it writes."""

import json

import numpy as np
import pytest
import torch
from safetensors import safe_open

import starmine
from starmine.torch import ColorNetwork, HiddenState, HintFeatures, ModulePolicy, PolicyNetwork, SeatGRU


def hidden_state(values, seats, episode_start):
    return HiddenState(values, torch.tensor(seats), torch.tensor(episode_start))


def test_a_seat_remembers_its_own_turns_of_one_game():
    torch.manual_seed(0)
    memory = SeatGRU(4)
    x = torch.randn(5, 1, 4, requires_grad=True)  # five turns of one game
    seats, begins = [[0], [1], [0], [0], [1]], [[False]] * 3 + [[True]] + [[False]]
    states, last = memory(x.flatten(0, 1), hidden_state(torch.zeros(1, 2, 4), seats, begins))
    reached = []
    for turn in range(5):
        (gradient,) = torch.autograd.grad(states[turn].sum(), x, retain_graph=True)
        reached.append(gradient.abs().sum((1, 2)).nonzero().flatten().tolist())
    # Of its own seat, of its own game, and none of the future.
    assert reached == [[0], [1], [0, 2], [3], [4]]
    assert torch.equal(last[0, 0], states[3])
    assert torch.equal(last[0, 1], states[4])


def test_a_memory_turn_by_turn_is_that_of_the_sequence():
    torch.manual_seed(1)
    memory, games, turns = SeatGRU(4), 3, 6
    x, start = torch.randn(turns, games, 4), torch.randn(games, 2, 4)
    seats, begins = torch.randint(2, (turns, games)), torch.rand(turns, games) < 0.3
    states, last = memory(x.flatten(0, 1), HiddenState(start, seats, begins))
    for turn, wanted in enumerate(states.view(turns, games, 4)):
        state, start = memory(x[turn], HiddenState(start, seats[turn, None], begins[turn, None]))
        assert torch.allclose(state, wanted, atol=1e-6)
    assert torch.allclose(start, last, atol=1e-6)


def expected_features(view, variant):
    """Counted naively: of each card in another hand, then of every card by what its hints allow."""
    stacks = view.fireworks

    def kind(card):
        return [float(card.rank == stacks[card.suit]), float(card.rank < stacks[card.suit])]

    def filled(hand):
        return hand + [[0.0, 0.0]] * (variant.hand_size - len(hand))

    rows = []
    for hand in view.hands[1:]:
        rows += filled([kind(card) for card in hand])
    for offset, hand in enumerate(view.hands):
        known = [view.knowledge(offset, slot).plausible for slot in range(len(hand))]
        rows += filled([np.mean([kind(card) for card in cards], 0) for cards in known])
    return np.concatenate(rows)


@pytest.mark.parametrize(("name", "players"), [("standard", 2), ("avalanche", 4), ("small", 3)])
def test_card_features_are_what_hints_and_fireworks_say(name, players):
    variant = starmine.variant(name, players=players)
    features = HintFeatures(variant.layout())
    for seed in range(5):
        state, rng = variant.new_game(seed=seed), np.random.default_rng(seed)
        while not state.is_terminal:
            seat = state.current_player
            found = features(torch.from_numpy(state.encode(seat)).float()[None])[0].numpy()
            np.testing.assert_allclose(found, expected_features(state.view(seat), variant), atol=1e-6)
            state.apply(int(rng.choice(state.legal_actions())))


def test_a_policy_file_says_what_it_holds(tmp_path):
    variant = starmine.variant("small")
    network = PolicyNetwork(variant, hidden=(8, 4), recurrent=True)
    path = tmp_path / "policy.safetensors"
    network.save(path, steps=7)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    with safe_open(path, "pt") as file:
        found = json.loads(file.metadata()["starmine"])
        assert {name: file.get_slice(name).get_shape() for name in file.keys()} == {  # noqa: SIM118
            name: list(weight.shape) for name, weight in network.state_dict().items()
        }
    assert starmine.Variant.from_json(json.dumps(found.pop("variant"))) == variant
    assert found == {
        "format": 1,
        "encoder": "canonical",
        "hidden": [8, 4],
        "recurrent": True,
        "card_features": True,
        "layer_norm": False,
        "about": {"steps": 7},
    }


def test_a_weight_that_float16_cannot_hold_is_refused(tmp_path):
    network = PolicyNetwork(starmine.variant("small"), hidden=(8,))
    with torch.no_grad():
        network.heads.bias[0] = 1e5
    path = tmp_path / "policy.safetensors"
    with pytest.raises(starmine.StarmineError):
        network.save(path)
    assert not path.exists()


def test_a_network_that_computes_otherwise_than_its_file_says_is_not_saved(tmp_path):
    class Colder(PolicyNetwork):
        def evaluate(self, inputs, hidden_state):
            logits, value, hidden = super().evaluate(inputs, hidden_state)
            return 2 * logits, value, hidden

    class Named(PolicyNetwork):
        def describe(self):
            return super().describe()

    network = Colder(starmine.Variant(), hidden=(8,))
    with pytest.raises(starmine.StarmineError):
        network.save(tmp_path / "colder.safetensors")
    assert not list(tmp_path.iterdir())
    Named(starmine.Variant(), hidden=(8,)).save(tmp_path / "named.safetensors")
    with pytest.raises(starmine.UnknownNameError):
        starmine.load_policy(tmp_path / "colder.safetensors")


@pytest.mark.parametrize("network", [ColorNetwork, PolicyNetwork])
def test_widths_of_numpy_are_those_of_python(network, tmp_path):
    made, seed = network(starmine.Variant(), hidden=np.array([16, 8])), np.int64(3)
    made.save(tmp_path / "policy.safetensors")
    usual = network(starmine.Variant(), hidden=(16, 8))
    assert ModulePolicy(made, seed=seed).identity_text("") == ModulePolicy(usual, seed=3).identity_text("")
