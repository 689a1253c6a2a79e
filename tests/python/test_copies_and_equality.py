"""Every public class: its objects are values that are copied, pickled and compared, or it says why they are not."""

import copy
import dataclasses
import inspect
import pickle
from importlib import import_module

import numpy as np
import pytest

import starmine

NAMES = ["envs", "games", "data", "policies", "evaluation", "text", "torch", "training", "look"]
SUBPACKAGES = ["starmine", *(f"starmine.{name}" for name in NAMES)]
MINI = starmine.variant("mini")
# Objects that change as they are used, or hold files, threads or a user's code. They are compared by identity.
IN_USE = {
    *("Batch", "HanabiEnv", "HanabiVectorEnv", "SeenGame"),  # copied and pickled, see test_buffers and test_gymnasium
    *("ChatPlayer", "ModulePolicy", "Graphed", "GamesDataset"),
    *("FinishedGames", "Log", "Rewards", "Run", "StopSignals", "TrainingGames", "WeightAverage"),
    *("LiveGame", "Muon"),
}
MODULES = {"ActorCritic", "HintFeatures", "ColorFeatures", "ColorNetwork", "PolicyNetwork", "SeatGRU"}  # of torch
DESCRIPTIONS = {"Learner", "Policy", "PythonBot", "RunArgs"}  # protocols and dictionaries of arguments


def state(turns=6, seed=7, variant=MINI):
    found = variant.new_game(seed=seed)
    while found.length < turns:
        found.apply(found.suggest("piers"))
    return found


def hinted():
    found = MINI.new_game(seed=7)
    found.apply(next(move for move in found.legal_moves() if move.kind == "rank_hint"))
    return found.view(0).knowledge(1, 0)


def games(seed=1, **options):
    return starmine.play_games(["iggi"] * 2, 6, seed=seed, variant=MINI, **options)


def with_partner(seed):
    players = {"a-1": "iggi", "a-2": "piers"}
    return starmine.evaluate(players, 4, partners=["outer"], methods=["a"], variant=MINI, seed=seed, figure=False)


class Fails:
    def act(self, view):
        raise RuntimeError("no idea")


def failed(seed):
    with pytest.raises(starmine.BotError) as error:
        starmine.play_games([Fails, "iggi"], 2, seed=seed, variant=MINI)
    return error.value.games


def table(seed=1):
    from stored_games import played_table

    return played_table(5, MINI, seed=seed, search_values=True)


def searched(seed=1):
    return starmine.search(state(3, seed, starmine.variant("standard")), "smart", rollouts=40, hands=16)


def dataset(seed=1):
    from stored_games import store

    store(FOLDER / f"{seed}.parquet", table(seed))
    return starmine.data.Dataset(FOLDER / f"{seed}.parquet")


def tensors(kind):
    def made(number=1):
        import torch

        found = getattr(import_module("starmine.torch" if kind == "HiddenState" else "starmine.training"), kind)
        names = getattr(found, "_fields", None) or list(found.__dataclass_fields__)
        return found(*[torch.full((3,), float("nan") if name == "values" else float(number)) for name in names])

    return made


def rows(number=1):
    return starmine.Turns(*[np.full(2, number)] * 5)


def bot(name="iggi", turns=0):
    found = starmine.make_bot(name, MINI, seat=0, seed=3)
    if turns:
        found.act(state(turns).view(0))
    return found


def text(kind, *arguments):
    return getattr(starmine.text, kind)(*arguments)


def asked(reply="MOVE: play slot 0"):
    player = starmine.text.ChatPlayer(lambda messages: reply, fallback="iggi")
    player.act(state().view(0))
    return dataclasses.replace(player.exchanges[0], seconds=0.0)


