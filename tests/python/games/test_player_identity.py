"""Players carry their weights: what lies at the path of a policy later changes nothing."""

import copy
import pickle
import re

import numpy as np
import pytest
from two_policies import BAD, GOOD, RULES

import starmine
from starmine import Batch, SerializationError, StarmineError, UnknownNameError
from starmine._core import _ExternalPartner, _Player
from starmine.games.identity import identity

MINI = "ippo-mini"
ODD = ["a;b.st", "x.st ", " y.st", '"z".st', "w; sampled", "v;hands=3", "ippo-mini"]


def scores(player, **options):
    return starmine.play_games([player, player], 20, variant=RULES, **options).scores.tolist()


@pytest.fixture
def replaced(tmp_path):
    """A policy that was loaded, and the one that lies at its path now."""
    path = tmp_path / "p.st"
    path.write_bytes(GOOD)
    old = starmine.load_policy(path)
    path.write_bytes(BAD)
    return old, starmine.load_policy(path)


EXPECTED = scores(MINI)


def test_a_policy_plays_the_weights_that_were_loaded(replaced):
    old, new = replaced
    assert scores(old) == EXPECTED
    assert scores(new) != EXPECTED
    assert scores(new.bot) == scores(new)
    evaluation = starmine.evaluate({"old": old, "new": new}, 20, variant=RULES)
    assert evaluation.pairing("old", "old").score == np.mean(EXPECTED)
    assert evaluation.pairing("new", "new").score == np.mean(scores(new))


def test_a_copy_and_a_pickle_of_a_policy_have_its_weights(replaced, tmp_path):
    old, _ = replaced
    (tmp_path / "p.st").unlink()
    for made in (copy.copy(old), copy.deepcopy(old), pickle.loads(pickle.dumps(old))):
        assert made.data == old.data
        assert scores(made) == EXPECTED
    player = old._player
    for made in (copy.copy(player), copy.deepcopy(player), pickle.loads(pickle.dumps(player))):
        assert made == player
        assert hash(made) == hash(player)
        assert scores(made) == EXPECTED
    with pytest.raises(SerializationError):
        _Player._of_bytes(b"\xff\xff")
    with pytest.raises(StarmineError):
        _Player._of_bytes(pickle.dumps(player))


def test_partners_have_the_weights_that_were_loaded(replaced):
    old, new = replaced

    def turns(partner):
        batch = Batch(RULES, 50, partners={1: partner}, seed=3)
        rng, steps = np.random.default_rng(0), []
        for _ in range(20):
            mask = batch.observe()["action_mask"]
            steps.append(batch.step((rng.random(mask.shape) * mask).argmax(1))["score"].tolist())
        return steps

    shipped = turns(MINI)
    assert turns(old) == shipped
    assert turns([old]) == shipped
    assert turns(new) != shipped
    for partner in (old, [old], starmine.make_bot(old, RULES)):
        env = starmine.HanabiVectorEnv(50, variant=RULES, partners={1: partner}, seed=3)
        env.reset(seed=3)
        twin = starmine.HanabiVectorEnv(50, variant=RULES, partners={1: MINI}, seed=3)
        twin.reset(seed=3)
        for _ in range(20):
            np.testing.assert_array_equal(env._batch.observe()["obs"], twin._batch.observe()["obs"])
            actions = env._batch.observe()["action_mask"].argmax(1)
            env.step(actions)
            twin.step(actions)


def test_seated_bots_and_suggestions_have_the_weights_that_were_loaded(replaced):
    old, new = replaced

    def history(*bots):
        state = RULES.new_game(seed=7)
        while not state.is_terminal:
            state.apply(bots[state.current_player].act(state.view(state.current_player)))
        return [event.action for event in state.history]

    seated = [starmine.make_bot(old, RULES, seat) for seat in range(2)]
    shipped = history(*(starmine.make_bot(MINI, RULES, seat) for seat in range(2)))
    assert history(*seated) == shipped
    assert history(*(starmine.make_bot(new, RULES, seat) for seat in range(2))) != shipped
    assert scores(seated[0]) == EXPECTED
    state = RULES.new_game(seed=7)
    suggestions = []
    while not state.is_terminal:
        suggestions.append(state.suggest(old))
        state.apply(suggestions[-1])
    assert suggestions == shipped


def test_blueprints_have_the_weights_that_were_loaded(replaced):
    old, new = replaced
    state = RULES.new_game(seed=5)
    search = {"rollouts": 200, "seed": 1}
    shipped, found, other = (starmine.search(state, player, **search) for player in (MINI, old, new))
    assert [action.mean for action in found.actions] == [action.mean for action in shipped.actions]
    assert [action.mean for action in other.actions] != [action.mean for action in shipped.actions]


def test_a_stored_batch_has_the_weights_of_its_partners(replaced, tmp_path):
    old, _ = replaced
    twin = Batch(RULES, 50, partners={1: ["iggi", MINI]}, seed=3)
    batch = Batch(RULES, 50, partners={1: ["iggi", old]}, seed=3)
    for _ in range(5):
        actions = batch.observe()["action_mask"].argmax(1)
        assert batch.step(actions)["score"].tolist() == twin.step(actions)["score"].tolist()
    (tmp_path / "p.st").unlink()
    for made in (Batch.from_bytes(batch.to_bytes()), pickle.loads(pickle.dumps(batch)), batch.copy()):
        assert made.to_bytes() == batch.to_bytes()
        again = twin.copy()
        for _ in range(20):
            actions = made.observe()["action_mask"].argmax(1)
            assert made.step(actions)["score"].tolist() == again.step(actions)["score"].tolist()


