"""Policies and torch modules as partners in the vector environment: beside bots that play the same."""

import copy
import pickle
import threading
from concurrent.futures import Future

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

import starmine
from starmine import HanabiVectorEnv, IllegalActionError, SerializationError, StarmineError, UnknownNameError
from starmine.text import ChatError, ChatPlayer

GAMES = 13
STEPS = 90


class FirstLegal:
    """Plays the first legal action, as a list of rules does where hints come last."""

    def __init__(self):
        self.calls = []
        self.begun = []

    def act_batch(self, turns):
        assert turns.obs.dtype == np.uint8
        assert len(turns.obs) == len(turns.action_mask) == len(turns.game)
        self.calls.append(turns.game.tolist())
        return turns.action_mask.argmax(axis=1)

    def session(self):
        return self

    def reset(self, games, seats):
        self.begun.append(games.tolist())


class Network:
    """Plays as the bot of a trained policy, through its logits."""

    def __init__(self, policy):
        self.policy = starmine.load_policy(policy)
        assert not self.policy.recurrent

    def act_batch(self, turns):
        logits, _, _ = self.policy.logits(turns.obs)
        return np.where(turns.action_mask, logits, -np.inf).argmax(axis=1)


TRAINED = "ippo-2p-small"


def actions_of(rng, info):
    """A legal action of each game; 0 where a game is over."""
    return np.array([rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in info["action_mask"]])


def last_legal(info):
    """The last legal action of each game: a hint where a token is left."""
    mask = info["action_mask"]
    return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)


def assert_equal_infos(found, expected):
    """Compares infos, also the objects in them."""
    assert list(found) == list(expected)
    for name, value in expected.items():
        if name == "final_info":
            assert_equal_infos(found[name], value)
        elif name == "final_obs":
            for row, other in zip(found[name], value, strict=True):
                np.testing.assert_array_equal(row, other)
        else:
            np.testing.assert_array_equal(found[name], value, err_msg=name)


def assert_plays_as(partners, twins, mode="SameStep", steps=STEPS, **settings):
    """Steps two environments with the same actions; their partners are to make no difference."""
    envs = [
        HanabiVectorEnv(GAMES, partners=holders, autoreset_mode=mode, seed=5, **settings)
        for holders in (partners, twins)
    ]
    rng = np.random.default_rng(3)
    (obs, info), (expected, other) = (env.reset() for env in envs)
    ended = 0
    for _ in range(steps):
        np.testing.assert_array_equal(obs, expected)
        assert_equal_infos(info, other)
        actions = actions_of(rng, info)
        (obs, *results, info), (expected, *others, other) = (env.step(actions) for env in envs)
        for found, array in zip(results, others, strict=True):
            np.testing.assert_array_equal(found, array)
        ended += results[1].sum()
        if mode == "Disabled" and results[1].any():
            (obs, info), (expected, other) = (env.reset(options={"reset_mask": results[1]}) for env in envs)
    assert ended > 0
    np.testing.assert_array_equal(*(env._batch.episodes for env in envs))


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
@pytest.mark.parametrize("seat", [0, 1])
def test_a_policy_object_plays_as_the_bot_of_the_same_network(seat, mode):
    assert_plays_as({seat: Network(TRAINED)}, {seat: starmine.load_policy(TRAINED)}, mode)


def test_objects_and_bots_share_a_table():
    partners = {0: FirstLegal(), 2: "smart", 3: "holmes"}
    env = HanabiVectorEnv(GAMES, players=4, partners=partners, seed=1)
    _, info = env.reset()
    rng, returns = np.random.default_rng(0), np.zeros(GAMES)
    for _ in range(60):
        assert (info["current_player"] == 1).all()
        _, reward, terminated, _, info = env.step(actions_of(rng, info))
        returns += reward
        np.testing.assert_array_equal(returns[terminated], info["final_score"][terminated])
        returns[terminated] = 0
    assert env._batch.episodes.min() > 0


