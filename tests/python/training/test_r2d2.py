"""examples/r2d2.py: its games, replay memory, values and targets, and its policy file."""

from functools import partial

import numpy as np
import pytest
from training_runs import TrainingError, assert_resumes_to_the_same_bits, checkpoint, log_lines, needs_train_extra

import starmine
from starmine.games.endings import defeats

pytestmark = [pytest.mark.slow, needs_train_extra]

ALL = {"sad": True, "aux": True, "other_play": True}
VARIANTS = [
    starmine.variant("small"),
    starmine.variant("standard", players=3, random_start_player=True),
    starmine.variant("avalanche", players=4),
    starmine.variant("timed-display"),
]
by_variant = pytest.mark.parametrize("variant", VARIANTS, ids=str)
by_colors = pytest.mark.parametrize("other_play", [False, True], ids=["true colours", "own colours"])


@pytest.fixture(scope="module")
def r2d2():
    """The script as a module."""
    import r2d2

    return r2d2


@pytest.fixture(scope="module")
def parts():
    """The script's games and replay memory as a module."""
    import r2d2_games

    return r2d2_games


@pytest.fixture
def small(r2d2, tmp_path):
    """Arguments of a few tiny updates, except for those given by name."""
    import torch

    def arguments(**given):
        sizes = {"num_envs": 8, "minibatch": 4, "learning_starts": 8, "target_every": 3, "hidden": 8, "num_threads": 1}
        games = {"eval_every": 4, "eval_games": 4, "final_games": 4, "total_steps": 600}
        return r2d2.Args(**({"variant": "small", "out": tmp_path / "run"} | sizes | games | given))

    threads = torch.get_num_threads()
    yield arguments
    torch.set_num_threads(threads)


def random_legal(rng, mask):
    return (rng.random(mask.shape) * mask).argmax(1)


def play(parts, variant, other_play, count=12, seed=5):
    """Random games that are recorded; of each turn the running games and what the seats saw."""
    import torch

    from starmine.training import draw_deals

    rng, generator = np.random.default_rng(0), torch.Generator().manual_seed(0)
    games = parts.Games(variant, count, True, other_play, seed)
    decks, starts = draw_deals(variant, count, generator)
    turn, seen, moves = games.deal(np.arange(count), decks, starts), [], []
    rows = np.arange(count)
    while games.running.any():
        mask = turn.legal[rows, turn.seat, :-1].numpy()
        greedy = random_legal(rng, mask)
        action = np.where(rng.random(count) < 0.5, random_legal(rng, mask), greedy)
        seen.append((games.running, turn, action, greedy))
        moves.append(np.stack([action, greedy, games.running]))
        turn = games.step(action, greedy)
    played = np.stack(moves, 2)
    lengths = played[2].sum(1)
    record = [parts.Game(at, decks[at], int(starts[at]), *played[:2, at, : lengths[at]]) for at in range(count)]
    return games, record, seen


def dealt(variant, colors, game):
    """The state of a game before its first turn, in other colours."""
    from starmine.games.trajectories import Trajectories

    suits, ranks = np.divmod(game.deck, variant.ranks)
    deck = (colors[suits] * variant.ranks + ranks).astype(np.uint8)
    starts, nothing = np.array([game.start_player], np.uint8), np.zeros(0, np.uint8)
    return Trajectories(variant, deck[None], starts, nothing, np.zeros(2, np.int64)).state(0)


def recolored(variant, action, before, after):
    """An action in some colours, given in others."""
    from starmine.data.colors import permute_actions

    true = permute_actions(variant, np.array([action]), np.argsort(before)[None])
    return int(permute_actions(variant, true, after[None])[0])


