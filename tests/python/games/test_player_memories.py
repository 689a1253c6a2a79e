"""A player object with hidden states belongs to each of its users; what it draws by chance follows from the game."""

import copy
import functools

import foreign_policies
import numpy as np
import pytest
from recurrent_policy import recurrent

import starmine

torch = pytest.importorskip("torch")

RULES = starmine.Variant()
GAMES = 64


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    for name in ("obl", "sad.pthw", "mappo-rnn", "ippo"):
        foreign_policies.write(name, folder / name)
    return folder


def network(recurrent=True):
    from starmine.torch import PolicyNetwork

    torch.manual_seed(0)
    made = PolicyNetwork(RULES, hidden=(32,), recurrent=recurrent)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(3)
    return made


def module_policy(files, **options):
    from starmine.torch import ModulePolicy

    return ModulePolicy(network(), **options)


def sampled_module(files):
    return module_policy(files, sampled=True)


def loaded(name, **options):
    return lambda files: starmine.load_policy(files / name, **options)


def of_a_user(files):
    """A policy that keeps its hidden states by game and seat, as the protocol asks."""
    return recurrent(RULES)


RECURRENT = {
    "OBL": loaded("obl"),
    "SAD": loaded("sad.pthw"),
    "MAPPO, sampled": loaded("mappo-rnn", sampled=True),
    "ModulePolicy": module_policy,
    "ModulePolicy, sampled": sampled_module,
    "a user's": of_a_user,
    "a user's, all turns": lambda files: recurrent(RULES, all_turns=True),
    "a user's, made for each": lambda files: functools.partial(recurrent, RULES),
}
SAMPLED = {
    "IPPO": loaded("ippo", sampled=True),
    "MAPPO": loaded("mappo-rnn", sampled=True),
    "ModulePolicy": sampled_module,
    "feed-forward": lambda files: sampled_feed_forward(),
}


def sampled_feed_forward():
    from starmine.torch import ModulePolicy

    return ModulePolicy(network(recurrent=False), sampled=True)


every_recurrent = pytest.mark.parametrize("make", RECURRENT.values(), ids=RECURRENT)
every_sampled = pytest.mark.parametrize("make", SAMPLED.values(), ids=SAMPLED)


class Steps:
    """An environment in which the learner plays pseudo-random legal actions."""

    def __init__(self, partner, num_envs=GAMES, seed=5, seat=1):
        self.env = starmine.HanabiVectorEnv(num_envs, partners={seat: partner})
        _, self.info = self.env.reset(seed=seed)
        self.rows = []

    def play(self, turns):
        """Plays turns; what the learner saw of each game."""
        for _ in range(turns):
            mask = self.info["action_mask"]
            chosen = (np.random.RandomState(len(self.rows)).random_sample(mask.shape[1]) * mask).argmax(1)
            obs, _, _, _, self.info = self.env.step(chosen)
            self.rows.append(obs)
        return np.stack(self.rows)


def histories(games):
    """The actions of each game."""
    found = games
    return [
        found.actions[start:stop].tolist() for start, stop in zip(found.offsets[:-1], found.offsets[1:], strict=True)
    ]


@every_recurrent
def test_each_user_has_its_own_hidden_states(files, make, tmp_path):
    """Evaluations, generated games and tables of a person between the steps of an environment."""
    from starmine.look.live_game import LiveGame

    expected = Steps([make(files), "smart"]).play(12)
    partner = make(files)
    steps = Steps([partner, "smart"])
    steps.play(3)
    starmine.evaluate({"it": partner}, 40, figure=False)
    steps.play(3)
    starmine.data.generate([partner, "noisy: 0.1; smart"], 40, tmp_path, seed=3, progress=False)
    steps.play(3)
    table = LiveGame(RULES, [partner, partner], seed=4)
    while not table.is_over:
        table.play_partner()
    np.testing.assert_array_equal(steps.play(3), expected)