@pytest.mark.parametrize("settings", [{}, {"random_start_player": True, "observers": "all"}], ids=str)
def test_rewards_add_up_with_objects_in_all_other_seats(settings):
    policy = FirstLegal()
    env = HanabiVectorEnv(GAMES, players=3, partners={0: policy, 2: [policy, FirstLegal()]}, seed=2, **settings)
    _, info = env.reset()
    rng, returns = np.random.default_rng(0), np.zeros(GAMES)
    for _ in range(60):
        _, reward, terminated, _, info = env.step(actions_of(rng, info))
        returns += reward
        np.testing.assert_array_equal(returns[terminated], info["final_score"][terminated])
        returns[terminated] = 0
    assert (env._batch.episodes > 1).all()


def test_a_policy_is_called_for_all_games_at_once_and_told_of_new_episodes():
    policy = FirstLegal()
    env = HanabiVectorEnv(GAMES, partners={1: policy}, seed=2)
    _, info = env.reset()
    assert policy.begun == [[*range(GAMES)]]
    assert policy.calls == []  # the learner begins
    for step in range(30):
        begun = len(policy.begun)
        _, _, terminated, _, info = env.step(info["action_mask"].argmax(axis=1))
        told = [game for games in policy.begun[begun:] for game in games]
        assert sorted(told) == np.flatnonzero(terminated).tolist()
        assert len(policy.calls) <= step + 1  # once a step; not at all where the learner's turns end all games
    assert max(map(len, policy.calls)) == GAMES
    assert any(len(games) < GAMES for games in policy.calls)


def test_a_torch_module_plays_its_best_legal_action():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    variant = starmine.Variant()
    linear = torch.nn.Linear(len(variant.layout()), variant.num_actions)

    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear

        def forward(self, observations, mask):
            return self.linear(observations)

    class Same:
        def act_batch(self, turns):
            with torch.no_grad():
                logits = linear(torch.from_numpy(turns.obs).float()).numpy()
            return np.where(turns.action_mask, logits, -np.inf).argmax(axis=1)

    module = Module()
    assert_plays_as({1: module}, {1: Same()}, steps=40)
    assert_plays_as({1: [module, module]}, {1: [Same(), Same()]}, steps=20)


def test_partners_of_a_list_are_drawn_as_bots_are():
    first, second = FirstLegal(), FirstLegal()
    env = HanabiVectorEnv(64, partners={1: [first, "random", second]}, seed=0)
    _, info = env.reset()
    env.step(info["action_mask"].argmax(axis=1))
    (one,), (other,) = first.calls, second.calls
    assert not set(one) & set(other)
    assert min(len(one), len(other)) > 8
    assert 64 - len(one) - len(other) > 8


def test_an_encoder_of_its_own():
    class Minimal(FirstLegal):
        encoder = "canonical-minimal"

        def act_batch(self, turns):
            assert turns.obs.shape[1] == len(starmine.Variant().layout("canonical-minimal"))
            return super().act_batch(turns)

    assert_plays_as({1: Minimal()}, {1: FirstLegal()}, dtype="bits", steps=30)

    class Wrong(FirstLegal):
        encoder = "canoncal"

    class Peeks(FirstLegal):
        encoder = "canonical-seer"

    for policy, error in ((Wrong(), UnknownNameError), (Peeks(), StarmineError)):
        with pytest.raises(error):
            HanabiVectorEnv(2, partners={1: policy})


class Illegal(FirstLegal):
    """Chooses an action that does not exist in the third call."""

    def act_batch(self, turns):
        chosen = super().act_batch(turns)
        if len(self.calls) == 3:
            chosen[-1] = 99
        return chosen

    def __repr__(self):
        return "Illegal()"


class Raises(FirstLegal):
    """Raises in the third call."""

    def act_batch(self, turns):
        if len(self.calls) == 2:
            self.calls.append([])
            raise KeyError("no such plan")
        return super().act_batch(turns)


class RaisesAtReset(FirstLegal):
    """Raises when its second game of a number begins."""

    def reset(self, games, seats):
        if self.begun:
            self.begun.clear()
            raise KeyError("no such game")
        super().reset(games, seats)