@by_colors
@by_variant
def test_seats_see_the_game_in_their_colours(parts, variant, other_play):
    """On every turn every seat sees what it would see in a game with its colours; waiting seats have the no-op."""
    games, record, seen = play(parts, variant, other_play)
    assert (games.colors != np.arange(variant.colors)).any() == other_play
    for number, game in enumerate(record):
        for seat in range(variant.players):
            colors = games.colors[number, seat]
            state = dealt(variant, colors, game)
            for running, turn, action, _ in seen[: len(game.actions)]:
                assert running[number]
                bits = np.unpackbits(turn.obs[number, seat].numpy(), bitorder="little")[: len(variant.layout())]
                np.testing.assert_array_equal(bits, state.encode(seat))
                acting = int(turn.seat[number])
                assert acting == state.current_player
                legal = turn.legal[number, seat].numpy()
                if seat == acting:
                    np.testing.assert_array_equal(legal[:-1], state.legal_action_mask())
                assert legal[-1] == (seat != acting)
                assert legal[:-1].any() == (seat == acting)
                hand = [card.suit * variant.ranks + card.rank for card in state.hands[seat]]
                assert turn.hands[number, seat].tolist() == hand + [-1] * (variant.hand_size - len(hand))
                state.apply(recolored(variant, action[number], games.colors[number, acting], colors))
            assert state.is_terminal
    assert not any(running[0] for running, *_ in seen[len(record[0].actions) :])


@by_variant
def test_the_greedy_move_is_shown_as_if_it_had_been_made(parts, variant):
    games, record, seen = play(parts, variant, True)
    for number, game in enumerate(record):
        for seat in range(variant.players):
            colors = games.colors[number, seat]
            state = dealt(variant, colors, game)
            for index in range(len(game.actions) - 1):
                _, turn, action, greedy = seen[index]
                acting = games.colors[number, int(turn.seat[number])]
                other = state.copy()
                other.apply(recolored(variant, greedy[number], acting, colors))
                state.apply(recolored(variant, action[number], acting, colors))
                shown = seen[index + 1][1].shown[number, seat].numpy()
                bits = np.unpackbits(shown, bitorder="little")[: len(variant.layout())]
                np.testing.assert_array_equal(bits, other.encode(seat))


@by_colors
@by_variant
def test_games_that_are_played_again_are_the_same(parts, variant, other_play):
    import torch

    _, record, seen = play(parts, variant, other_play)
    again = parts.Games(variant, len(record), True, other_play, 5)
    turns, action, reward, valid = again.again(record, 2.0, 0.5, torch.device("cpu"))
    assert len(valid) == len(seen)
    for step, (running, turn, played, _) in enumerate(seen):
        rows = torch.from_numpy(running)
        assert torch.equal(valid[step], rows)
        for name, expected in turn._asdict().items():
            assert torch.equal(getattr(turns, name)[step][rows], expected[rows]), name
        waiting = turn.seat[:, None] != torch.arange(variant.players)
        wanted = torch.where(waiting, variant.num_actions, torch.from_numpy(played)[:, None])
        assert torch.equal(action[step][rows], wanted[rows])
    assert (reward[~valid] == 0).all()
    for number, game in enumerate(record):
        colors = again.colors[number]
        state = dealt(variant, colors[0], game)
        for index, chosen in enumerate(game.actions):
            points = state.score
            state.apply(recolored(variant, chosen, colors[state.current_player], colors[0]))
            wanted = state.score - points
            if state.is_terminal and starmine.endings().index(state.ending) + 1 in defeats():
                wanted -= 2.0 + 0.5 * state.score
            assert reward[index, number] == wanted


def test_one_seat_sees_the_colours_as_they_are(parts):
    variant = starmine.variant("standard", players=3)
    games, _, _ = play(parts, variant, True, count=60)
    true = (games.colors == np.arange(5)).all(2)
    assert true[np.arange(60), np.arange(60) % 3].all()
    assert true.sum() < 66
    assert len(np.unique(games.colors[:, 0], axis=0)) > 20


def recorded(parts, count, first=0):
    """Games that cannot be played, with numbers that tell them apart."""
    games = []
    for number in range(first, first + count):
        moves = np.full(2 + number % 3, number, np.uint8)
        games.append(parts.Game(number, np.full(16, number, np.uint8), number % 2, moves, moves + np.uint8(1)))
    return games


def test_the_oldest_games_are_replaced(parts):
    import torch

    torch.manual_seed(0)
    replay = parts.Replay(5, 0.9, 0.6)
    for game in recorded(parts, 12):
        replay.add(game)
        assert len(replay.games) == min(5, game.number + 1)
    _, found, _ = replay.sample(200)
    assert {game.number for game in found} == {7, 8, 9, 10, 11}


