"""examples/r2d2.py: its values, targets, inputs and options."""

from functools import partial

import numpy as np
import pytest
from training_runs import TrainingError, assert_resumes_to_the_same_bits, checkpoint, log_lines, needs_train_extra

import starmine

pytestmark = [pytest.mark.slow, needs_train_extra]

ALL = {"sad": True, "aux": True, "other_play": True}
PLAIN = {"network": "plain", "hidden": (16,), "players": 3}


@pytest.fixture(scope="module")
def r2d2():
    """The script as a module."""
    import r2d2

    return r2d2


@pytest.fixture
def small(r2d2, tmp_path):
    """Arguments of a few tiny updates, except for those given by name."""
    import torch

    def arguments(**given):
        sizes = {
            "num_envs": 8,
            "minibatch": 4,
            "learning_starts": 8,
            "target_every": 3,
            "hidden": (8, 8),
            "num_threads": 1,
        }
        games = {"eval_every": 4, "eval_games": 4, "final_games": 4, "total_steps": 600}
        return r2d2.Args(**({"variant": "small", "out": tmp_path / "run"} | sizes | games | given))

    threads = torch.get_num_threads()
    yield arguments
    torch.set_num_threads(threads)


def test_the_teams_value_is_the_sum_over_the_seats(r2d2):
    import torch

    torch.manual_seed(0)
    acting, value, mask = torch.randn(6, 4, 7), torch.randn(6, 4, 3), torch.rand(6, 4, 7) < 0.6
    mask[:, :, 2] = True
    found = r2d2.team_values(acting, value, mask)
    for turn, game, action in np.ndindex(6, 4, 7):
        legal = acting[turn, game][mask[turn, game]]
        wanted = value[turn, game].sum() + acting[turn, game, action] - legal.mean()
        if not mask[turn, game, action]:
            wanted = -torch.inf
        assert found[turn, game, action].item() == pytest.approx(float(wanted), abs=1e-5)


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


@pytest.mark.parametrize("options", [{}, ALL, ALL | PLAIN], ids=["none", "all", "plain"])
def test_replayed_games_have_the_values_that_they_were_played_by(r2d2, small, options):
    """Through decks, colours, greedy moves, padding and hidden states: the greedy moves are the best again."""
    import torch

    torch.manual_seed(0)
    learner = r2d2.R2D2(small(**options, num_envs=16))
    with torch.no_grad():
        for parameter in learner.network.policy.heads.parameters():
            parameter.mul_(100)  # first values are so small that rounding decides between them
        learner.collect()
        _, games, _ = learner.replay.sample(16)
        turns = r2d2.padded_turns(games)
        best = learner.network(turns).argmax(2)
    differ = games.greedy != games.trajectories.actions
    assert differ.any()
    seen = r2d2.padded_turns(games._replace(trajectories=games.trajectories))
    greedy = torch.zeros_like(best)
    for game in range(16):
        moves = slice(*games.trajectories.offsets[game : game + 2])
        seats = seen.seat[: moves.stop - moves.start, game].numpy()
        own = starmine.data.permute_actions(learner.variant, games.greedy[moves], games.colors[game, seats])
        greedy[: len(own), game] = torch.from_numpy(own)
    assert (best == greedy)[turns.valid].float().mean() > 0.99


def test_the_greedy_move_is_a_section_next_to_the_move_that_was_made(r2d2, small):
    """Values depend on both moves where they differ, and where nobody explores the section adds nothing."""
    import torch

    from starmine.torch import HiddenState

    learner = r2d2.R2D2(small(sad=True))
    learner.collect()
    _, games, _ = learner.replay.sample(8)
    turns = r2d2.padded_turns(games)
    network, obs, shown = learner.network, turns.obs.flatten(0, 2), turns.shown.flatten(0, 2)
    differs = (obs != shown).any(1)
    assert differs.any()

    def remembered(made, greedy):
        count = len(made)
        start = HiddenState(torch.zeros(count, 1, 8), torch.zeros(1, count).long(), torch.zeros(1, count).bool())
        network.policy.evaluate(network.inputs(made, greedy), start)
        return network.remembered

    with torch.no_grad():
        for parameter in network.policy.parameters():
            parameter.mul_(3)
        both, made, greedy = remembered(obs, shown), remembered(obs, obs), remembered(shown, shown)
        assert torch.equal((both != made).any(1), differs)
        assert (both != greedy).any(1)[differs].float().mean() > 0.9  # the move that was made is not hidden
        network.greedy_move.weight.zero_()
        assert torch.equal(remembered(obs, shown), made)


