"""examples/obl.py: its rollouts and targets."""

from functools import partial

import numpy as np
import pytest
from training_runs import TrainingError, assert_resumes_to_the_same_bits, checkpoint, log_lines, needs_train_extra

import starmine

pytestmark = [pytest.mark.slow, needs_train_extra]


@pytest.fixture(scope="module")
def obl():
    """The script as a module."""
    import obl

    return obl


@pytest.fixture
def small(obl, tmp_path):
    """Arguments of a few tiny updates, except for those given by name."""
    import torch

    def arguments(**given):
        sizes = {"num_envs": 8, "minibatch": 64, "hidden": (8, 8), "num_threads": 1, "dtype": "float32"}
        games = {"eval_every": 4, "eval_games": 4, "final_games": 4, "total_steps": 600}
        return obl.Args(**({"variant": "small", "out": tmp_path / "run"} | sizes | games | given))

    threads = torch.get_num_threads()
    yield arguments
    torch.set_num_threads(threads)


def best_move(learner, bits, mask):
    """The best action and its value, of one observation."""
    import torch

    with torch.no_grad():
        logits, value, _ = learner.network.evaluate(learner.network.read(bits[None]), None)
    legal = np.flatnonzero(mask)
    values = logits[0, torch.from_numpy(legal)]
    return int(legal[int(values.argmax())]), float(value[0] + values.max() - values.mean())


@pytest.mark.parametrize("players", [2, 3])
def test_returns_are_those_of_games_in_a_world(obl, small, players):
    import torch

    defeats = starmine.defeats()
    learner = obl.OBL(small(players=players, gamma=0.9, lost_game_penalty=0.5))
    args, group, ended = learner.args, learner.games.groups[0], 0
    learner.games.rewards.lost_points_share = share = 0.25
    with torch.no_grad():
        for parameter in learner.network.parameters():
            parameter.mul_(3)  # first values are so small that rounding decides between them
    for turn in range(30):
        mask = group.receive()["action_mask"]
        actions = obl.explore(mask.int().argmax(1), mask, 1.0)
        group.batches[0].worlds(seed=turn, into=learner.worlds[0])
        world, count = learner.worlds[0].copy(), len(actions)
        wanted, discount, action = np.zeros(count), np.ones(count), actions.numpy()
        for _ in range(players):
            outputs = world.step(action)
            lost = np.isin(outputs["final_ending"], defeats)
            points = outputs["reward"] - lost * (args.lost_game_penalty + share * outputs["final_score"])
            wanted += discount * points
            discount *= args.gamma * ~outputs["terminated"]
            best = [best_move(learner, *row) for row in zip(outputs["obs"], outputs["action_mask"], strict=True)]
            action, values = (np.array(column) for column in zip(*best, strict=True))
            ended += outputs["terminated"].sum()
        wanted += discount * values
        np.testing.assert_allclose(learner.returns(learner.worlds[0], actions), wanted, atol=1e-4)
        group.send(actions)
    assert ended > 0


def test_targets_are_mean_returns_of_the_worlds(obl, small, monkeypatch):
    import torch

    learner = obl.OBL(small(worlds=3))
    returns = iter(torch.arange(3.0 * learner.args.rollout * 8).view(-1, 8))
    monkeypatch.setattr(learner, "returns", lambda world, action: next(returns))
    learner.collect()
    expected = torch.arange(3.0 * learner.args.rollout * 8).view(-1, 3, 8).mean(1)
    torch.testing.assert_close(learner.target, expected)


def test_a_rollout_keeps_the_turns_of_the_games(obl, small):
    """Its inputs and masks are those of the positions in which its actions were played."""
    learner = obl.OBL(small(seed=4))
    again = obl.OBL(small(seed=4)).games.groups[0].batches[0]
    learner.collect()
    for step in range(learner.args.rollout):
        outputs = again.observe()
        np.testing.assert_array_equal(learner.mask[step], outputs["action_mask"])
        np.testing.assert_array_equal(learner.inputs[step], learner.network.read(outputs["obs"]))
        again.step(learner.action[step].numpy())