FOLDER = None  # set for each test
# By class: functions whose first result is the value that is copied, and whose second is another value.
VALUES = {
    "Exchange": (lambda: asked(), lambda: asked("hm")),
    "PromptOptions": (lambda: text("PromptOptions"), lambda: text("PromptOptions", "json")),
    "BotKind": (lambda: starmine.games.bot("smart"), lambda: starmine.games.bot("iggi")),
    "Card": (lambda: starmine.Card("K3"), lambda: starmine.Card("R3")),
    "Evaluation": (
        lambda: starmine.evaluate(["iggi"], 4, variant=MINI, figure=False),
        lambda: starmine.evaluate(["iggi"], 4, variant=MINI, seed=1, figure=False),
    ),
    "TableCell": (lambda: with_partner(1).table.means[0][0], lambda: with_partner(2).table.means[0][0]),
    "Method": (lambda: with_partner(1).methods[0], lambda: with_partner(2).methods[0]),
    "ScoreMatrix": (lambda: with_partner(1).table, lambda: with_partner(2).table),
    "Event": (lambda: state().history[2], lambda: state().history[3]),
    "Failure": (lambda: failed(1).failures[0], lambda: failed(1).failures[1]),
    "Games": (lambda: failed(1), lambda: starmine.play_games(["iggi"] * 2, 2, variant=MINI)),
    "RosterPlayer": (lambda: starmine.games.RosterPlayer("a"), lambda: starmine.games.RosterPlayer("b")),
    "HandBelief": (lambda: searched().belief, lambda: searched(2).belief),
    "Knowledge": (hinted, lambda: state(0).view(0).knowledge(1, 0)),
    "Layout": (MINI.layout, starmine.variant("small").layout),
    "Move": (lambda: MINI.move(3), lambda: MINI.move(4)),
    "Pairing": (
        lambda: starmine.evaluate(["iggi"], 1, variant=MINI, figure=False).pairings[0],
        lambda: starmine.evaluate(["piers"], 1, variant=MINI, figure=False).pairings[0],
    ),
    "RuleKind": (lambda: starmine.games.rule("play-safe"), lambda: starmine.games.rule("discard-oldest")),
    "SearchResult": (searched, lambda: searched(2)),
    "SearchedAction": (
        lambda: starmine.games.SearchedAction(1, float("nan"), float("inf"), 0, False),
        lambda: starmine.games.SearchedAction(2, float("nan"), float("inf"), 0, False),
    ),
    "SeatedBot": (bot, lambda: bot("piers")),
    "Section": (lambda: MINI.layout()["fireworks"], lambda: MINI.layout()["deck_size"]),
    "State": (state, lambda: state(5)),
    "TrainedPolicy": (
        lambda: starmine.load_policy("ippo-mini"),
        lambda: starmine.load_policy("ippo-mini", sampled=True),
    ),
    "Turns": (rows, lambda: rows(2)),
    "Variant": (lambda: MINI, lambda: starmine.variant("small")),
    "View": (lambda: state().view(0), lambda: state().view(1)),
    "Dataset": (dataset, lambda: dataset(2)),
    "Generation": (lambda: starmine.data.Generation(FOLDER, 3), lambda: starmine.data.Generation(FOLDER, 4)),
    "Info": (lambda: starmine.data.info(dataset().files[0].path), lambda: starmine.data.info(dataset(2).files[0].path)),
    "Problem": (
        lambda: starmine.data.Problem("file", 1, 2, "wrong"),
        lambda: starmine.data.Problem("file", None, None, "wrong"),
    ),
    "SkippedGame": (
        lambda: starmine.data.SkippedGame(FOLDER, 1, "", "why"),
        lambda: starmine.data.SkippedGame(FOLDER, 2, "", "why"),
    ),
    "Verification": (
        lambda: starmine.data.verify(dataset().files[0].path),
        lambda: starmine.data.verify(dataset(2).files[0].path),
    ),
    "HiddenState": (tensors("HiddenState"), lambda: tensors("HiddenState")(2)),
    "Partner": (
        lambda: starmine.training.Partner("smart", "smart"),
        lambda: starmine.training.Partner("smart", "smart", 2.0),
    ),
    "Range": (lambda: starmine.training.Range(1), lambda: starmine.training.Range(0, 1)),
    "ScriptArgs": (
        lambda: starmine.training.ScriptArgs(),
        lambda: starmine.training.ScriptArgs(seed=9),
    ),
    "Mistake": (
        lambda: starmine.look.Mistake(1, 0, "misplay", 1, "why", 0.5),
        lambda: starmine.look.Mistake(2, 0, "misplay", 1, "why", 0.5),
    ),
    "Metadata": (lambda: starmine.data.Metadata(MINI, ()), lambda: starmine.data.Metadata(MINI, (), seed=1)),
    "RowGroup": (lambda: starmine.data.RowGroup(0, 0, 0, 5), lambda: starmine.data.RowGroup(0, 0, 5, 5)),
}
OF_TORCH = ("HiddenState", "Partner", "Range", "ScriptArgs")
OF_ARROW = ("Dataset", "Info", "Verification", "Generation")