@pytest.mark.parametrize("alpha", [0.0, 0.9])
def test_games_are_drawn_by_their_priorities(parts, alpha):
    import torch

    torch.manual_seed(1)
    replay = parts.Replay(40, alpha, 0.6)
    for game in recorded(parts, 20):
        replay.add(game)
    priorities = torch.arange(1, 21, dtype=torch.float64) / 7
    replay.priorities[:20] = priorities
    shares = priorities**alpha / (priorities**alpha).sum()
    draws = 20_000
    place, games, weights = replay.sample(draws)
    assert [game.number for game in games] == place.tolist()
    expected = draws * shares
    chi_square = ((place.bincount(minlength=20) - expected) ** 2 / expected).sum()
    assert chi_square < 43.8  # exceeded once in a thousand times with 19 degrees of freedom
    wanted = (20 * shares[place]) ** -0.6
    assert torch.allclose(weights.double(), wanted / wanted.max(), atol=1e-6)


def test_new_games_have_the_largest_priority(parts):
    import torch

    replay = parts.Replay(8, 1.0, 0.6)
    for game in recorded(parts, 2):
        replay.add(game)
    replay.priorities[:2] = torch.tensor([0.25, 9.0])
    replay.add(recorded(parts, 1, first=2)[0])
    assert replay.priorities[:3].tolist() == [0.25, 9.0, 9.0]


@pytest.mark.parametrize("count", [0, 4, 9])
def test_a_replay_goes_on_from_its_state(parts, count):
    replay, other = parts.Replay(6, 0.9, 0.6), parts.Replay(6, 0.9, 0.6)
    for game in recorded(parts, count):
        replay.add(game)
    other.load_state_dict(replay.state_dict())
    for memory in (replay, other):
        memory.add(recorded(parts, 1, first=20)[0])
    assert replay.added == other.added
    assert replay.priorities.tolist() == other.priorities.tolist()
    for game, same in zip(replay.games, other.games, strict=True):
        assert all(np.array_equal(left, right) for left, right in zip(game, same, strict=True))


@pytest.mark.parametrize("steps", [1, 3, 9])
def test_targets_are_those_of_a_naive_loop(r2d2, steps):
    import torch

    torch.manual_seed(1)
    lengths, gamma = [7, 2, 5], 0.9
    valid = torch.arange(7)[:, None] < torch.tensor(lengths)
    reward, best = torch.randn(7, 3) * valid, torch.randn(7, 3) * valid
    found = r2d2.n_step_targets(reward, best, gamma, steps)
    for game, length in enumerate(lengths):
        for turn in range(length):
            end = min(turn + steps, length)
            wanted = sum(gamma ** (k - turn) * reward[k, game].item() for k in range(turn, end))
            if turn + steps < length:
                wanted += gamma**steps * best[turn + steps, game].item()
            assert found[turn, game].item() == pytest.approx(wanted, abs=1e-5)


def test_a_waiting_seat_adds_the_value_of_the_no_op(r2d2, small):
    """Dueling values as SAD has them: the mean is over all actions, with zero for those that are not legal."""
    import torch

    torch.manual_seed(0)
    network = r2d2.Network(small(), starmine.variant("small"))
    core, legal = torch.randn(3, 2, 2, 8), torch.zeros(3, 2, 2, network.fc_a.out_features, dtype=torch.bool)
    legal[:, :, 0, :3], legal[:, :, 1, -1] = True, True
    values = network.values(core, legal)
    state, advantage = network.fc_v(core)[..., 0], network.fc_a(core)
    torch.testing.assert_close(values[:, :, 1, -1], state[:, :, 1] + advantage[:, :, 1, -1] * (1 - 1 / legal.shape[-1]))
    mean = advantage[:, :, 0, :3].sum(-1) / legal.shape[-1]
    torch.testing.assert_close(values[:, :, 0, 1], state[:, :, 0] + advantage[:, :, 0, 1] - mean)
    best = r2d2.best_actions(values, legal)
    assert (best[:, :, 1] == legal.shape[-1] - 1).all()
    assert torch.equal(best[:, :, 0], advantage[:, :, 0, :3].argmax(-1))


