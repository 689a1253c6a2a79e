"""A player's text means the same at every entry point: the same games, or the same refusal."""

import numpy as np
import pytest
from foreign_policies import dense
from two_policies import GOOD, RULES

import starmine
import starmine.data
import starmine.look
import starmine.training
from starmine.cli import main, play
from starmine.games.mixtures import parse_mixture
from starmine.games.player_texts import Noisy, player_of_text
from starmine.games.players import resolve_player
from starmine.games.seeds import EVALUATION_SEED

torch = pytest.importorskip("torch")

GAMES = 12
SEED = 5
BOT = "van-den-bergh"

STUDENT = """
class Student:
    def act(self, view):
        return view.legal_actions()[-1]
"""


class Last:
    """A policy that plays the last legal action."""

    def act_batch(self, turns):
        return last(turns.action_mask)


def last(masks):
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(1)


def foreign_actor(path):
    """An actor of JaxMARL for the small game, with random weights."""
    from safetensors.numpy import save_file

    shapes = dense("Dense_0", len(RULES.layout()), 32) | dense("Dense_1", 32, 32)
    shapes |= dense("Dense_2", 32, RULES.num_actions + 1)
    random = np.random.default_rng(1)
    save_file({f"params,{name}": random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}, path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    for name in ("run", "a run; with=signs", "other"):
        (folder / name).mkdir()
        (folder / name / "policy.safetensors").write_bytes(GOOD)
    foreign_actor(folder / "actor.safetensors")
    foreign_actor(folder / "other" / "policy.safetensors")
    (folder / "damaged.safetensors").write_bytes(GOOD[:-100])
    (folder / "mybot.py").write_text(STUDENT)
    (folder / "mylast.py").write_text(STUDENT.replace("Student", "Last"))
    (folder / "empty").mkdir()
    return folder


# By kind of player: the texts that name the same one. FOLDER stands for the folder of the files.
OWN = ["FOLDER/run/policy.safetensors", "FOLDER/run", "policy: FOLDER/run/policy.safetensors", "policy:FOLDER/run"]
FOREIGN = ["FOLDER/actor.safetensors", "policy: FOLDER/actor.safetensors", "FOLDER/other", "policy: FOLDER/other"]
PLAYERS = {
    "bot": [BOT],
    "shipped": ["ippo-mini", "policy: ippo-mini", *OWN],
    "odd path": ["FOLDER/a run; with=signs", "policy: FOLDER/a run; with=signs/policy.safetensors"],
    "rules": ["rules: play-safe; hint-playable if information_tokens = 8; discard-oldest; play-probably-safe 0"],
    "search": [f"search: {text}; rollouts=20" for text in ("ippo-mini", *OWN)],
    "foreign": FOREIGN,
    "foreign, sampled": [f"{text}; sampled" for text in FOREIGN],
    "foreign, noisy": [f"noisy: 0.3; {text}" for text in FOREIGN],
    "foreign, without noise": [f"noisy: 0; {text}" for text in FOREIGN],
}
RANDOM = {  # whose draws are those of the core, which differ between entry points
    "noisy bot": [f"noisy: 0.3; {BOT}"],
    "noisy": [f"noisy: 0.3; {text}" for text in ("ippo-mini", *OWN)],
    "sampled": [f"{text}; sampled" for text in ("policy: ippo-mini", *OWN)],
}


def said(text, folder):
    return text.replace("FOLDER", str(folder))


# --- Doors: each gives the scores of the player in seat 1 with `Last` in seat 0 ------------------------------------


def by_play_games(text, tmp_path):
    return starmine.play_games([Last(), text], GAMES, SEED, RULES).scores.tolist()


def by_evaluate(text, tmp_path):
    found = starmine.evaluate({"last": Last()}, GAMES, partners={"it": text}, variant=RULES, seed=SEED, figure=False)
    return found.outcomes[0, 1][0].tolist()


def by_environment(partner):
    env = starmine.HanabiVectorEnv(GAMES, variant=RULES, partners={1: partner}, illegal_action="terminate")
    _, info = env.reset(seed=SEED)
    scores = np.full(GAMES, -1)
    while (scores < 0).any():
        _, _, ended, _, info = env.step(last(info["action_mask"]))
        first = ended & (scores < 0)
        scores[first] = info["final_score"][first]
    return scores.tolist()


def by_partners(text, tmp_path):
    return by_environment(text)


def by_mixture(text, tmp_path):
    assert by_environment([text, text]) == by_environment([(text, 3)])
    return by_environment([(BOT, 0), (text, 1.0)])


def by_generate(text, tmp_path):
    starmine.data.generate([Last(), text], GAMES, tmp_path / "games", RULES, SEED, progress=False)
    return starmine.data.Dataset(tmp_path / "games").table(["score"])["score"].to_pylist()


def by_mixture_of_data(text, tmp_path):
    seat = [("simple", 0), (text, 1)]
    starmine.data.generate([Last(), seat], GAMES, tmp_path / "mixed", RULES, SEED, progress=False)
    return starmine.data.Dataset(tmp_path / "mixed").table(["score"])["score"].to_pylist()


def by_met_partners(text, tmp_path):
    ((partner,), _) = starmine.training.read_partners(RULES, text)
    return by_play_games(partner.player, tmp_path)


def by_weighted_partners(text, tmp_path):
    ((partner, other), _) = starmine.training.read_partners(RULES, f"{text}=2,simple=3")
    assert (partner.weight, other.weight) == (2, 3)
    return by_play_games(partner.player, tmp_path)


def by_hold_out(text, tmp_path):
    (_, (partner,)) = starmine.training.read_partners(RULES, None, text)
    return by_play_games(partner.player, tmp_path)


def by_table(text, tmp_path):
    from starmine.look.live_game import LiveGame

    scores = []
    for game in range(GAMES):
        table = LiveGame(RULES, [Last(), text], SEED, game)
        while not table.is_over:
            table.play_partner()
        scores.append(table.state.score)
    return scores


def by_play_command(text, tmp_path):
    """What `starmine play --partner TEXT` seats."""
    return by_play_games(play.own_player(text), tmp_path)


class CommandError(Exception):
    """A command ended with another exit status than 0."""


def command(*line):
    rules = "mini, lost_game_score=fireworks"
    status = main([*line, "--games", str(GAMES), "--seed", str(SEED), "--variant", rules, "--quiet"])
    if status:
        raise CommandError(status)


def by_eval_command(text, tmp_path):
    folder = tmp_path / "eval"
    command("eval", "last=mylast.py:Last", "--with", f"it={text}", "--no-figure", "--output", str(folder))
    return starmine.data.Dataset(folder).filter(seats=["last", "it"]).scores.tolist()


def by_generate_command(text, tmp_path):
    command("generate", "mylast.py:Last", text, "--output", str(tmp_path / "generated"))
    return starmine.data.Dataset(tmp_path / "generated").table(["score"])["score"].to_pylist()


ENTRY_POINTS = [
    by_play_games,
    by_evaluate,
    by_partners,
    by_mixture,
    by_generate,
    by_mixture_of_data,
    by_met_partners,
    by_weighted_partners,
    by_hold_out,
    by_table,
    by_play_command,
    by_eval_command,
    by_generate_command,
]
IN_CHECKPOINTS = (by_met_partners, by_weighted_partners)  # whose games a checkpoint holds: no player in Python


def is_foreign(kind):
    return kind.startswith("foreign")


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("kind", PLAYERS)
def test_texts_of_one_player_play_the_same_games(kind, here, tmp_path):
    expected = by_play_games(said(PLAYERS[kind][0], here), tmp_path)
    assert len(set(expected)) > 1 or kind == "rules"
    for text in PLAYERS[kind][1:]:
        assert by_play_games(said(text, here), tmp_path) == expected, text


@pytest.mark.parametrize("kind", ["shipped", "odd path", "search", "foreign, noisy", "noisy", "sampled"])
@pytest.mark.parametrize("entry_point", ENTRY_POINTS, ids=lambda entry_point: entry_point.__name__)
def test_a_text_means_the_same_at_every_entry_point(entry_point, kind, here, tmp_path, capsys):
    text = said((PLAYERS | RANDOM)[kind][-1], here)
    if is_foreign(kind) and entry_point in IN_CHECKPOINTS:
        with pytest.raises(starmine.StarmineError):
            entry_point(text, tmp_path)
        return
    found = entry_point(text, tmp_path)
    if kind in PLAYERS and not (kind == "search" and entry_point is by_table):  # whose searches have other seeds
        assert found == by_play_games(text, tmp_path)
    else:
        assert len(found) == GAMES


# --- Doors to which not every player fits ---------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["ippo-mini", "policy: ippo-mini", *OWN, *PLAYERS["odd path"]])
def test_a_policy_of_starmine_is_a_start_a_blueprint_and_a_thinker(text, here, tmp_path, capsys):
    text = said(text, here)
    state = RULES.new_game(seed=3)
    expected = starmine.search(state, "ippo-mini", rollouts=40)
    assert starmine.search(state, text, rollouts=40) == expected
    network = starmine.load_policy("ippo-mini").network()
    from starmine.training.learning import begin_with

    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
    begin_with(network, text)
    assert any(parameter.any() for parameter in network.parameters())
    games = starmine.play_games([BOT, BOT], 1, variant=RULES)
    of_name = starmine.look.replay.replay_data(games, policy="ippo-mini")
    shown = starmine.look.replay.replay_data(games, policy=text)
    for frame in (*shown["games"][0]["frames"], *of_name["games"][0]["frames"]):
        if frame["policy"] is not None:
            del frame["policy"]["name"]
    assert shown["games"][0]["frames"] == of_name["games"][0]["frames"]


@pytest.mark.parametrize("text", [*FOREIGN, "noisy: 0.1; FOLDER/other"])
def test_a_policy_of_another_library_is_no_start_and_no_blueprint(text, here, capsys):
    text = said(text, here)
    with pytest.raises(starmine.StarmineError):
        starmine.search(RULES.new_game(seed=3), text)
    not_a_start(text)


def not_a_start(text):
    from starmine.training.learning import begin_with

    network = starmine.load_policy("ippo-mini").network()
    with pytest.raises(starmine.StarmineError):
        begin_with(network, text)
    games = starmine.play_games([BOT, BOT], 1, variant=RULES)
    with pytest.raises(starmine.StarmineError):
        starmine.look.replay.replay_data(games, policy=text)


def test_a_python_file_plays_on_command_lines(here, tmp_path):
    expected = by_play_games(Last(), tmp_path)
    text = f"{here}/mybot.py:Student"
    assert by_eval_command(text, tmp_path) == expected
    assert by_generate_command(text, tmp_path) == expected
    assert by_play_command(text, tmp_path) == expected


# --- What is said of a player ---------------------------------------------------------------------------------------


def test_the_text_of_a_loaded_player_loads_it_again(here, tmp_path):
    for texts in PLAYERS.values():
        text = said(texts[-1], here)
        player = resolve_player(text, "it")
        again = starmine.evaluate({"it": text}, 1, variant=RULES, figure=False).settings.players["it"]
        assert by_play_games(again, tmp_path) == by_play_games(player, tmp_path)


def test_noise_of_a_policy_of_another_library_has_its_probability(here):
    assert player_of_text(said("noisy: 0.3; FOLDER/other", here), "it").epsilon == 0.3
    other, expected, turns = 0, 0.0, 0
    games = starmine.play_games([Noisy(Last(), 0.3)] * 2, 300, variant=RULES)
    for game in range(300):
        state = RULES.new_game(seed=EVALUATION_SEED, game=game)
        for action in games[game].actions.tolist():
            legal = state.legal_actions()
            other, expected, turns = other + (action != legal[-1]), expected + 0.3 * (1 - 1 / len(legal)), turns + 1
            state.apply(action)
    assert abs(other - expected) < 4 * (0.3 * 0.7 * turns) ** 0.5
    with pytest.raises(starmine.StarmineError):
        starmine.play_games([said("noisy: 1.5; FOLDER/other", here), BOT], 1, variant=RULES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("smart=2,iggi", [("smart", 2), ("iggi", 1)]),
        ("noisy: 0.1; smart=.5", [("noisy: 0.1; smart", 0.5)]),
        ("search: smart; rollouts=20,smart", [("search: smart; rollouts=20", 1), ("smart", 1)]),
        ("search: smart; rollouts=30=2.5", [("search: smart; rollouts=30", 2.5)]),
        (
            "rules: play-safe; discard-oldest if life_tokens=2",
            [("rules: play-safe; discard-oldest if life_tokens=2", 1)],
        ),
        ("rules: play-safe if life_tokens = 2=3", [("rules: play-safe if life_tokens = 2", 3)]),
        ("rules: play-safe if life_tokens < 2=3", [("rules: play-safe if life_tokens < 2", 3)]),
        ("rules: play-probably-safe 0=2", [("rules: play-probably-safe 0", 2)]),
        ("smart,a,b.safetensors=2,iggi", [("smart", 1), ("a,b.safetensors", 2), ("iggi", 1)]),
        ("policy: a,b.safetensors; sampled=2,iggi", [("policy: a,b.safetensors; sampled", 2), ("iggi", 1)]),
        ("noisy: 0.1; a,b.safetensors,lr=3", [("noisy: 0.1; a,b.safetensors", 1), ("lr=3", 1)]),
        ("my,bot.py:Student=2,my,bot.py:Other", [("my,bot.py:Student", 2), ("my,bot.py:Other", 1)]),
        ("lr=3=2", [("lr=3", 2)]),
        ("smart=1_0", [("smart=1_0", 1)]),
    ],
)
def test_a_weight_is_told_from_an_option_a_condition_and_a_path(text, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a,b.safetensors", "my,bot.py", "lr=3"):
        (tmp_path / name).touch()
    assert parse_mixture(text, "it") == expected


def test_a_weight_is_above_0():
    with pytest.raises(starmine.StarmineError):
        parse_mixture("smart=0", "it")