def test_shipped_weights_are_not_stored():
    batch = Batch(RULES, 2, partners={1: MINI}, seed=3)
    stored = batch.to_bytes()
    assert GOOD not in stored  # only a checksum
    assert len(stored) < 10_000
    player = pickle.dumps(_Player(MINI))
    assert len(player) < 1_000


class First:
    """A partner in Python."""

    def act_batch(self, turns):
        return turns.action_mask.argmax(1)


def test_a_batch_with_partners_in_python_is_not_stored():
    env = starmine.HanabiVectorEnv(4, variant=RULES, partners={1: First()}, seed=3)
    for store in (env._batch.to_bytes, lambda: pickle.dumps(env._batch)):
        with pytest.raises(SerializationError):
            store()


@pytest.mark.parametrize("text", ["outside: 0", "outside: 1", repr(_ExternalPartner()), "policy: 0"])
def test_no_text_reaches_a_partner_in_python(text):
    with pytest.raises(UnknownNameError):
        Batch(RULES, 2, partners={1: text})
    with pytest.raises(UnknownNameError):
        starmine.HanabiVectorEnv(2, variant=RULES, partners={1: [text, "iggi"]})


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("name", ODD)
def test_every_file_name_plays_and_its_text_is_parsed_back(tmp_path, monkeypatch, name, sampled):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(BAD)
    given = f"./{name}" if name == MINI else name
    policy = starmine.load_policy(given, sampled)
    (tmp_path / "plain.st").write_bytes(BAD)
    expected = scores(starmine.load_policy("plain.st", sampled))
    assert scores(policy) == expected
    for text in (policy.bot, f"noisy: 0; {policy.bot}"):
        assert scores(text) == expected
        assert _Player(text).text == text
    assert _Player(policy.bot) == policy._player
    again = re.match("<TrainedPolicy (.*): Variant", repr(policy))
    assert again is None or again[1] == repr(policy.bot)
    if not sampled:
        player = _Player(f"search: {policy.bot}; rollouts=20; hands=30")
        assert player.text == f"search: {policy.bot}; rollouts=20; hands=30"
        assert starmine.search(RULES.new_game(seed=5), policy, rollouts=50).actions
        state = RULES.new_game(seed=5)
        assert state.suggest(player) in state.legal_actions()


def test_players_are_equal_by_content(tmp_path):
    (tmp_path / "p.st").write_bytes(GOOD)
    text = f"policy: {tmp_path / 'p.st'}"
    one, same = _Player(text), _Player(f"policy:{tmp_path / 'p.st'}")
    (tmp_path / "p.st").write_bytes(BAD)
    assert one == same
    assert one != _Player(text)
    assert one != _Player(f"{text}; sampled")
    assert one != text
    assert _Player("smart") == _Player("smart") != _Player("piers")
    assert one.text_with("x") == "policy: x"
    assert _Player(f"search: {MINI}; rollouts=5").text_with("x") == "search: policy: x; rollouts=5"
    assert _Player("noisy: 0.1; smart").text_with("x") == "noisy: 0.1; smart"
    assert repr(one) == f'<Player "{text}">'
    with pytest.raises(UnknownNameError):
        _Player("noisy: 0.1; smart").noisy(0.1)
    with pytest.raises(UnknownNameError):
        _Player("smart").noisy(2.0)


def test_a_subclass_or_a_wrapper_of_a_policy_is_known_by_its_own_version_alone(tmp_path):
    """It may play otherwise than the weights say."""
    torch = pytest.importorskip("torch")
    from starmine.torch import PolicyNetwork

    torch.manual_seed(0)
    PolicyNetwork(starmine.variant("mini"), hidden=(8,)).save(tmp_path / "plain.safetensors")
    policy = starmine.load_policy(tmp_path / "plain.safetensors")

    class Wrapper:
        def __init__(self, version):
            self.version = version

        def __getattr__(self, name):
            return getattr(policy, name)

    kind = type("Mine", (type(policy),), {})
    for make in (lambda version: Wrapper(version), lambda version: changed_version(copy.copy(policy), kind, version)):
        one, other = identity(make(1)), identity(make(2))
        assert one.text != other.text
        assert identity(policy).text not in (one.text, other.text)


def changed_version(policy, kind, version):
    """A policy as an object of another class, with a version."""
    policy.__class__, policy.version = kind, version
    return policy


def test_games_and_evaluations_name_a_network_alike(tmp_path):
    torch = pytest.importorskip("torch")
    from starmine.torch import ModulePolicy, PolicyNetwork

    torch.manual_seed(0)
    policy = ModulePolicy(PolicyNetwork(starmine.variant("mini"), hidden=(8,)))
    (played,) = starmine.play_games([policy, policy], 5, variant="mini").roster
    starmine.evaluate({played.name: policy}, 5, variant="mini", output=tmp_path, figure=False)
    assert starmine.data.Dataset(tmp_path).roster == (played,)
    assert played.checksum == policy.checksum
