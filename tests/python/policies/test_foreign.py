"""Policies of other libraries play as their libraries' own networks do. tests/data/make_foreign.py recorded these."""

import pickle

import foreign_policies
import numpy as np
import pytest
from helpers.paths import ROOT

import starmine
import starmine.torch
from starmine import SerializationError
from starmine.policies.foreign import load_foreign
from starmine.policies.foreign.files import is_foreign

torch = pytest.importorskip("torch")

RECORDED = np.load(ROOT / "tests" / "data" / "foreign.npz")
SEED = 7
NAMES = list(foreign_policies.FORMATS)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    for name in NAMES:
        foreign_policies.write(name, folder / name)
    return folder


def options(name):
    """The settings that no file says."""
    if name == "mappo-tanh":
        return {"activation": "tanh"}
    return {"skip_connect": True} if name == "sad-skip.pthw" else {}


def load(files, name):
    return load_foreign(files / name, **options(name))


@pytest.mark.parametrize("name", NAMES)
def test_200_games_are_those_of_the_library(files, name):
    policy = load(files, name)
    recorded = RECORDED[f"{name}/actions"]
    games = starmine.play_games([policy] * policy.variant.players, 200, SEED, policy.variant)
    for game in range(200):
        actions = games.actions[games.offsets[game] : games.offsets[game + 1]]
        np.testing.assert_array_equal(actions, recorded[:, game][recorded[:, game] != 255])


@pytest.mark.parametrize("name", NAMES)
def test_scores_of_every_seat_and_turn_are_those_of_the_library(files, name):
    policy = load(files, name)
    players = policy.variant.players
    recorded, actions = RECORDED[f"{name}/scores"], RECORDED[f"{name}/actions"]
    count = recorded.shape[1]
    batch = starmine.Batch(policy.variant, count, observers="all", autoreset_mode="SameStep", dtype="uint8")
    out = batch.reset(decks=RECORDED[f"decks-{players}"][:count])
    memory, seats = None, np.tile(np.arange(players), count)
    for turn in range(len(actions)):
        playing = actions[turn, :count] != 255
        if not playing.any():
            break
        scores, _, memory = policy.logits(out["obs"].reshape(count * players, -1), memory, seats)
        np.testing.assert_allclose(
            scores.reshape(recorded[turn].shape)[playing], recorded[turn][playing], rtol=1e-4, atol=1e-4
        )
        out = batch.step(np.where(playing, actions[turn, :count], np.argmax(out["action_mask"], axis=1)))


def test_the_file_of_a_real_run_is_recognised_by_its_text(files):
    text = f"policy: {files / 'mappo-rnn'}"
    by_text = starmine.play_games([text, "smart"], 20, SEED)
    by_object = starmine.play_games([starmine.load_policy(files / "mappo-rnn"), "smart"], 20, SEED)
    np.testing.assert_array_equal(by_text.actions, by_object.actions)


def test_it_is_evaluated_with_bots(files):
    evaluation = starmine.evaluate({"obl": f"policy: {files / 'obl.pthw'}", "smart": "smart"}, games=20)
    assert "obl" in str(evaluation)


def test_identity_is_content_and_settings(files, tmp_path):
    from starmine.games.identity import identity

    copy = tmp_path / "copy.pthw"
    copy.write_bytes((files / "sad.pthw").read_bytes())
    first, second = load_foreign(files / "sad.pthw"), load_foreign(copy)
    assert identity(first) == identity(second)
    assert identity(first) != identity(load_foreign(copy, skip_connect=True))
    assert identity(first) != identity(load(files, "obl.pthw"))
    assert identity(pickle.loads(pickle.dumps(first))) == identity(first)


def test_a_copy_begins_without_hidden_states(files):
    policy = load(files, "obl")
    before = starmine.play_games([policy] * 2, 5, SEED).actions
    copy = pickle.loads(pickle.dumps(policy))
    np.testing.assert_array_equal(starmine.play_games([copy] * 2, 5, SEED).actions, before)


def test_an_actor_samples_and_action_values_do_not(files):
    sampled = load_foreign(files / "mappo-rnn", sampled=True)
    first = starmine.play_games([sampled] * 2, 20, SEED).actions
    greedy = starmine.play_games([load(files, "mappo-rnn")] * 2, 20, SEED).actions
    assert not np.array_equal(first, greedy)
    with pytest.raises(starmine.StarmineError):
        load_foreign(files / "pqn", sampled=True)


def test_a_text_samples_an_actor_and_no_action_values(files):
    texts = [f"policy: {files / name}; sampled" for name in ("mappo-rnn", "sad.pthw")]
    sampled = starmine.play_games([texts[0]] * 2, 20, SEED).actions
    players = [load_foreign(files / "mappo-rnn", sampled=True) for _ in range(2)]
    same = starmine.play_games(players, 20, SEED)
    np.testing.assert_array_equal(sampled, same.actions)
    with pytest.raises(starmine.StarmineError):
        starmine.play_games([texts[1]] * 2, 20)
    with pytest.raises(starmine.StarmineError):
        starmine.play_games([texts[0].replace("sampled", "samplde")] * 2, 20)