def test_exploration_has_a_rate_for_each_seat_of_each_game(obl, small, monkeypatch):
    """Seat 1 always explores, seat 0 never does."""
    import torch

    learner = obl.OBL(small(num_envs=64))
    learner.epsilon = torch.tensor([[0.0, 1.0]]).expand(64, 2)
    learner.collect()
    with torch.no_grad():
        values = learner.values(learner.inputs.flatten(0, 1), learner.mask.flatten(0, 1))
    best = values.argmax(1).view_as(learner.action) == learner.action
    # All games begin with seat 0 and the seats take turns; some games end in a rollout.
    assert best[0].all()
    assert best[1].float().mean() < 0.5


def test_the_row_of_an_update_has_all_games_that_ended_in_its_rollout(obl, small):
    learner, ended = obl.OBL(small(num_envs=64)), []
    before = learner.games.groups[0].batches[0].copy()
    measures = learner.update(0.0)
    for step in range(learner.args.rollout):
        outputs = before.step(learner.action[step].numpy())
        ended += outputs["final_score"][outputs["terminated"]].tolist()
    assert measures["kept"] == pytest.approx(np.mean(ended))


@pytest.fixture
def below(obl, small, tmp_path):
    """The file of a policy of level 1."""
    obl.main(small(out=tmp_path / "below", total_steps=100, seed=8))
    return str(tmp_path / "below" / "policy.safetensors")


def test_a_level_begins_with_the_weights_of_the_one_below(obl, small, below):
    import torch

    learner = obl.OBL(small(below=below))
    state = starmine.load_policy(below).network().state_dict()
    assert all(torch.equal(weights, state[name]) for name, weights in learner.network.state_dict().items())
    assert learner.method == "OBL-2"
    assert obl.method_above("IPPO") == "OBL over IPPO"
    with pytest.raises(starmine.StarmineError):
        small(below=below, belief_part=1.1)
    with pytest.raises(TrainingError):
        obl.OBL(small(below="ippo-2p"))


def test_worlds_are_drawn_from_the_candidates_by_their_scores(obl, small, below, monkeypatch):
    """Each world has the own hand of a candidate, drawn in proportion to exp(score)."""
    import torch

    learner = obl.OBL(small(below=below, candidates=3, num_envs=2000))
    learner.learns_belief = False
    hands, draw = [], learner.draw_candidates

    def keep():
        seeds, drawn = draw()
        hands.append(drawn)
        return seeds, drawn

    scores = torch.tensor([0.0, np.log(3), -np.inf]).expand(2000, 3)
    monkeypatch.setattr(learner, "draw_candidates", keep)
    monkeypatch.setattr(learner, "score_hands", lambda inputs, candidates: scores)
    learner.collect()
    learner.hands[0, :, 0] = learner.games.groups[0].receive()["own_hand"]
    learner.draw_worlds(learner.inputs[0])
    real = torch.from_numpy(learner.batch.observe()["obs"])
    for world in learner.worlds:
        outputs = world.observe()
        own = torch.from_numpy(outputs["own_hand"])
        matches = (hands[-1] == own[:, None]).all(2)
        assert matches.any(1).all()
        apart = ~(hands[-1][:, 0] == hands[-1][:, 1]).all(1) & ~matches[:, 2]
        assert abs(matches[apart, 1].float().mean() - 0.75) < 5 * (0.75 * 0.25 / 1000) ** 0.5
        # The seat to act cannot tell a world from the game.
        assert torch.equal(torch.from_numpy(outputs["obs"]), real)