@pytest.mark.parametrize("players", [2, 3])
def test_own_cards_are_labelled_as_the_table_has_them(r2d2, small, players):
    learner = r2d2.R2D2(small(players=players, other_play=True))
    learner.collect()
    _, games, _ = learner.replay.sample(6)
    turns = r2d2.padded_turns(games)
    labels = learner.own_cards(turns).view(*turns.obs.shape[:3], -1)
    assert {0, 2} <= set(labels.flatten().tolist())
    for game in range(6):
        for turn in range(len(labels)):
            if not turns.valid[turn, game]:
                assert (labels[turn, game] == -1).all()
                continue
            state = games.trajectories.state(game, turn)
            for seat, hand in enumerate(state.hands):
                wanted = [-1] * learner.variant.hand_size
                for slot, card in enumerate(hand):
                    height = state.fireworks[card.suit]
                    wanted[slot] = 0 if card.rank == height else 1 if card.rank < height else 2
                assert labels[turn, game, seat].tolist() == wanted


OPTIONS = {
    "none": {},
    "all": ALL,
    "plain": ALL | PLAIN,
    "no points": {"lost_game_score": "zero", "lost_game_penalty": 0.0},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_options_resume_to_the_same_bits(r2d2, small, tmp_path, monkeypatch, options):
    arguments = partial(small, **options)
    whole = assert_resumes_to_the_same_bits(r2d2.main, arguments, tmp_path, monkeypatch)
    fresh = r2d2.R2D2(arguments()).network.state_dict()
    learned = whole["state"]["network"]
    changed = {name.partition(".")[0] for name in fresh if not np.array_equal(fresh[name], learned[name])}
    assert changed == {"policy"} | ({"greedy_move", "own_cards"} if options.get("sad") else set())
    assert "loss" in log_lines(tmp_path / "whole")[-1]


def test_a_policy_file_plays_as_the_network(r2d2, small, tmp_path):
    import torch

    from starmine.torch import HiddenState

    arguments = small(sad=True, aux=True)
    r2d2.main(arguments)
    saved = starmine.load_policy(tmp_path / "run" / "policy.safetensors")
    assert saved.about["method"] == "R2D2-VDN + SAD + AUX"
    network = r2d2.QNetwork(arguments, saved.variant)
    network.load_state_dict(checkpoint(tmp_path / "run")["state"]["network"])
    state = saved.variant.new_game(seed=3)
    observations = np.stack([state.encode(0)])
    logits, _, _ = saved.logits(observations, np.zeros((1, 8), np.float32))
    with torch.no_grad():
        bits = np.packbits(observations, axis=1, bitorder="little")
        packed = torch.from_numpy(np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8))))
        start = HiddenState(network.policy.initial_state(1), torch.zeros(1, 1).long(), torch.zeros(1, 1).bool())
        values, _, _ = network.policy.evaluate(network.policy.read(packed), start)
    np.testing.assert_allclose(logits, values.numpy(), atol=0.02 * float(values.abs().max()))
    assert len(starmine.play_games([saved, saved], 10, variant="small")) == 10


def test_a_diverged_run_stops_before_its_next_checkpoint(r2d2, small, tmp_path):
    r2d2.main(small())
    before = (tmp_path / "run" / "checkpoint.pt").read_bytes()
    with pytest.raises(TrainingError, match=r"stopped in update \d+: .* (is|not) (not )?(nan|inf|finite)"):
        r2d2.main(small(resume=True, total_steps=10_000, lr=1e30))
    after = checkpoint(tmp_path / "run")
    assert all(weights.isfinite().all() for weights in after["state"]["network"].values())
    assert before


def test_a_resumed_run_keeps_its_networks(r2d2, small):
    r2d2.main(small(total_steps=100))
    with pytest.raises(TrainingError, match="sad=False, not True"):
        r2d2.main(small(total_steps=200, sad=True, resume=True))
    with pytest.raises(TrainingError, match="expected a budget above 0"):
        r2d2.main(small(total_steps=0))