def test_an_evaluation_names_the_file_and_its_checksum(files, tmp_path):
    from hashlib import sha256

    text = f"policy: {files / 'sad.pthw'}"
    evaluation = starmine.evaluate({"sad": text, "skip": load_foreign(files / "sad.pthw", skip_connect=True)}, games=1)
    checksum = sha256((files / "sad.pthw").read_bytes()).hexdigest()
    told = evaluation.to_dict()["settings"]
    assert told["players"] == {"sad": text, "skip": f"{text}; skip_connect"}
    assert told["identities"] == {"sad": f"policy: {checksum}", "skip": f"policy: {checksum}; skip_connect"}


def test_other_rules_are_refused_though_the_widths_fit(files):
    """An observation is as wide with other switches; networks of this package are refused, too."""
    variant = starmine.variant("empty-hints")
    network = starmine.torch.ColorNetwork(starmine.variant("standard"), "canonical")
    for policy in (load(files, "obl"), network, starmine.torch.ModulePolicy(network), starmine.load_policy("ippo-2p")):
        with pytest.raises(starmine.VariantError):
            starmine.play_games([policy] * 2, 2, variant=variant)
        starmine.play_games([policy] * 2, 2, variant=starmine.Variant(lost_game_score="fireworks"))
    with pytest.raises(starmine.VariantError):
        starmine.HanabiVectorEnv(4, variant=variant, partners={1: load(files, "obl")})


def test_it_is_a_partner_by_text_and_as_an_object(files):
    text = f"policy: {files / 'obl'}"
    played = []
    for partner in (text, load(files, "obl")):
        env = starmine.HanabiVectorEnv(8, players=2, partners={1: partner}, num_threads=1)
        _, info = env.reset(seed=3)
        rewards = []
        for _ in range(20):
            _, reward, *_, info = env.step(info["action_mask"].argmax(axis=1))
            rewards.append(reward)
        played.append(np.array(rewards))
    np.testing.assert_array_equal(*played)


def test_a_clone_of_people_with_the_names_of_jax_aht_is_the_same(files, tmp_path):
    from safetensors.numpy import save_file

    def renamed(key):
        return key.replace(",", "/").replace("ScanLstmCellWithHiddenStateReset", "OptimizedLSTMCell")

    save_file({renamed(key): value for key, value in foreign_policies.tensors("ah2ac2").items()}, tmp_path / "clone")
    played = [
        starmine.play_games([policy] * 2, 20, SEED).actions
        for policy in (load(files, "ah2ac2"), starmine.load_policy(tmp_path / "clone"))
    ]
    np.testing.assert_array_equal(*played)


def test_a_clone_of_people_samples(files):
    games = [
        starmine.play_games([load_foreign(files / "ah2ac2", sampled=sampled)] * 2, 20, SEED)
        for sampled in (False, True)
    ]
    assert not np.array_equal(games[0].actions, games[1].actions)


def test_an_activation_is_that_of_the_library_unless_given(files):
    from starmine.games.identity import identity

    usual, given = load(files, "ah2ac2"), load_foreign(files / "ah2ac2", activation="gelu")
    assert identity(usual) == identity(given)
    assert identity(load_foreign(files / "ah2ac2", activation="relu")) != identity(usual)


@pytest.mark.parametrize("name", ["obl", "obl.pthw", "pqn", "ah2ac2"])
def test_a_changed_tensor_is_refused_or_plays(files, tmp_path, name):
    """Each tensor in turn is left out or has another shape."""
    whole = foreign_policies.tensors(name)
    for key in whole:
        for changed in (
            {other: value for other, value in whole.items() if other != key},
            whole | {key: whole[key][:1]},
        ):
            path = tmp_path / "policy"
            if name.endswith("pthw"):
                torch.save({part: torch.from_numpy(value.copy()) for part, value in changed.items()}, path)
            else:
                from safetensors.numpy import save_file

                save_file({part: value.copy() for part, value in changed.items()}, path)
            try:
                policy = starmine.load_policy(path)
            except starmine.StarmineError as error:
                told = str(error)
            else:
                told = ""
                policy.logits(np.zeros((2, 658), np.uint8))
            assert "\n" not in told


def test_our_own_files_are_not_foreign(tmp_path):
    assert not is_foreign(starmine.load_policy("ippo-2p").data)
    assert isinstance(starmine.load_policy("ippo-2p"), starmine.policies.TrainedPolicy)
    with pytest.raises(starmine.UnknownNameError):
        load_foreign(tmp_path / "none")
    with pytest.raises(starmine.UnknownNameError):
        load_foreign(tmp_path / "none", activation="rely")