def public_classes():
    for name in SUBPACKAGES:
        try:
            subpackage = import_module(name)
        except ImportError:  # an extra that is not installed
            continue
        yield from ((name, found, getattr(subpackage, found)) for found in subpackage.__all__)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "FOLDER", tmp_path)


def test_every_public_class_is_in_one_list():
    classes = {name: kind for _, name, kind in public_classes() if inspect.isclass(kind)}
    listed = [*VALUES, *IN_USE, *MODULES, *DESCRIPTIONS]
    errors = {name for name, kind in classes.items() if issubclass(kind, BaseException)}
    assert sorted(classes.keys() - errors) == sorted({*classes} & {*listed})
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_copied_pickled_and_compared(name):
    if name in OF_TORCH:
        pytest.importorskip("starmine.training", exc_type=ImportError)
    if name in OF_ARROW:
        pytest.importorskip("pyarrow")
    make, make_other = VALUES[name]
    value, other = make(), make_other()
    copies = [copy.copy(value), copy.deepcopy(value)]
    copies += [pickle.loads(pickle.dumps(value, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    if name not in ("Evaluation", "Pairing"):  # they hold the seconds that they took
        copies.append(make())
    for found in copies:
        assert type(found) is type(value)
        assert (found == value) is True
        assert (found != value) is False
        assert repr(found) == repr(value)
    assert (value == other) is False
    assert (value != other) is True
    assert value != "text"
    assert value != None  # noqa: E711 - not `is`
    assert value not in ["text", other]
    if type(value).__hash__ is not None:
        assert {hash(found) for found in copies if has_hash(found)} == ({hash(value)} if has_hash(value) else set())


def has_hash(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("name", [name for name in starmine.__all__ if name.endswith("Error")])
def test_an_error_is_pickled_with_its_message(name):
    kind = getattr(starmine, name)
    error = starmine.BotError(failed(1).failures, failed(1)) if name == "BotError" else kind("what is wrong")
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is kind
    assert str(found) == str(error)


# --- Players and views ------------------------------------------------------------------------------------


def test_a_policy_is_equal_by_its_weights_whatever_its_path(tmp_path):
    policy = starmine.load_policy("ippo-mini")
    (tmp_path / "copy.safetensors").write_bytes(policy.data)
    same = starmine.load_policy(tmp_path / "copy.safetensors")
    assert same == policy
    assert hash(same) == hash(policy)
    other = starmine.load_policy("ippo-avalanche")
    (tmp_path / "copy.safetensors").write_bytes(other.data)
    assert starmine.load_policy(tmp_path / "copy.safetensors") == other != same
    (tmp_path / "copy.safetensors").unlink()
    loaded = pickle.loads(pickle.dumps(same))
    assert loaded == policy
    scores = [starmine.play_games([player] * 2, 20, variant=MINI).scores.tolist() for player in (policy, loaded)]
    assert scores[0] == scores[1]


RULES = [
    MINI,
    starmine.variant("standard"),
    starmine.variant("standard", players=5),
    starmine.variant("avalanche", players=3),
    starmine.variant("timed-display"),
    starmine.Variant(players=3, colors=6, ranks=3, hand_size=6, empty_hints=True, random_start_player=True),
]


def walked(variant, seed, actions):
    """The states of a game of random moves, after each turn."""
    found = variant.new_game(seed=seed)
    yield found
    while not found.is_terminal:
        legal = found.legal_actions()
        found.apply(legal[int(actions.integers(len(legal)))])
        yield found


def seen(view):
    """All that a view tells."""
    slots = [(offset, slot) for offset, hand in enumerate(view.hands) for slot in range(len(hand))]
    return [
        *(view.variant, view.observer, view.current_player, view.hands, view.fireworks, view.information_tokens),
        *(view.life_tokens, view.deck_size, view.score, view.discard_pile, view.history, view.possible),
        *(view.legal_actions(), view.marginals().tolist(), view.sample_hands(3, seed=1).tolist(), str(view)),
        *([view.knowledge(*slot) for slot in slots], view.encode().tolist(), view.to_svg()),
    ]


@pytest.mark.parametrize("variant", RULES, ids=lambda variant: f"{variant.players}-{variant.colors}-{variant.ranks}")
def test_a_pickled_view_tells_the_same_and_no_more(variant):
    for seed in range(3):
        for number, found in enumerate(walked(variant, seed, np.random.default_rng(seed))):
            if number % 4 and not found.is_terminal:
                continue
            for seat in range(variant.players):
                view = found.view(seat)
                data = pickle.dumps(view)
                loaded = pickle.loads(data)
                assert loaded == view
                assert hash(loaded) == hash(view)
                assert seen(loaded) == seen(view)
                assert pickle.dumps(loaded) == data
                assert all(loaded != found.view(other) for other in range(variant.players) if other != seat)


def test_the_pickle_of_a_view_is_the_same_for_all_hands_and_decks_that_its_seat_cannot_tell_apart():
    deck = [str(card) for card in starmine.variant("standard").new_game(seed=3).deck]
    other = deck[4::-1] + deck[5:10] + deck[:9:-1]
    assert sorted(other) == sorted(deck)
    one, two = (starmine.variant("standard").new_game(deck=cards) for cards in (deck, other))
    assert one != two
    assert one.view(0) == two.view(0)
    assert one.view(1) != two.view(1)
    assert pickle.dumps(one.view(0)) == pickle.dumps(two.view(0))
    held = pickle.loads(pickle.dumps(one.view(0))).__reduce__()[1][0]
    hidden = [card for card in held.deck if card not in one.hands[1]]
    assert [str(card) for card in held.deck] not in (deck, other)
    assert hidden


@pytest.mark.parametrize("name", ["piers", "noisy: 0.3; iggi", "policy: ippo-mini; sampled"])
@pytest.mark.parametrize("what", ["both", "copy"])
def test_a_bot_goes_on_from_its_pickle_as_if_nothing_had_happened(name, what):
    def pickled(value):
        return pickle.loads(pickle.dumps(value))

    def played(through_pickles):
        bots, moves = [starmine.make_bot(name, MINI, seat, seed=5) for seat in range(2)], []
        for game in range(3):
            found = MINI.new_game(seed=game)
            while not found.is_terminal:
                seat = found.current_player
                view = found.view(seat)
                if through_pickles:
                    if what == "copy":
                        bots[seat] = copy.deepcopy(bots[seat])
                    else:
                        loaded = pickled(bots[seat])
                        assert loaded == bots[seat]
                        bots[seat], view = loaded, pickled(view)
                moves.append(bots[seat].act(view))
                found.apply(moves[-1])
        return moves

    assert played(through_pickles=True) == played(through_pickles=False)
