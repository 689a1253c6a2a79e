"""benchmarks/ablation.py: its controls train, and its memory of hints is what the moves of the games say."""

import json
import random
import re

import numpy as np
import pytest
from training_runs import needs_train_extra

import starmine

pytestmark = [pytest.mark.slow, needs_train_extra]


@pytest.fixture(scope="module")
def ablation():
    """The script as a module."""
    import ablation

    return ablation


@pytest.mark.parametrize("control", ["raw-colors", "flat-exact", "memory"])
def test_a_control_trains_and_tells_its_scores(ablation, tiny, tmp_path, monkeypatch, control):
    monkeypatch.setattr(ablation, "GAMES", 8)
    arguments = tiny(ablation.ppo, total_steps=128)
    given = ablation.ControlArgs(**vars(arguments) | {"control": control})
    ablation.main(given)
    found = json.loads((tmp_path / "run" / "scores.json").read_text())
    assert found["greedy"]["games"] == found["sampled"]["games"] == 8
    assert found["about"]["arguments"]["total_steps"] == 128


def test_memory_beside_a_partner_is_for_two_players(ablation, tiny):
    arguments = tiny(ablation.ppo, variant="standard", partners="smart", players=3)
    given = ablation.ControlArgs(**vars(arguments) | {"control": "memory"})
    with pytest.raises(
        starmine.StarmineError, match="players=3 is not allowed with --control memory and a partner: expected 2"
    ):
        ablation.Control(given)


def test_a_network_with_memory_begins_as_a_policy_without(ablation):
    policy = starmine.load_policy("ippo-2p")
    batch = starmine.Batch(policy.variant, 8, dtype="bits", seed=3)
    memory, outputs = ablation.HintMemory(policy.variant, "canonical", 8), batch.observe()
    network = ablation.MemoryColors(policy.variant, matmul_dtype=ablation.torch.float32)
    network.load_state_dict(policy.network().state_dict())
    mask = ablation.torch.as_tensor(outputs["action_mask"])
    with_memory, value, _ = network(network.read(memory.read(outputs)), mask)
    plain = policy.network()
    expected, expected_value, _ = plain(plain.read(outputs["obs"]), mask)
    np.testing.assert_allclose(with_memory.detach(), expected.detach(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(value.detach(), expected_value.detach(), rtol=1e-5, atol=1e-5)


def hinted_by_the_moves(state, cards):
    """Apply what the last move of a game says to the cards: [turns since the hint, by colour, place] of each slot."""
    event, variant = str(state.history[-1]), state.variant
    actor, touched = int(re.match(r"seat (\d)", event)[1]), re.search(r"slots? ([\d ]+)\)", event)
    for card in (card for hand in cards for card in hand if 0 < card[0] < 31):
        card[0] += 1
    if touched is None:
        del cards[actor][int(re.search(r"(?:play|discard) (\d)", event)[1])]
        cards[actor].append([0, 0, 0])
        return
    slots = [int(slot) for slot in touched[1].split()]
    target = (actor + int(re.search(r"hint \+(\d)", event)[1])) % variant.players
    by_color = not re.search(r"hint \+\d \d", event)
    for slot in slots:
        cards[target][slot] = [1, int(by_color), (slot == max(slots)) + 2 * (slot == min(slots))]


@pytest.mark.parametrize(
    ("players", "partner", "seat"), [(2, None, 0), (3, None, 0), (2, "smart", 0), (2, "smart", 1), (2, "value", 1)]
)
def test_the_memory_of_hints_is_what_the_moves_say(ablation, players, partner, seat):
    variant, games = starmine.Variant(players=players), 12
    seats = {} if partner is None else {1 - seat: partner}
    inner = starmine.Batch(variant, games, dtype="bits", seed=5, partners=seats)
    width = inner.observe()["obs"].shape[1]
    batch = ablation.MemoryBatch(inner, ablation.HintMemory(variant, "canonical", games, partner is not None))
    outputs, generator = batch.observe(), random.Random(0)
    nothing = [[[0, 0, 0] for _ in range(variant.hand_size)] for _ in range(players)]
    states, episodes = [None] * games, [-1] * games
    cards = [[] for _ in range(games)]

    def apply(game, action):
        states[game].apply(action)
        hinted_by_the_moves(states[game], cards[game])

    def go_on(game):
        """Deal the next game if this one is over, and let the partner move."""
        while states[game] is None or states[game].is_terminal or states[game].current_player in seats:
            if states[game] is None or states[game].is_terminal:
                episodes[game] += 1
                states[game] = variant.new_game(seed=5, game=game, episode=episodes[game])
                cards[game] = json.loads(json.dumps(nothing))
            else:
                apply(game, states[game].suggest(partner, seed=5))

    for game in range(games):
        go_on(game)
    for _ in range(120):
        actions = [generator.choice(np.flatnonzero(mask)) for mask in outputs["action_mask"]]
        outputs = batch.step(np.array(actions))
        found = outputs["obs"][:, width : width + 2 * players * variant.hand_size]
        for game, action in enumerate(actions):
            apply(game, int(action))
            go_on(game)
            seat = states[game].current_player
            own_first = [card for offset in range(players) for card in cards[game][(seat + offset) % players]]
            assert found[game].tolist() == [part for ago, hue, place in own_first for part in (ago + 32 * hue, place)]