def normalised(values, tensors, name):
    """Batch normalisation of flax, with running statistics."""
    mean, variance = (tensors[f"batch_stats,{name},{part}"] for part in ("mean", "var"))
    return (values - mean) / np.sqrt(variance + 1e-5) * tensors[f"{name},scale"] + tensors[f"{name},bias"]


def q_values(tensors, inputs, input_norm, layer_norms):
    """JaxMARL's `QNetwork` in numpy."""

    def dense(values, layer):
        return values @ tensors[f"Dense_{layer},kernel"] + tensors[f"Dense_{layer},bias"]

    values = normalised(inputs, tensors, "BatchNorm_0") if input_norm else inputs
    for layer in range(3):
        values = dense(values, layer)
        if layer_norms == "batch_norm":
            values = normalised(values, tensors, f"BatchNorm_{layer + 1}")
        else:
            centred = values - values.mean(1, keepdims=True)
            values = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-6)
            values = values * tensors[f"LayerNorm_{layer},scale"] + tensors[f"LayerNorm_{layer},bias"]
        values = np.maximum(values, 0)
    advantages, value = dense(values, 3), dense(values, 4)
    return advantages + value - advantages.mean(1, keepdims=True)


def pqn(input_norm, layer_norms, stats=True):
    """The tensors of a policy of JaxMARL's PQN, with the statistics of its batch normalisation."""
    random = np.random.default_rng(3)
    tensors = foreign_policies.tensors("pqn")
    sizes = {"BatchNorm_0": 660}
    if layer_norms == "batch_norm":
        for layer in range(3):
            for part in ("scale", "bias"):
                tensors[f"BatchNorm_{layer + 1},{part}"] = tensors.pop(f"LayerNorm_{layer},{part}")
            sizes[f"BatchNorm_{layer + 1}"] = foreign_policies.HIDDEN
    if input_norm:
        tensors["BatchNorm_0,scale"] = random.uniform(0.5, 1.5, 660).astype(np.float32)
        tensors["BatchNorm_0,bias"] = random.uniform(-0.5, 0.5, 660).astype(np.float32)
    for name, size in sizes.items() if stats else ():
        tensors[f"batch_stats,{name},mean"] = random.uniform(-0.5, 0.5, size).astype(np.float32)
        tensors[f"batch_stats,{name},var"] = random.uniform(0.1, 1.0, size).astype(np.float32)
    return tensors


@pytest.mark.parametrize("prefix", ["", "params,"])
@pytest.mark.parametrize("layer_norms", ["layer_norm", "batch_norm"])
@pytest.mark.parametrize("input_norm", [False, True])
def test_batch_normalisation_of_pqn_is_applied_with_the_statistics_of_the_file(
    tmp_path, input_norm, layer_norms, prefix
):
    from safetensors.numpy import save_file

    tensors = pqn(input_norm, layer_norms)
    shown = {key if key.startswith("batch_stats,") else prefix + key: value for key, value in tensors.items()}
    save_file(shown, tmp_path / "pqn.safetensors")
    policy = starmine.load_policy(tmp_path / "pqn.safetensors")
    obs = starmine.Batch(policy.variant, 20, seed=1, dtype="uint8").observe()["obs"]
    seats = np.arange(20) % 2
    inputs = policy.module.inputs.rows(policy.variant, torch.from_numpy(obs), torch.from_numpy(seats)).numpy()
    expected = q_values(tensors, inputs.astype(np.float64), input_norm, layer_norms)
    np.testing.assert_allclose(policy.logits(obs, seats=seats)[0], expected[:, :-1], rtol=1e-4, atol=1e-4)
    assert len(starmine.play_games([policy, policy], 5)) == 5


@pytest.mark.parametrize(
    ("name", "renamed", "added"),
    [
        ("mappo-rnn", ("ScannedRNN_0", "Memory_0"), ()),  # it played without its memory
        ("ippo", None, ("params,Dense_7,kernel", "params,Dense_7,bias")),
        ("obl", None, ("params,priv_net_dense_3,kernel",)),
        ("sad.pthw", None, ("gru.weight",)),
    ],
)
def test_a_tensor_that_no_layer_reads_is_refused(tmp_path, name, renamed, added):
    """The file is of another network, which may play other moves."""
    held = foreign_policies.tensors(name)
    if renamed:
        held = {key.replace(*renamed): value for key, value in held.items()}
    held |= {key: np.zeros((32, 32), np.float32) for key in added}
    if name.endswith("pthw"):
        torch.save({key: torch.from_numpy(value.copy()) for key, value in held.items()}, tmp_path / name)
    else:
        from safetensors.numpy import save_file

        save_file({key: value.copy() for key, value in held.items()}, tmp_path / name)
    with pytest.raises(SerializationError):
        starmine.load_policy(tmp_path / name)
