"""`starmine text export`: stored games become chat messages, and bad input is refused in one line."""

import json

import pytest
from chat_models import first_move

import starmine
from starmine.cli import main
from starmine.data import write_games
from starmine.text import ChatPlayer, PromptOptions, examples, preferences, read_move, write_lines


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A file of three games, and the games."""
    path = tmp_path_factory.mktemp("games") / "games.json"
    games = starmine.play_games(["iggi", "piers"], 3, record=True).trajectories
    write_games(games, path)
    return path, games


def exported(tmp_path, sources, *options):
    out = tmp_path / "train.jsonl"
    assert main(["text", "export", "--fresh", *map(str, sources), str(out), *options]) == 0
    return [json.loads(line) for line in out.read_bytes().decode("ascii").splitlines()]


def test_each_line_is_a_move_that_was_played(stored, tmp_path, capsys):
    path, games = stored
    lines = exported(tmp_path, [path])
    assert lines == list(examples(games, players=[("Alice", "Bob")] * 3))
    assert capsys.readouterr().out.startswith(f"3 games, {len(games.actions)} supervised examples written to ")
    assert [line["action"] for line in lines] == games.actions.tolist()


def test_options_choose_moves_and_prompts(stored, tmp_path):
    path, games = stored
    options = ("--seats", "1", "--every", "7", "--form", "json", "--history", "whole", "--answer", "json")
    for line in exported(tmp_path, [path], *options, "--no-possible", "--no-legal-moves", "--probabilities"):
        table = json.loads(line["messages"][1]["content"])
        own = table["hands"][1]["cards"][0]
        assert (table["you"], len(table["history"]), line["seat"]) == (1, table["turn"], 1)
        assert "legal_moves" not in table
        assert "can_be" not in own
        assert "probabilities" in own
        view = games.state(line["game"], line["turn"]).view(1)
        assert read_move(line["messages"][2]["content"], view) == line["action"]
        assert line["messages"][2]["content"].startswith('{"move": ')


def test_values_and_ratings_are_those_of_a_search(stored, tmp_path):
    path, games = stored
    lines = exported(tmp_path, [path], "--every", "60", "--rollouts", "100", "--ratings", "--seed", "5")
    for line in lines:
        found = starmine.search(games.state(line["game"], line["turn"]), "smart", rollouts=100, seed=5)
        means = sorted((round(action.mean, 4) for action in found.actions if action.rollouts > 1), reverse=True)
        assert [entry["value"] for entry in line["values"]] == means
        ratings = [entry["rating"] for entry in line["values"]]
        assert (ratings[0], ratings[-1]) == (1.0, -1.0) or set(ratings) == {0.0}
        assert line["rating"] in [entry["rating"] for entry in line["values"] if entry["move"] == line["move"]] or (
            line["rating"] is None
        )


def test_preferences_have_a_better_and_a_worse_move(stored, tmp_path):
    pairs = exported(
        tmp_path, [stored[0]], "--kind", "preference", "--every", "60", "--rollouts", "100", "--margin", "0.5"
    )
    assert pairs
    for pair in pairs:
        assert [message["role"] for message in pair["prompt"]] == ["system", "user"]
        assert pair["chosen"] != pair["rejected"]
        assert pair["points"] >= 0.5


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["--kind", "preference"], "--kind preference without --rollouts"),
        (["--margin", "1"], "--margin without --kind preference"),
        (["--kind", "preference", "--rollouts", "9", "--margin", "nan"], "--margin nan"),
        (["--ratings"], "ratings=True without rollouts"),
        (["--blueprint", "info"], "blueprint='info' without rollouts"),
        (["--num-threads", "2"], "num_threads=2 without rollouts"),
        (["--seats", "0,2"], "seats=2 is not allowed: expected 0 to 1"),
        (["--seats", "first"], "--seats 'first'"),
        (["--every", "0"], "every=0"),
        (["--rollouts", "9", "--blueprint", "smrt"], 'did you mean "smart"?'),
        (["--rollouts", "0"], "rollouts=0"),
        (["--players", "3"], "the file has Variant(players=2)"),
    ],
)
def test_bad_input_is_refused_in_one_line_and_writes_nothing(stored, tmp_path, capsys, arguments, refusal):
    out = tmp_path / "train.jsonl"
    status = main(["text", "export", str(stored[0]), str(out), *arguments])
    said = capsys.readouterr()
    assert (status, said.out, said.err.count("\n")) == (2, "", 1)
    assert refusal in said.err
    assert not out.exists()


def test_a_file_that_cannot_be_written_is_named(stored, tmp_path, capsys):
    assert main(["text", "export", str(stored[0]), str(tmp_path / "no" / "train.jsonl")]) == 2
    assert "train.jsonl" in capsys.readouterr().err


def test_a_file_that_exists_is_replaced_only_if_that_is_asked_for(stored, tmp_path, capsys):
    out = tmp_path / "train.jsonl"
    out.write_text("mine")
    assert main(["text", "export", str(stored[0]), str(out)]) == 2
    said = capsys.readouterr()
    told = f"starmine text export: {out} exists: expected a new file, or --fresh to replace it\n"
    assert (said.out, said.err, out.read_text()) == ("", told, "mine")
    assert main(["text", "export", str(stored[0]), str(out), "--fresh"]) == 0
    assert out.read_text().startswith('{"messages"')


@pytest.mark.parametrize("fresh", [[], ["--fresh"]])
def test_a_source_is_not_written(stored, tmp_path, capsys, fresh):
    source = tmp_path / "games.json"
    source.write_bytes(stored[0].read_bytes())
    assert main(["text", "export", str(source), str(source), *fresh]) == 2
    assert "is the source, too: expected another file to write" in capsys.readouterr().err
    assert source.read_bytes() == stored[0].read_bytes()


def test_examples_say_what_was_played(tmp_path):
    games = starmine.play_games(["iggi", "piers"], 3, variant="mini", record=True)
    found = list(examples(games.trajectories))
    assert len(found) == games.trajectories.lengths.sum()
    for example in found:
        state = games.trajectories.state(example["game"], example["turn"])
        seen = state.view(example["seat"])
        assert starmine.text.read_move(example["messages"][2]["content"], seen) == example["action"]
        assert example["final_score"] == games.scores[example["game"]]
    assert [example["seat"] for example in examples(games.trajectories, seats=[1])].count(0) == 0
    assert len(list(examples(games.trajectories, every=10))) == -(-len(found) // 10)
    assert write_lines(iter(found), tmp_path / "train.jsonl") == len(found)
    assert [json.loads(line) for line in (tmp_path / "train.jsonl").read_text().splitlines()] == found
    example = next(examples(games.trajectories, options=PromptOptions(answer="json")))
    seen = games.trajectories.state(0, 0).view(example["seat"])
    assert starmine.text.read_move(example["messages"][2]["content"], seen) == example["action"]
    with pytest.raises(starmine.StarmineError, match="every=0"):
        next(examples(games.trajectories, every=0))
    with pytest.raises(TypeError, match=r"every=2.5"):
        next(examples(games.trajectories, every=2.5))
    with pytest.raises(starmine.StarmineError, match="seats=4 is not allowed"):
        next(examples(games.trajectories, seats=[4]))
    with pytest.raises(TypeError, match="seats=True"):
        next(examples(games.trajectories, seats=[True]))
    with pytest.raises(starmine.StarmineError, match="expected 2 names"):
        next(examples(games.trajectories, players=[["Alice"]] * len(games.trajectories)))
    assert list(examples(games.trajectories, seats=iter([1]))) == list(examples(games.trajectories, seats=[1]))


@pytest.mark.parametrize("margin", [float("nan"), -1, None, True])
def test_a_margin_is_a_number(margin):
    with pytest.raises(starmine.StarmineError, match="margin"):
        next(preferences(iter([]), margin))


@pytest.mark.parametrize("option", [{"blueprint": "info"}, {"seed": 1}, {"num_threads": 2}])
def test_options_of_a_search_need_one(stored, option):
    with pytest.raises(starmine.StarmineError, match=f"{next(iter(option))}=.* without rollouts is not allowed"):
        next(examples(stored[1], **option))


def test_preferences_need_values(stored):
    with pytest.raises(starmine.StarmineError, match="has no values"):
        next(preferences(examples(stored[1])))


def test_examples_with_values_give_preferences():
    games = starmine.play_games(["random", "random"], 2, record=True)
    found = list(examples(games.trajectories, rollouts=200, every=12))
    for example in found:
        values = [entry["value"] for entry in example["values"]]
        assert values == sorted(values, reverse=True)
    for pair in preferences(iter(found), margin=0.25):
        assert pair["points"] >= 0.25
        assert pair["chosen"] != pair["rejected"]
        assert pair["chosen"][0]["content"].startswith("MOVE: ")


def test_stored_games_are_exported_alike(tmp_path):
    pytest.importorskip("pyarrow")
    starmine.data.generate(["iggi"] * 2, 3, tmp_path, "mini", progress=False)
    data = starmine.data.Dataset(tmp_path)
    assert len(list(examples(data))) == sum(data.table(["length"])["length"].to_pylist())


# --- Evaluations ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[2, 3])
def evaluation(request, tmp_path_factory):
    """The folder of an evaluation of two bots, and the number of seats."""
    pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("evaluation") / "out"
    bots = {"mine": "iggi", "other, bot": "piers"}
    starmine.evaluate(bots, 3, players=request.param, variant="mini", output=folder, figure=False)
    return folder, request.param


def test_lines_of_an_evaluation_have_the_players_of_their_seats(evaluation, tmp_path):
    folder, _ = evaluation
    data = starmine.data.Dataset(folder)
    lines = exported(tmp_path, [folder])
    names = [[who["name"] for who in game.players] for game in data]
    assert [line["players"] for line in lines] == [names[line["game"]] for line in lines]
    assert lines == list(examples(data))


def test_preferences_name_the_players_and_the_place(evaluation, tmp_path):
    folder, players = evaluation
    options = ("--kind", "preference", "--rollouts", "60", "--every", "7", "--margin", "0", "--blueprint", "simple")
    pairs = exported(tmp_path, [folder], *options)
    assert ("mine",) * players in {tuple(pair["players"]) for pair in pairs}
    assert all({"game", "turn", "seat"} <= pair.keys() for pair in pairs)


def warned(tmp_path, capsys, sources, *options):
    exported(tmp_path, sources, "--every", "1000", *options)
    return capsys.readouterr().err


def test_decks_of_evaluations_are_warned_of(evaluation, stored, tmp_path, capsys):
    folder, _ = evaluation
    warning = "starmine text export: warning: {} have decks of evaluations: a model that learns from them has seen the "
    warning += "decks that it is evaluated on\n"
    assert warned(tmp_path, capsys, [folder]) == warning.format("12 of 12 games")
    assert warned(tmp_path, capsys, [stored[0]]) == warning.format("3 of 3 games")  # of `play_games`
    starmine.data.generate(["iggi"] * 2, 3, tmp_path / "games", progress=False)
    assert warned(tmp_path, capsys, [tmp_path / "games"]) == ""
    assert warned(tmp_path, capsys, [tmp_path / "games", stored[0]]) == warning.format("3 of 6 games")
    for seed in (0, starmine.games.EVALUATION_SEED):
        folder = tmp_path / f"seed-{seed}"
        starmine.data.generate(["iggi"] * 2, 3, folder, "mini", seed, evaluation_decks=True, progress=False)
        assert warned(tmp_path, capsys, [folder]) == warning.format("3 of 3 games")


def test_decks_of_an_evaluation_with_an_own_seed_are_warned_of_also_in_a_single_file(tmp_path, capsys):
    folder = tmp_path / "own"
    starmine.evaluate(["iggi"], 3, variant="mini", seed=77, output=folder, figure=False)
    for source in (folder, next(folder.glob("*.parquet"))):
        assert "3 of 3 games have decks of evaluations" in warned(tmp_path, capsys, [source])


def test_examples_of_trajectories_take_names(stored):
    _, games = stored
    assert {line["players"] for line in examples(games, every=50)} == {None}
    names = [("a", "b"), ("c", "d"), ()]
    found = {line["game"]: line["players"] for line in examples(games, players=names)}
    assert found == {0: ["a", "b"], 1: ["c", "d"], 2: None}
    with pytest.raises(starmine.StarmineError, match="players has 1 entries: expected 3"):
        next(examples(games, players=names[:1]))


# --- Fallbacks --------------------------------------------------------------------------------------------


def sometimes(messages):
    """A model of which the fallback plays a part of the moves."""
    return "Hello." if sum(map(ord, messages[-1]["content"])) % 3 == 0 else first_move(messages)


def unsure(**options):
    player = ChatPlayer(sometimes, name="not shown", replies=1, fallback="random", **options)
    player.version = 1  # the same player after an interruption
    return player


def test_moves_of_a_fallback_are_left_out_of_games_in_memory():
    player = unsure()
    games = starmine.play_games([player, "iggi"], 3, variant="mini", record=True).trajectories
    assert len(player.fallback_turns) == player.fallbacks > 0
    found = list(examples(games, seats=[0], fallback_turns=player.fallback_turns))
    moves = {(exchange.game, exchange.turn) for exchange in player.exchanges if exchange.outcome == "move"}
    assert {(example["game"], example["turn"]) for example in found} == moves
    player.clear()
    assert (player.fallbacks, player.fallback_turns) == (0, [])


def test_games_are_given_by_their_trajectories():
    games = starmine.play_games(["iggi", "iggi"], 1, variant="mini", record=True)
    with pytest.raises(TypeError, match=r"games=.* is a Games: expected its trajectories, or a Dataset"):
        next(examples(games))