def test_the_belief_learns_what_the_moves_of_the_policy_below_say(obl, small, below):
    """A seat that discards slot 0 if the other's card there is a 1, and else slot 1, tells of that card."""
    import torch

    layout = starmine.variant("small", players=2).layout("canonical")
    section = next(section for section in layout.sections if section.name == "hands")

    def tells(bits):
        hands = starmine.torch.unpack_bits(bits, len(layout))[:, section.slice].view(len(bits), *section.shape)
        return 1 - hands[:, 0, 0, :, 0].sum(1).long()

    def known_nats(choose):
        learner = obl.OBL(small(below=below, candidates=7, num_envs=256, minibatch=128, seed=5))
        discard = learner.variant.action("discard 0")

        def move(bits, mask):
            hint = 4 + torch.rand(mask[:, 4:].shape).masked_fill(~mask[:, 4:], -1).argmax(1)
            return learner.network.read(bits), torch.where(mask[:, discard], discard + choose(bits), hint), None

        learner.find_best = move
        learner.epsilon.zero_()
        learner.lr.fill_(0.01)
        for _ in range(6):
            learner.collect()
            loss = learner.learn_belief()["belief_loss"]
        return np.log(8) - loss

    assert known_nats(tells) > 0.15
    assert known_nats(lambda bits: torch.zeros(len(bits), dtype=torch.int64)) < 0.02


def test_a_longer_budget_does_not_learn_the_belief_again(obl, small, below):
    learner = obl.OBL(small(below=below, belief_part=0.5))
    assert "belief_loss" in learner.update(0.4)
    assert "loss" in learner.update(0.6)
    again = obl.OBL(small(below=below, belief_part=0.5))
    again.load_state_dict(learner.state_dict())
    assert "loss" in again.update(0.3)


def test_values_of_actions_are_dueling(obl):
    import torch

    logits, mask = torch.tensor([[1.0, 2.0, 6.0, 9.0]]), torch.tensor([[True, True, True, False]])
    found = obl.action_values(logits, torch.tensor([5.0]), mask)
    assert found.tolist() == [[3.0, 4.0, 8.0, -np.inf]]


@pytest.mark.parametrize(
    "options", [{}, {"players": 3}, {"belief_part": 0.4}], ids=["two players", "three players", "level 2"]
)
def test_it_resumes_to_the_same_bits(obl, small, below, tmp_path, monkeypatch, options):
    if "belief_part" in options:
        options = options | {"below": below}
    whole = assert_resumes_to_the_same_bits(obl.main, partial(small, **options), tmp_path, monkeypatch)
    fresh = obl.OBL(small(**options)).network.state_dict()
    assert all((fresh[name] != weights).any() for name, weights in whole["state"]["network"].items())
    assert "loss" in log_lines(tmp_path / "whole")[-1]


def test_a_policy_file_plays_its_average(obl, small, tmp_path):
    arguments = small(lr=0.02, average=0.9)
    obl.main(arguments)
    saved = starmine.load_policy(tmp_path / "run" / "policy.safetensors")
    assert saved.about["method"] == "OBL-1"
    learner = obl.OBL(arguments)
    state = checkpoint(tmp_path / "run")["state"]
    learner.network.load_state_dict(state["network"])
    learner.average.load_state_dict(state["average"])

    def distance(network):
        """To the policy file, whose weights are rounded."""
        own = network.state_dict()
        return sum(float((weights - own[name]).abs().sum()) for name, weights in saved.network().state_dict().items())

    assert distance(learner.average.network) < 0.2 * distance(learner.network)
    assert len(starmine.play_games([saved, saved], 10, variant="small")) == 10


def test_a_diverged_run_stops_before_its_next_checkpoint(obl, small, tmp_path):
    from starmine.training import DivergedError

    with pytest.raises(DivergedError):
        obl.main(small(total_steps=10_000, lr=1e30))
    if (tmp_path / "run" / "checkpoint.pt").exists():
        weights = checkpoint(tmp_path / "run")["state"]["network"]
        assert all(tensor.isfinite().all() for tensor in weights.values())


def test_a_resumed_run_keeps_its_rules(obl, small):
    obl.main(small(total_steps=100))
    with pytest.raises(TrainingError):
        obl.main(small(total_steps=200, players=3, resume=True))