@every_recurrent
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_an_environment_resumes_with_its_hidden_states(files, make, copied):
    for partner in (make(files), [make(files), "smart", make(files)]):
        steps = Steps(partner)
        steps.play(4)
        others = [copied(steps), copied(steps)]
        if copied is copy.copy:
            for other in others:
                other.env, other.rows = copy.copy(steps.env), list(steps.rows)
        others[0].play(5)
        expected = steps.play(8)
        for other in others:
            other.play(12 - len(other.rows))
            np.testing.assert_array_equal(np.stack(other.rows), expected)


def test_a_session_shares_the_weights_of_a_module(files):
    """A partner that is trained meanwhile plays its present weights."""
    policy = module_policy(files)
    steps = Steps(policy)
    steps.play(2)
    with torch.no_grad():
        for parameter in policy.module.parameters():
            parameter.zero_()
    other = Steps(policy)
    assert steps.env._games._players._holders[0].asked.module is policy.module
    assert other.env._games._players._holders[0].asked is not steps.env._games._players._holders[0].asked


@every_sampled
def test_a_sampled_partner_does_not_depend_on_the_number_of_games(files, make):
    expected = Steps(make(files), 48).play(12)
    np.testing.assert_array_equal(Steps(make(files), 5).play(12), expected[:, :5])
    policy = make(files)
    starmine.play_games([policy, policy], 10)
    np.testing.assert_array_equal(Steps(policy, 48).play(12), expected)
    steps = Steps(policy, 48, seed=1)
    steps.play(3)
    _, steps.info = steps.env.reset(seed=5)
    steps.rows = []
    np.testing.assert_array_equal(steps.play(12), expected)
    assert (Steps(make(files), 48, seed=6).play(12) != expected).any()


@every_sampled
def test_sampled_moves_differ_between_games(files, make):
    games = starmine.play_games([make(files)] * 2, 200)
    assert len({tuple(history) for history in histories(games)}) == 200


def test_numbers_to_draw_by_differ_between_games_episodes_seats_and_turns(files):
    class Noted:
        dtype = "bits"

        def __init__(self, policy):
            self.policy, self.uniform = policy, []

        def act_batch(self, turns):
            self.uniform += turns.uniform.tolist()
            return self.policy.act_batch(turns)

    noted = Noted(SAMPLED["feed-forward"](files))
    Steps(noted, 32).play(100)
    assert len(set(noted.uniform)) == len(noted.uniform) > 2000
    assert abs(np.mean(noted.uniform) - 0.5) < 0.03


@every_sampled
def test_the_first_episodes_of_an_environment_are_those_of_play_games(files, make):
    """Both draw by the seed, the game, the seat and the turn."""
    games = starmine.play_games([Last(), make(files)], 16, seed=5)
    env = starmine.HanabiVectorEnv(16, partners={1: make(files)})
    _, info = env.reset(seed=5)
    scores, lengths = np.full(16, -1), np.full(16, -1)
    while (scores < 0).any():
        _, _, ended, _, info = env.step(last(info["action_mask"]))
        first = ended & (scores < 0)
        scores[first], lengths[first] = info["final_score"][first], info["final_length"][first]
    assert scores.tolist() == games.scores.tolist()
    assert lengths.tolist() == games.lengths.tolist()
    assert len(set(lengths)) > 3


def last(masks):
    """The last legal action of each row."""
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(1)


class Last:
    """A policy that plays the last legal action."""

    def act_batch(self, turns):
        return last(turns.action_mask)


@every_sampled
def test_chunks_and_first_games_change_no_draw(files, make):
    whole = histories(starmine.play_games([make(files), "smart"], 40))
    policy = make(files)
    parts = [starmine.play_games([policy, "smart"], 10, first_game=first) for first in range(0, 40, 10)]
    assert [history for part in parts for history in histories(part)] == whole


@every_sampled
def test_generated_games_follow_from_their_numbers(files, make, tmp_path, monkeypatch):
    from starmine.data import Dataset
    from starmine.data.generation import shard

    def rows(folder, **options):
        starmine.data.generate([make(files), "smart"], 50, tmp_path / folder, seed=3, progress=False, **options)
        return [Dataset(tmp_path / folder)[game].actions.tolist() for game in range(50)]

    expected = rows("one")
    monkeypatch.setattr(shard, "PYTHON_CHUNK", 7)
    assert rows("two", shard_size=20) == expected