class Floats(FirstLegal):
    """Returns floats in the third call."""

    def act_batch(self, turns):
        chosen = super().act_batch(turns)
        return chosen.astype(float) if len(self.calls) == 3 else chosen


@pytest.mark.parametrize(
    ("make", "cause"),
    [(Illegal, type(None)), (Raises, KeyError), (Floats, StarmineError), (RaisesAtReset, KeyError)],
)
def test_after_a_partner_failed_the_environment_has_to_be_reset(make, cause):
    env = HanabiVectorEnv(GAMES, partners={1: make()}, seed=0)
    _, info = env.reset()

    def play():
        last = info
        for _ in range(100):
            last = env.step(last_legal(last))[-1]

    with pytest.raises(StarmineError) as caught:
        play()
    assert type(caught.value.__cause__) is cause
    for call in (lambda: env.step(last_legal(info)), lambda: env.reset(options={"reset_mask": np.arange(GAMES) == 0})):
        with pytest.raises(ResetNeeded):
            call()
    obs, info = env.reset(seed=4)
    again, _ = HanabiVectorEnv(GAMES, partners={1: FirstLegal()}).reset(seed=4)
    np.testing.assert_array_equal(obs, again)
    env.step(actions_of(np.random.default_rng(0), info))


def test_an_illegal_action_of_the_learner_is_refused_before_anything_moves():
    policy = FirstLegal()
    env = HanabiVectorEnv(GAMES, partners={1: policy}, seed=0)
    _, info = env.reset()
    before = env._batch.observe()
    with pytest.raises(IllegalActionError) as caught:
        env.step([-1] * GAMES)
    assert caught.value.count == GAMES
    for name, array in env._batch.observe().items():
        np.testing.assert_array_equal(array, before[name])
    assert policy.calls == []
    env.step(info["action_mask"].argmax(axis=1))
    ends = HanabiVectorEnv(GAMES, partners={1: policy}, seed=0, illegal_action="terminate")
    ends.reset()
    _, _, terminated, _, info = ends.step([-1] * GAMES)
    assert terminated.all()
    assert info["illegal_action"].all()


class Loses(FirstLegal):
    """Plays its oldest card, in games that a misplay ends mostly before the learner's first turn."""

    def act_batch(self, turns):
        return np.full(len(turns.game), 1)


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_episodes_without_a_turn_of_the_learner_are_skipped(mode):
    # A hand of one card: action 1 plays it. Two partners begin, and one life token is all there is.
    rules = {"players": 3, "colors": 2, "ranks": 3, "hand_size": 1, "max_life_tokens": 1}
    env = HanabiVectorEnv(GAMES, partners={0: Loses(), 1: Loses()}, autoreset_mode=mode, seed=0, **rules)
    _, info = env.reset()
    skipped = env._batch.episodes.sum()
    assert skipped > 0
    returns = np.zeros(GAMES)
    for _ in range(20):
        assert (info["current_player"][info["action_mask"].any(axis=1)] == 2).all()
        _, reward, terminated, _, info = env.step(info["action_mask"].argmax(axis=1))
        returns += reward
        np.testing.assert_array_equal(returns[terminated], info["final_score"][terminated])
        returns[terminated] = 0
        if mode == "Disabled" and terminated.any():
            _, info = env.reset(options={"reset_mask": terminated})


def test_partners_that_end_every_deal_are_refused():
    rules = {"players": 2, "colors": 1, "ranks": 1, "copies": [[3]], "hand_size": 1}
    env = HanabiVectorEnv(2, partners={0: Loses()}, seed=0, **rules)  # the only card is played: a perfect game
    with pytest.raises(StarmineError):
        env.reset()


def test_a_batch_with_objects_is_not_stored():
    env = HanabiVectorEnv(2, partners={1: ["smart", FirstLegal()]}, seed=7)
    for store in (env._batch.to_bytes, lambda: pickle.dumps(env._batch), lambda: pickle.dumps(env)):
        with pytest.raises(SerializationError):
            store()
    with pytest.raises(UnknownNameError):
        HanabiVectorEnv(2, partners={1: "outside: 0"})


