"""Features by colour are what they are defined to be, and a network by colour treats all colours alike."""

import copy
import random

import numpy as np
import pytest
import torch
from random_variants import random_variant

import starmine
from starmine.data.colors import permute_colors
from starmine.torch import ColorFeatures, ColorNetwork, HiddenState, PolicyNetwork
from starmine.torch.pooling import fused_pool, pool

VARIANTS = [
    starmine.Variant(),
    starmine.Variant(players=4),
    starmine.variant("avalanche", players=3),
    starmine.variant("timed-display"),
    starmine.variant("traditional"),
    *(random_variant(random.Random(seed)) for seed in range(4)),
]
ids = [str(index) for index in range(len(VARIANTS))]


def accepts(name, players):
    try:
        starmine.variant(name, players=players)
    except starmine.VariantError:
        return False
    return True


def packed(state):
    bits = np.packbits(state.encode(state.current_player), bitorder="little")
    return np.pad(bits, (0, -len(bits) % 8))[None]


def positions(variant, games=6, seed=0):
    """States of random games, with some of their turns."""
    generator = random.Random(seed)
    for game in range(games):
        state = variant.new_game(seed=seed, game=game)
        while not state.is_terminal:
            if generator.random() < 0.2:
                yield state.copy()
            state.apply(generator.choice(state.legal_actions()))


def sections(features, numbers):
    """The rows of the colours and the rest of one observation, by name and in shape."""
    width = len(features.row)
    rows = numbers[: features.colors * width].reshape(features.colors, width)
    rest = numbers[features.colors * width :]
    by_color = {part.name: rows[:, part.slice].reshape(-1, *part.shape) for part in features.row}
    return by_color, {part.name: rest[part.slice].reshape(part.shape) for part in features.rest}


def outlook(state):
    """Which cards are playable, dead and critical, bool (colors, ranks) each, and the copies that are left."""
    variant = state.variant
    left = np.array(variant.copies)
    for card in state.discard_pile:
        left[card.suit, card.rank] -= 1
    ranks = np.arange(variant.ranks)
    heights = np.array(state.fireworks)[:, None]
    gone = (left == 0) & (ranks >= heights)
    dead = (ranks < heights) | np.maximum.accumulate(gone, axis=1)
    playable = (ranks == heights) & ~dead
    return playable, dead, (left == 1) & ~dead, left


@pytest.mark.parametrize("variant", VARIANTS, ids=ids)
@pytest.mark.parametrize("belief", ["slots", "hands"])
def test_features_are_what_they_are_defined_to_be(variant, belief):
    features = ColorFeatures(variant, belief=belief)
    for state in positions(variant):
        seat, slots = state.current_player, variant.hand_size
        view = state.view(seat)
        rows, rest = sections(features, features.read(packed(state))[0].numpy())
        playable, dead, critical, left = outlook(state)
        unseen = left - (np.arange(variant.ranks) < np.array(state.fireworks)[:, None])
        flags = np.stack([playable, dead, critical], -1)
        visible = np.zeros((variant.players - 1, slots, variant.colors, variant.ranks))
        for offset in range(1, variant.players):
            for slot, card in enumerate(state.hands[(seat + offset) % variant.players]):
                visible[offset - 1, slot, card.suit, card.rank] = 1
                unseen[card.suit, card.rank] -= 1
        assert (rows["cards"] == visible.transpose(2, 0, 1, 3)).all()
        assert (rows["card_flags"] == np.einsum("oscr,crf->cosf", visible, flags)).all()
        assert (rest["flags"] == np.einsum("oscr,crf->osf", visible, flags)).all()
        assert (rest["card_ranks"] == visible.sum(2)).all()
        if belief == "hands":
            own = np.zeros((slots, variant.colors, variant.ranks))
            exact = view.marginals()
            own[: len(exact)] = exact.reshape(len(exact), variant.colors, variant.ranks)
        else:
            plausible = plausible_of(state, seat)
            own = plausible * unseen
            own = own / np.maximum(own.sum((1, 2), keepdims=True), 1e-9)
        np.testing.assert_allclose(rows["own"], own.transpose(1, 0, 2), atol=1e-6)
        np.testing.assert_allclose(rest["own_flags"], np.einsum("scr,crf->sf", own, flags), atol=1e-6)
        others = [plausible_of(state, (seat + offset) % variant.players) for offset in range(1, variant.players)]
        assert (rows["plausible"] == np.array(others).transpose(2, 0, 1, 3)).all()
        copies = np.array(variant.copies)
        np.testing.assert_allclose(rows["unseen"], unseen / copies, atol=1e-6)
        np.testing.assert_allclose(rows["discarded"], (copies - left) / copies, atol=1e-6)
        assert (rows["firework"] == (np.arange(1, variant.ranks + 1) == np.array(state.fireworks)[:, None])).all()
        assert (rows["dead"] == dead).all()
        assert (rows["critical"] == critical).all()
        assert ("copies" in rows) == bool((copies != copies[0]).any())
        bits = state.encode(seat)
        layout = variant.layout("canonical")
        for name in ("last_color", "last_card"):
            assert (rows[name].ravel() == bits[layout[name].slice]).all()
        for name in set(rest) - {"own_flags", "flags", "card_ranks", "hinted_ranks"}:
            assert (rest[name].ravel() == bits[layout[name].slice]).all()