OPTIONS = {
    "2 players": {"players": 2},
    "2 players, all options": {"players": 2} | ALL,
    "3 players": {"players": 3, "sad": True},
    "5 players": {"variant": "standard", "players": 5},
    "a section after the knowledge": {"variant": "timed-display", "sad": True},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_policy_file_has_the_logits_of_training_on_every_turn(r2d2, small, tmp_path, options):
    """Over whole games, of every seat on every turn, with an LSTM that is stepped on all turns."""
    import torch

    learner = r2d2.R2D2(small(**options | {"epsilon": 0.0, "num_envs": 4}))
    variant, players = learner.variant, learner.variant.players
    with torch.no_grad():
        for parameter in learner.network.parameters():
            parameter.mul_(3)  # first weights give nearly equal values
        learner.collect()
        drawn = learner.replay.games[:4]
        turns, action, _, valid = learner.drawn.again(drawn, 0, 0, torch.device("cpu"))
        core, _ = learner.network.remember(turns)
        advantages = learner.network.fc_a(core)[..., :-1].numpy()
    learner.network.save(tmp_path / "policy.safetensors", score=1.5)
    policy = starmine.load_policy(tmp_path / "policy.safetensors")
    assert policy.variant == variant
    assert policy.recurrent
    assert policy.all_turns
    assert policy.about == {"score": 1.5}
    memory, seats = None, np.tile(np.arange(players), len(drawn))
    for step, rows in enumerate(valid.numpy()):
        packed = turns.obs[step].flatten(0, 1).numpy()
        obs = np.unpackbits(packed, axis=1, bitorder="little")[:, : len(variant.layout())]
        logits, _, memory = policy.logits(obs, memory, seats)
        found = logits.reshape(len(drawn), players, -1)
        np.testing.assert_allclose(found[rows], advantages[step][rows], atol=1e-5, rtol=1e-5)
    if options.get("other_play"):
        return  # the seats saw other colours
    again = starmine.play_games([policy] * players, 30, 3, variant, record=True).trajectories
    played = [remembered(again, game) for game in range(4)]
    turns, action, _, valid = learner.drawn.again(played, 0, 0, torch.device("cpu"))
    with torch.no_grad():
        values = learner.network.values(learner.network.remember(turns)[0], turns.legal)
    assert torch.equal(r2d2.best_actions(values, turns.legal)[valid], action[valid])
    assert advantages.std() > 0.01


def remembered(games, index):
    """A game of trajectories as the learner's memory has it."""
    from r2d2_games import Game

    moves = games[index].actions
    return Game(0, games.decks[index], int(games.start_players[index]), moves, moves)


@pytest.mark.parametrize("options", [{}, {"players": 3}, ALL | {"players": 5, "variant": "standard"}])
def test_games_are_played_by_the_values_that_training_has(r2d2, small, options):
    """Each greedy move of a played game is the best by the values that learning computes of the whole game."""
    import torch

    learner = r2d2.R2D2(small(**options, epsilon=1.0))
    with torch.no_grad():
        for parameter in learner.network.parameters():
            parameter.mul_(3)
        learner.collect()
        drawn = learner.replay.games[:4]
        turns, _, _, valid = learner.drawn.again(drawn, 0, 0, torch.device("cpu"))
        best = r2d2.best_actions(learner.network.values(learner.network.remember(turns)[0], turns.legal), turns.legal)
    differ = 0
    for number, game in enumerate(drawn):
        steps = np.arange(len(game.greedy))
        acted = best[steps, number, turns.seat[steps, number]].numpy()
        np.testing.assert_array_equal(acted, game.greedy)
        differ += (game.greedy != game.actions).sum()
    assert differ
    assert valid.any(1).all()


@pytest.mark.parametrize("players", [2, 3])
def test_own_cards_are_labelled_as_the_table_has_them(r2d2, small, players):
    import torch

    learner = r2d2.R2D2(small(players=players, other_play=True))
    learner.collect()
    drawn = learner.replay.games[:4]
    turns, _, _, valid = learner.drawn.again(drawn, 0, 0, torch.device("cpu"))
    labels = learner.own_cards(turns, valid)
    assert {0, 2} <= set(labels.flatten().tolist())
    for number, game in enumerate(drawn):
        colors = learner.drawn.colors[number]
        true = np.arange(learner.variant.colors)
        state = dealt(learner.variant, true, game)
        for turn in range(len(labels)):
            if not valid[turn, number]:
                assert (labels[turn, number] == -1).all()
                continue
            for seat, hand in enumerate(state.hands):
                wanted = [-1] * learner.variant.hand_size
                for slot, card in enumerate(hand):
                    height = state.fireworks[card.suit]
                    wanted[slot] = 0 if card.rank == height else 1 if card.rank < height else 2
                assert labels[turn, number, seat].tolist() == wanted
            state.apply(recolored(learner.variant, game.actions[turn], colors[state.current_player], true))


RUNS = {
    "none": {},
    "all": ALL,
    "three players": ALL | {"players": 3},
    "no points": {"lost_game_score": "zero", "lost_game_penalty": 0.0, "points_taken": 0.0},
}


@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
def test_options_resume_to_the_same_bits(r2d2, small, tmp_path, monkeypatch, options):
    arguments = partial(small, **options)
    whole = assert_resumes_to_the_same_bits(r2d2.main, arguments, tmp_path, monkeypatch)
    fresh = r2d2.R2D2(arguments()).network.state_dict()
    learned = whole["state"]["network"]
    changed = {name.partition(".")[0] for name in fresh if not np.array_equal(fresh[name], learned[name])}
    assert changed == {"net", "lstm", "fc_v", "fc_a"} | ({"pred"} if options.get("aux") else set())
    assert "loss" in log_lines(tmp_path / "whole")[-1]


def test_a_run_leaves_a_policy_that_plays(r2d2, small, tmp_path):
    r2d2.main(small(sad=True, aux=True, players=3))
    saved = starmine.load_policy(tmp_path / "run" / "policy.safetensors")
    assert saved.about["method"] == "R2D2-VDN + SAD + AUX"
    assert saved.variant.players == 3
    learned = checkpoint(tmp_path / "run")["state"]["network"]
    for name, weights in saved.network().state_dict().items():
        if name.startswith("lstm"):
            assert np.array_equal(weights, learned[name])
    games = starmine.play_games([saved, "random", saved], 10, variant=saved.variant)
    assert len(games) == 10


def test_a_lost_game_takes_back_its_points_as_in_ppo(r2d2):
    import ppo

    for name in ("lost_game_score", "lost_game_penalty", "points_taken"):
        assert getattr(r2d2.Args(), name) == getattr(ppo.Args(), name)


def test_the_network_computes_where_it_is(r2d2, small, parts):
    """PyTorch refuses to mix a device without memory with the CPU."""
    import torch

    learner = r2d2.R2D2(small(sad=True))
    learner.collect()
    elsewhere = torch.device("meta")
    turns, action, reward, valid = learner.drawn.again(learner.replay.games[:4], 1.0, 1.0, elsewhere)
    assert {part.device.type for part in (*turns, action, reward, valid)} == {"meta"}
    network = learner.network.to(elsewhere)
    values = network.values(network.remember(turns)[0], turns.legal)
    assert values.device.type == "meta"
    assert r2d2.n_step_targets(reward, values[..., 0].sum(2), 0.9, 3).device.type == "meta"


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_a_gpu_trains(r2d2, small, device):
    import torch

    backend = torch.cuda if device == "cuda" else torch.backends.mps
    if not backend.is_available():
        pytest.skip(f"there is no {device} device")
    r2d2.main(small(device=device, **ALL))


def test_a_diverged_run_stops_before_its_next_checkpoint(r2d2, small, tmp_path):
    r2d2.main(small())
    with pytest.raises(TrainingError, match=r"stopped in update \d+: .* (is|not) (not )?(nan|inf|finite)"):
        r2d2.main(small(resume=True, total_steps=10_000, lr=1e30))
    after = checkpoint(tmp_path / "run")
    assert all(weights.isfinite().all() for weights in after["state"]["network"].values())


def test_a_resumed_run_keeps_its_networks(r2d2, small):
    r2d2.main(small(total_steps=100))
    with pytest.raises(TrainingError, match="sad=False, not True"):
        r2d2.main(small(total_steps=200, sad=True, resume=True))
    with pytest.raises(TrainingError, match="expected a budget above 0"):
        r2d2.main(small(total_steps=0))