def test_copies_go_on_alike():
    env = HanabiVectorEnv(GAMES, partners={1: FirstLegal()}, seed=7)
    _, info = env.reset()
    rng = np.random.default_rng(1)
    for _ in range(25):
        _, _, _, _, info = env.step(actions_of(rng, info))
    others = [copy.deepcopy(env), copy.deepcopy(env)]
    for _ in range(40):
        actions = actions_of(rng, info)
        obs, reward, terminated, _, info = env.step(actions)
        for other in others:
            found, rewards, ended, _, _ = other.step(actions)
            np.testing.assert_array_equal(found, obs)
            np.testing.assert_array_equal(rewards, reward)
            np.testing.assert_array_equal(ended, terminated)


class Bot:
    """Plays the first legal action, as a bot that sees a view; counts the games of its object."""

    made = 0

    def __init__(self):
        Bot.made += 1
        self.turns = 0

    def act(self, view):
        assert len(view.history) // view.variant.players == self.turns
        self.turns += 1
        return view.legal_actions()[0]


class Named(Bot):
    def act(self, view):
        return view.variant.action_meaning(super().act(view))


class Later:
    """Answers in threads, in another order than it was asked in."""

    def act(self, view):
        raise AssertionError("it is asked together")

    def act_views(self, views, games):
        answers = [Future() for _ in views]
        for answer, view in zip(reversed(answers), reversed(views), strict=True):
            threading.Thread(target=answer.set_result, args=(view.legal_actions()[0],)).start()
        return answers


def ask(messages):
    return "MOVE: " + messages[1]["content"].split("Your legal moves:\n- ")[1].split("\n")[0]


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
@pytest.mark.parametrize("make", [lambda: Bot, lambda: Named, Later, lambda: ChatPlayer(ask, concurrency=3)])
def test_a_bot_written_in_python_plays_as_a_policy(make, mode):
    made = Bot.made
    assert_plays_as({1: make()}, {1: FirstLegal()}, mode, steps=60)
    assert_plays_as({0: make()}, {0: FirstLegal()}, mode, steps=20, random_start_player=True)
    if make() is Bot:
        assert Bot.made - made > 2 * GAMES  # an object for each game


def test_copies_of_games_with_a_bot_go_on_alike():
    env = HanabiVectorEnv(GAMES, partners={1: Later()}, seed=7)
    _, info = env.reset()
    rng = np.random.default_rng(1)
    for _ in range(5):
        _, _, _, _, info = env.step(actions_of(rng, info))
    other = copy.deepcopy(env)
    for _ in range(20):
        actions = actions_of(rng, info)
        obs, _, _, _, info = env.step(actions)
        np.testing.assert_array_equal(other.step(actions)[0], obs)


def chosen(move):
    class Chooses(Bot):
        def act(self, view):
            if callable(move):
                return move(view)
            return move

    return Chooses()


def raises(view):
    raise KeyError("no such plan")


@pytest.mark.parametrize("move", [99, -1, "play slot 9", None, 2.5, raises])
def test_after_a_bot_failed_the_environment_has_to_be_reset(move):
    env = HanabiVectorEnv(3, partners={1: chosen(move)}, seed=0)
    _, info = env.reset()
    with pytest.raises(StarmineError):
        env.step(last_legal(info))
    with pytest.raises(ResetNeeded):
        env.step(last_legal(info))
    obs, _ = env.reset(seed=4)
    np.testing.assert_array_equal(obs, HanabiVectorEnv(3, partners={1: "iggi"}).reset(seed=4)[0])


def test_a_chat_partner_that_names_no_move_ends_the_step_with_the_reason():
    env = HanabiVectorEnv(3, partners={1: ChatPlayer(lambda messages: "hm", replies=1)}, seed=0)
    _, info = env.reset()
    with pytest.raises(StarmineError) as caught:
        env.step(last_legal(info))
    assert isinstance(caught.value.__cause__, ChatError)
    env.reset()