def plausible_of(state, seat):
    """What the hints allow in each slot of a hand: (slots, colors, ranks); 0 without a card."""
    variant = state.variant
    kinds = variant.colors * variant.ranks
    layout = variant.layout("canonical")["knowledge"]
    bits = state.encode(seat)[layout.slice].reshape(layout.shape)[0]
    return bits[:, :kinds].reshape(-1, variant.colors, variant.ranks)


def games_of(variant, number):
    return starmine.play_games(["random"] * variant.players, number, variant=variant)


@pytest.mark.parametrize("variant", VARIANTS[:4], ids=ids[:4])
@pytest.mark.parametrize("belief", ["slots", "hands"])
def test_other_colors_give_the_same_rows_in_another_order(variant, belief):
    colors = variant.colors - (variant.copies[-1] != variant.copies[0])
    permutation = np.arange(variant.colors)
    permutation[:colors] = np.random.default_rng(1).permutation(colors)
    games = games_of(variant, 20)
    features = ColorFeatures(variant, belief=belief)
    network = ColorNetwork(variant, hidden=(24, 32), belief=belief)
    torch.nn.init.normal_(network.color_heads.weight)
    seen, other = (kept.replay(dtype="bits") for kept in (games, permute_colors(games, permutation)))
    first, second = (features.read(rows["obs"]) for rows in (seen, other))
    split = features.colors * len(features.row)
    rows, permuted = (x[:, :split].unflatten(1, (features.colors, -1)) for x in (first, second))
    torch.testing.assert_close(permuted[:, torch.from_numpy(permutation)], rows)
    torch.testing.assert_close(second[:, split:], first[:, split:])
    with torch.no_grad():
        masks = torch.ones(len(first), variant.num_actions, dtype=torch.bool)
        logits, value, _ = network(first, masks)
        other_logits, other_value, _ = network(second, masks)
    ids = permute_ids(variant, permutation)
    torch.testing.assert_close(other_logits[:, ids], logits, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(other_value, value, rtol=1e-4, atol=1e-4)
    named = [action for action, other in enumerate(ids) if action != other]
    assert named
    assert (logits[:, named].std(1) > 1e-3).all()


def permute_ids(variant, permutation):
    """Each action's id after the permutation of the colours."""
    hints, players = 2 * variant.hand_size, variant.players
    ids = np.arange(variant.num_actions)
    for offset in range(players - 1):
        first = hints + offset * variant.colors
        ids[first : first + variant.colors] = first + permutation
    rest = hints + (players - 1) * (variant.colors + variant.ranks)
    for first in range(rest, variant.num_actions, variant.colors):
        ids[first : first + variant.colors] = first + permutation
    return ids.tolist()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_features_have_the_dtype_that_is_asked_for(dtype):
    features = ColorFeatures(starmine.Variant())
    obs = games_of(starmine.Variant(), 300).replay(["obs"], dtype="bits")["obs"]
    assert (features.read(obs, dtype) == features.read(obs).to(dtype)).all()
    assert (features.read(torch.from_numpy(obs)) == features.read(obs)).all()
    with pytest.raises(starmine.StarmineError):
        features.read(obs, torch.int8)
    with pytest.raises(starmine.ArrayError):
        features.read(obs[:, 1:].copy())


EVERY_TABLE = [
    starmine.variant(name, players=players)
    for name in starmine.variants()
    for players in (2, 5)
    if accepts(name, players)
] + [random_variant(random.Random(seed)) for seed in range(8)]


@pytest.mark.parametrize("variant", EVERY_TABLE, ids=str)
def test_torch_operations_give_the_same_features_to_the_last_bit(variant):
    """The path of a GPU, here on the CPU: whole games, in which hints and discards are more frequent than plays."""
    batch, rng = starmine.Batch(variant, 64, dtype="bits", seed=3), np.random.default_rng(0)
    is_play = np.array(
        [str(variant.action_meaning(action)).startswith("play") for action in range(variant.num_actions)]
    )
    outputs, seen = batch.observe(), []
    for _ in range(2 * variant.deck_size):
        seen.append(outputs["obs"])
        weights = rng.random(outputs["action_mask"].shape) * outputs["action_mask"] * np.where(is_play, 0.3, 1)
        outputs = batch.step(weights.argmax(1))
    bits, features = np.concatenate(seen), ColorFeatures(variant)
    computed = features._read_with_torch(torch.from_numpy(bits))
    assert torch.equal(computed.view(torch.int32), features.read(bits).view(torch.int32))
    for dtype in (torch.bfloat16, torch.float16):
        assert torch.equal(computed.to(dtype), features.read(bits, dtype))
    assert torch.equal(
        features._read_with_torch(torch.from_numpy(bits).view(2, -1, bits.shape[1])).flatten(0, 1), computed
    )
    assert features._read_with_torch(torch.from_numpy(bits[:0])).shape == features.read(bits[:0]).shape


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype feature")
@pytest.mark.parametrize("variant", EVERY_TABLE, ids=str)
def test_a_gpu_computes_the_features_and_the_network_of_the_cpu(variant):
    bits = torch.from_numpy(games_of(variant, 60).replay(["obs"], dtype="bits")["obs"])
    network = ColorNetwork(variant)
    mask = torch.ones(len(bits), variant.num_actions, dtype=torch.bool)
    on_gpu = copy.deepcopy(network).cuda()
    device_bits = bits.cuda()
    on_gpu.read(device_bits)  # moves the tables of the rules to the GPU
    torch.cuda.set_sync_debug_mode("error")
    try:
        inputs = on_gpu.read(device_bits)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert torch.equal(inputs.cpu(), network.read(bits))
    assert torch.equal(on_gpu.color_features.read(device_bits, torch.bfloat16).cpu(), network.read(bits).bfloat16())
    with torch.no_grad():
        log_probs, value, _ = network(network.read(bits), mask)
        device_log_probs, device_value, _ = on_gpu(inputs, mask.cuda())
    torch.testing.assert_close(device_log_probs.cpu(), log_probs, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(device_value.cpu(), value, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("variant", VARIANTS[:5], ids=ids[:5])
@pytest.mark.parametrize("recurrent", [False, True])
def test_a_policy_file_holds_the_network(variant, recurrent, tmp_path):
    torch.manual_seed(3)
    network = ColorNetwork(variant, hidden=(16, 24), belief="hands", recurrent=recurrent)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    network.save(tmp_path / "mine.safetensors", steps=5)
    policy = starmine.load_policy(tmp_path / "mine.safetensors")
    assert policy.about == {"steps": 5}
    loaded = policy.network()
    assert isinstance(loaded, ColorNetwork)
    states = list(positions(variant, 3))
    bits = np.concatenate([packed(state) for state in states])
    seen = np.stack([state.encode(state.current_player) for state in states])
    hidden = loaded.initial_state(len(states)).uniform_(-1, 1)
    seats = torch.zeros(1, len(states), dtype=torch.int64)
    starts = torch.zeros(1, len(states), dtype=torch.bool)
    with torch.no_grad():
        state = starmine.torch.HiddenState(hidden, seats, starts)
        logits, values, after = loaded.evaluate(loaded.read(bits), state)
    found, found_values, memory = policy.logits(seen, hidden[:, 0].contiguous().numpy())
    np.testing.assert_allclose(found, logits, atol=2e-5)
    np.testing.assert_allclose(found_values, values, atol=2e-5)
    np.testing.assert_allclose(memory, after[:, 0], atol=2e-5)
    games = starmine.play_games([policy.bot] * variant.players, 20, variant=variant)
    assert len(games) == 20


@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "ties"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_the_core_pools_like_pytorch(dtype, ties):
    torch.manual_seed(0)
    tolerance = {"rtol": 1e-6, "atol": 1e-6} if dtype == torch.float32 else {"rtol": 2**-7, "atol": 2**-7}
    rows = torch.randn(7, 5, 19).to(dtype)
    if ties:
        rows[:, 3] = rows[:, 1]  # colours that look alike share the gradient of their maximum
    inputs = [rows, torch.randn(7, 19).to(dtype)]
    exact = [tensor.double().requires_grad_(True) for tensor in inputs]
    found = [tensor.requires_grad_(True) for tensor in inputs]
    expected, results = pool(*exact), fused_pool(*found)
    gradients = [torch.randn_like(result) for result in results]
    gradients[0] = gradients[0].transpose(0, 1).contiguous().transpose(0, 1)  # another memory layout
    torch.autograd.backward(expected, [gradient.double() for gradient in gradients])
    torch.autograd.backward(results, gradients)
    for own, theirs in zip(
        (*results, *(tensor.grad for tensor in found)), (*expected, *(tensor.grad for tensor in exact)), strict=True
    ):
        assert own.dtype == dtype
        torch.testing.assert_close(own.double(), theirs, **tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_fused_kernels_change_nothing_but_rounding(dtype):
    variant = starmine.Variant()
    torch.manual_seed(0)
    plain = ColorNetwork(variant, hidden=(32, 48), matmul_dtype=dtype)
    fused = copy.deepcopy(plain)
    fused.fuse_kernels()
    bits = np.concatenate([packed(state) for state in positions(variant)])[:64]
    mask, results = torch.ones(len(bits), variant.num_actions, dtype=torch.bool), []
    for network in (plain, fused):
        log_probs, value, _ = network(network.read(bits), mask)
        (log_probs.square().mean() + value.square().mean()).backward()
        results.append([log_probs, value, *(parameter.grad for parameter in network.parameters())])
    tolerance = {"rtol": 1e-4, "atol": 1e-6} if dtype == torch.float32 else {"rtol": 0.05, "atol": 0.02}
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, **tolerance)


@pytest.mark.parametrize("kind", [ColorNetwork, PolicyNetwork])
@pytest.mark.parametrize("recurrent", [False, True])
def test_a_network_compiles_without_a_break(kind, recurrent):
    torch.compiler.reset()
    variant = starmine.Variant()
    network = kind(variant, hidden=(16, 24), recurrent=recurrent)
    inputs = network.read(np.concatenate([packed(state) for state in positions(variant)])[:6])
    mask = torch.ones(6, variant.num_actions, dtype=torch.bool)
    turns = torch.zeros(2, 3, dtype=torch.int64)
    state = HiddenState(network.initial_state(3), turns, turns.bool()) if recurrent else None
    compiled = torch.compile(network, backend="eager", fullgraph=True)
    for one, other in zip(compiled(inputs, mask, state), network(inputs, mask, state), strict=True):
        assert one is other is None or torch.equal(one, other)
