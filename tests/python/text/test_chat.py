"""A chat player asks, reads, asks again, falls back, and keeps what was said; no reply or failure goes unnoticed."""

import asyncio
import inspect
import json
import pickle
import threading
import time
from collections import Counter

import pytest
from chat_models import Cautious, first_move

import starmine
from starmine.text import Answer, ChatError, ChatPlayer, report

MINI = starmine.variant("mini")


def moves_of(player, views):
    """The moves of a player in games that wait at the same time."""
    return [answer.result(timeout=60) for answer in player.act_views(views, list(range(len(views))))]


def view(turns=0):
    state = MINI.new_game(seed=3)
    for _ in range(turns):
        state.apply(state.legal_actions()[-1])
    return state.view(state.current_player)


def test_games_are_those_of_a_bot_that_chooses_alike():
    games = starmine.play_games([ChatPlayer(first_move), "iggi"], 12, variant="mini", record=True)
    expected = starmine.play_games([Cautious, "iggi"], 12, variant="mini", record=True)
    assert games.trajectories == expected.trajectories


@pytest.mark.parametrize("kind", ["function", "async", "batched", "async batched", "object"])
def test_every_kind_of_callable_plays_the_same_games(kind):
    async def later(messages):
        await asyncio.sleep(0)
        return first_move(messages)

    async def all_later(batch):
        return [await later(messages) for messages in batch]

    class Model:
        async def __call__(self, messages):
            return await later(messages)

    sizes = []

    def all_at_once(batch):
        sizes.append(len(batch))
        return [first_move(messages) for messages in batch]

    asks = {
        "function": first_move,
        "async": later,
        "batched": all_at_once,
        "async batched": all_later,
        "object": Model(),
    }
    player = ChatPlayer(asks[kind], batched="batched" in kind, concurrency=1 if "batched" in kind else 4)
    games = starmine.play_games([player, player], 6, variant="mini", record=True)
    assert games.trajectories == starmine.play_games([Cautious, Cautious], 6, variant="mini", record=True).trajectories
    assert {exchange.seat for exchange in player.exchanges} == {0, 1}
    assert {exchange.game for exchange in player.exchanges} == set(range(6))
    if kind == "batched":
        assert max(sizes) == 6


def test_calls_are_made_at_the_same_time_but_not_more_than_allowed():
    lock, now, most = threading.Lock(), [0], [0]

    def slow(messages):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.01)
        with lock:
            now[0] -= 1
        return first_move(messages)

    moves_of(ChatPlayer(slow, concurrency=3), [view()] * 12)
    assert most[0] == 3


@pytest.mark.parametrize("other", ["iggi", "chat", "every turn"])
def test_a_slow_call_holds_up_its_own_game_alone(other):
    """The first call is answered after 16 others; if games waited for each other, it would never be."""
    calls, enough = [], asyncio.Event()

    async def ask(messages):
        calls.append(messages)
        if len(calls) == 1:
            await asyncio.wait_for(enough.wait(), 60)
        elif len(calls) == 16:
            enough.set()
        return first_move(messages)

    seen = Counter()

    class EveryTurn:
        all_turns = True

        def act_batch(self, turns):
            seen.update(turns.game.tolist())
            return turns.action_mask.argmax(axis=1)

    others = {"iggi": "iggi", "chat": ChatPlayer(ask, concurrency=8), "every turn": EveryTurn()}
    player = ChatPlayer(ask, calls=1, concurrency=8)
    games = starmine.play_games([player, others[other]], 8, record=True)
    expected = "iggi" if other == "iggi" else Cautious
    assert games.trajectories == starmine.play_games([Cautious, expected], 8, record=True).trajectories
    if other == "every turn":
        assert seen == dict(enumerate(games.lengths.tolist()))


def test_a_reply_that_is_unusable_is_asked_again_with_the_next_turn_of_the_other_games():
    sizes = []

    def ask(batch):
        sizes.append(len(batch))
        return ["hm" if len(sizes) == 1 and index == 2 else first_move(said) for index, said in enumerate(batch)]

    player = ChatPlayer(ask, batched=True)
    games = starmine.play_games([player, "iggi"], 5, record=True)
    assert games.trajectories == starmine.play_games([Cautious, "iggi"], 5, record=True).trajectories
    assert sizes[:3] == [5, 5, 5]
    player = ChatPlayer(lambda batch: ["hm" if len(said) == 2 else "MOVE: play slot 1" for said in batch], batched=True)
    assert player.act(view()) == 4


def test_calls_end_when_a_game_is_broken_off():
    begun, cancelled = threading.Event(), threading.Event()

    async def ask(messages):
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    class Broken:
        def act(self, seen):
            begun.wait(60)
            raise KeyboardInterrupt

    player = ChatPlayer(ask, concurrency=2)
    with pytest.raises(KeyboardInterrupt):
        starmine.play_games([player, Broken()], 2, variant=starmine.variant("mini", random_start_player=True))
    assert cancelled.wait(60)
    assert ChatPlayer(first_move).act(view()) == view().legal_actions()[0]


def test_an_answer_of_wrong_types_is_a_failed_call():
    for given in ({"text": None}, {"tool_calls": None}, {"usage": 3}):
        player = ChatPlayer(lambda messages, given=given: Answer(**given), calls=1, fallback="iggi")
        player.act(view())
        assert player.exchanges[0].outcome == "failed"
        assert next(iter(given)) + "=" in player.exchanges[0].problem


def test_an_unusable_reply_is_sent_back_with_what_was_wrong():
    replies = iter(["Hello.", "play slot 7", "MOVE: discard slot 0", "MOVE: play slot 1"])
    asked = []

    def ask(messages):
        asked.append(messages)
        return next(replies)

    player = ChatPlayer(ask, replies=4)
    assert player.act(view()) == 4
    assert [exchange.outcome for exchange in player.exchanges] == ["unreadable", "unreadable", "illegal", "move"]
    assert [len(messages) for messages in asked] == [2, 4, 6, 8]
    assert [message["role"] for message in asked[-1]][2:] == ["assistant", "user"] * 3
    assert "names no move" in asked[1][-1]["content"]
    assert "slot 7 does not exist" in asked[2][-1]["content"]
    assert "not legal now" in asked[3][-1]["content"]
    assert asked[0][0]["role"] == "system"


def test_a_game_without_a_legal_move_is_given_up_with_the_reason_and_the_others_go_on():
    def ask(messages):
        return "hm" if "Turn 4." in messages[1]["content"] else first_move(messages)

    player = ChatPlayer(ask, replies=2)
    with pytest.raises(starmine.BotError, match="named no legal move in 2 attempts") as error:
        starmine.play_games([player, "iggi"], 5, variant="mini")
    assert all("names no move" in failure.message for failure in error.value.failures)
    assert issubclass(ChatError, starmine.StarmineError)


@pytest.mark.parametrize("fallback", ["smart", lambda seen: seen.legal_actions()[0]])
def test_a_fallback_plays_on_and_is_counted(fallback):
    player = ChatPlayer(lambda messages: "hm", replies=1, fallback=fallback)
    games = starmine.play_games([player, "iggi"], 3, record=True)
    first = "smart" if fallback == "smart" else Cautious
    assert games.trajectories == starmine.play_games([first, "iggi"], 3, record=True).trajectories
    assert player.fallbacks == len(player.exchanges) > 0
    assert player.report()["outcomes"] == {"unreadable": player.fallbacks}


def test_a_failed_call_is_repeated():
    calls = []

    def ask(messages):
        calls.append(time.monotonic())
        if len(calls) < 3:
            raise ConnectionError("busy")
        return first_move(messages)

    player = ChatPlayer(ask, calls=3, backoff=0.02)
    assert player.act(view()) == view().legal_actions()[0]
    assert calls[1] - calls[0] >= 0.02
    assert calls[2] - calls[1] >= 0.04
    assert [exchange.outcome for exchange in player.exchanges] == ["move"]


class Unsteady:
    """A model whose first two calls of each turn fail, one by an exception and one by taking too long."""

    def __init__(self, batched=False):
        self.calls, self.batched, self.hangs = 0, batched, threading.Event()

    def __call__(self, messages):
        self.calls += 1
        if self.calls % 3 == 1:
            raise ConnectionError("busy")
        if self.calls % 3 == 2:
            self.hangs.wait(60)
        given = messages if self.batched else [messages]
        found = [Answer(first_move(said), usage={"prompt_tokens": 7}) for said in given]
        return found if self.batched else found[0]


@pytest.mark.parametrize("batched", [False, True])
def test_a_call_that_is_repeated_is_counted_and_has_a_line(tmp_path, batched):
    path, ask = tmp_path / "talk.jsonl", Unsteady(batched)
    player = ChatPlayer(ask, backoff=0, timeout=0.1, batched=batched, transcript=path)
    moves_of(player, [view()])
    ask.hangs.set()
    found = player.report()
    assert (found["calls"], found["outcomes"]) == (1, {"move": 1})
    assert found["repeated"] == {"failed": 1, "timeout": 1}
    assert found["problems"]["failed"].startswith("ConnectionError: busy at ")
    assert found["problems"]["timeout"] == "TimeoutError: no reply in 0.1 seconds"
    assert found["usage"] == {"prompt_tokens": 7}
    assert found["seconds"] >= 0.1
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["outcome"] for row in rows] == ["failed", "timeout", "move"]
    assert [row["repeated"] for row in rows] == [True, True, False]
    assert [row["attempt"] for row in rows] == [0, 0, 0]
    assert len({row["prompt"] for row in rows}) == 1
    assert sum(row["seconds"] for row in rows) == pytest.approx(found["seconds"])
    player.clear()
    assert player.report()["repeated"] == {}


def test_calls_that_failed_are_not_said_to_have_named_no_legal_move():
    def ask(messages):
        raise ConnectionError("busy")

    with pytest.raises(ChatError, match="model gave no reply: 2 calls failed; the last problem: ConnectionError"):
        ChatPlayer(ask, name="model", calls=2, backoff=0).act(view())
    with pytest.raises(ChatError, match="gave no reply: 1 call failed; the last"):
        ChatPlayer(ask, calls=1).act(view())
    replies = iter(["hm", ConnectionError("busy")])
    answers = {"hm": lambda: "hm"}

    def second(messages):
        reply = next(replies)
        if reply not in answers:
            raise reply
        return answers[reply]()

    with pytest.raises(ChatError, match="gave no reply: 1 call failed; the last"):
        ChatPlayer(second, calls=1).act(view())


def test_a_call_that_fails_for_good_is_one_outcome():
    def ask(messages):
        raise ConnectionError("busy")

    player = ChatPlayer(ask, calls=2, backoff=0)
    with pytest.raises(ChatError, match="ConnectionError: busy"):
        player.act(view())
    (exchange,) = player.exchanges
    assert (exchange.outcome, exchange.reply, exchange.action) == ("failed", None, None)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_call_that_takes_too_long_has_failed(is_async):
    release = threading.Event()

    async def later(messages):
        await asyncio.sleep(30)

    def ask(messages):
        release.wait(1)

    player = ChatPlayer(later if is_async else ask, calls=1, timeout=0.05, fallback="iggi")
    player.act(view())
    release.set()
    assert [exchange.outcome for exchange in player.exchanges] == ["timeout"]


@pytest.mark.parametrize("batched", [False, True])
def test_a_function_that_never_returns_does_not_hold_a_game(batched):
    hangs, began = threading.Event(), time.monotonic()
    player = ChatPlayer(lambda messages: hangs.wait(60), calls=1, timeout=0.05, fallback="iggi", batched=batched)
    moves_of(player, [view(), view()])
    seconds = time.monotonic() - began
    hangs.set()
    assert seconds < 30
    assert [exchange.outcome for exchange in player.exchanges] == ["timeout", "timeout"]


def test_a_class_of_bots_that_are_asked_together_has_an_object_for_each_game():
    class Together(Cautious):
        def act_views(self, views, games):
            assert len(views) == 1
            return [self.act(seen) for seen in views]

    games = starmine.play_games([Together, "iggi"], 4, variant="mini", record=True)
    assert games.trajectories == starmine.play_games([Cautious, "iggi"], 4, variant="mini", record=True).trajectories


HOSTILE = [
    "",
    "\x00\x1b[31m\u2028MOVE: nothing\r\n",
    "A" * 300_000,
    "</script><script>alert(1)</script>",
    '"}\n{"player": "forged"}',
    None,
    7.5,
    b"MOVE: play slot 0",
    ["MOVE: play slot 0"],
    {"name": "rm", "arguments": {}},
    object(),
]


@pytest.mark.parametrize("reply", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_reply_is_one_outcome_and_one_line(reply, tmp_path):
    path = tmp_path / "talk.jsonl"
    player = ChatPlayer(lambda messages: reply, replies=1, fallback="iggi", transcript=path)
    games = starmine.play_games([player, "iggi"], 1, variant="mini", record=True)
    lines = path.read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert len(lines) == len(player.exchanges)
    assert all(set(line) <= set(range(32, 127)) for line in lines)
    assert {json.loads(line)["outcome"] for line in lines} == {"unreadable"}
    found = report(games, [player, "iggi"])
    assert len(str(found).splitlines()) == len(found.rows())


def test_a_transcript_tells_game_seat_turn_attempt_and_usage(tmp_path):
    path = tmp_path / "talk.jsonl"
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "cost": 0.25, "note": "x"}
    player = ChatPlayer(lambda messages: Answer(first_move(messages), usage=usage), name="model", transcript=path)
    starmine.play_games(["iggi", player], 2, variant="mini")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(rows) == len(player.exchanges)
    assert {(row["player"], row["seat"], row["attempt"], row["prompt_version"]) for row in rows} == {("model", 1, 0, 1)}
    assert {row["game"] for row in rows} == {0, 1}
    assert rows[0]["usage"] == {"prompt_tokens": 100, "completion_tokens": 5, "cost": 0.25}
    assert len({row["prompt"] for row in rows}) > 1
    assert player.report()["usage"]["prompt_tokens"] == 100 * len(rows)
    with pytest.raises(starmine.StarmineError, match="expected a file that does not exist"):
        ChatPlayer(first_move, transcript=path)


def test_a_tool_call_is_a_reply():
    call = {"name": "play", "arguments": {"slot": 1}}
    player = ChatPlayer(lambda messages: Answer(tool_calls=[call]))
    assert player.act(view()) == 4
    assert json.loads(player.exchanges[0].reply) == call


def test_a_running_event_loop_does_not_matter():
    async def main():
        return ChatPlayer(first_move).act(view())

    assert asyncio.run(main()) == view().legal_actions()[0]


BAD = [
    ({"ask": "model"}, "ask='model'"),
    ({"replies": 0}, "replies=0"),
    ({"calls": True}, "calls=True"),
    ({"concurrency": 1.5}, "concurrency=1.5"),
    ({"concurrency": 8, "batched": True}, "concurrency=8 is not allowed with batched=True"),
    ({"timeout": -1}, "timeout=-1"),
    ({"backoff": None}, "backoff=None"),
    ({"backoff": float("nan")}, "backoff=nan"),
    ({"fallback": 7}, "fallback=7"),
    ({"fallback": "smrat"}, 'fallback="smrat" is not known: did you mean "smart"?'),
    ({"fallback": "rules: play-safe; discard-odlest"}, "discard-oldest"),
    ({"fallback": "cheater"}, "fallback='cheater' is not allowed: .*all hands"),
    (
        {"options": "json"},
        r"options='json' is not allowed: expected PromptOptions, such as PromptOptions\(form='json'\)",
    ),
    ({"options": {"form": "json"}}, "options={'form': 'json'} is not allowed: expected PromptOptions"),
    ({"name": None}, "name=None is not allowed: expected text"),
    ({"batched": "no"}, "batched='no' is not allowed: expected True or False"),
    ({"transcript": ""}, "transcript=''"),
]


@pytest.mark.parametrize(("given", "message"), BAD, ids=str)
def test_wrong_arguments_are_refused(given, message):
    with pytest.raises(starmine.StarmineError, match=message):
        ChatPlayer(**({"ask": first_move} | given))


def test_a_fallback_may_play_other_rules_than_the_standard_ones():
    seen = starmine.variant("standard", players=3).new_game(seed=1).view(0)
    assert ChatPlayer(lambda messages: "hm", replies=1, fallback="ippo-3p").act(seen) in seen.legal_actions()


@pytest.mark.parametrize("reply", [{"text": "MOVE: play slot 0", "usage": {}}, [{"text": "x", "usage": {}}]])
def test_a_dict_of_other_keys_is_told_which_keys_are_expected(reply):
    with pytest.raises(ChatError) as found:
        ChatPlayer(lambda messages: reply, replies=1).act(view())
    expected = 'expected a tool call such as {"name": "play", "arguments": {"slot": 2}}, or {"move": "play slot 2"}'
    assert str(found.value).endswith(f"it has no move, but the keys text, usage: {expected}")
    with pytest.raises(ChatError, match="it has no move and no key: expected a tool call"):
        ChatPlayer(lambda messages: {}, replies=1).act(view())
    with pytest.raises(ChatError, match=r"but the keys x{99}\.\.\.: expected"):
        ChatPlayer(lambda messages: {"x" * 10_000: 1}, replies=1).act(view())


def test_a_batched_function_that_returns_too_few_replies_has_failed():
    player = ChatPlayer(lambda batch: ["MOVE: play slot 0"], batched=True, calls=1, fallback="iggi")
    moves_of(player, [view(), view()])
    assert [exchange.outcome for exchange in player.exchanges] == ["failed", "failed"]


def test_a_chat_player_sits_in_evaluations_and_generated_data(tmp_path):
    pytest.importorskip("pyarrow")
    player = ChatPlayer(first_move)
    found = starmine.evaluate({"model": player, "iggi": "iggi"}, 4, variant="mini", figure=False)
    assert all(pairing.games == 4 for pairing in found.pairings)
    starmine.data.generate([ChatPlayer(first_move), "iggi"], 4, tmp_path / "games", "mini", progress=False)
    assert len(starmine.data.Dataset(tmp_path / "games")) == 4


def test_calls_of_later_turns_run_in_the_same_event_loop():
    loops = set()

    async def ask(messages):
        loops.add(asyncio.get_running_loop())
        return first_move(messages)

    starmine.play_games([ChatPlayer(ask), ChatPlayer(ask)], 2, variant="mini")
    assert len(loops) == 1


def test_a_model_may_itself_play_games_with_a_chat_player():
    inner = ChatPlayer(first_move)

    async def ask(messages):
        starmine.play_games([inner, inner], 1, variant="mini")
        return first_move(messages)

    assert ChatPlayer(ask).act(view()) == ChatPlayer(first_move).act(view())


def test_a_copy_has_the_settings_but_not_the_exchanges(tmp_path):
    player = ChatPlayer(first_move, name="mine", replies=2, transcript=tmp_path / "talk.jsonl")
    player.act(view())
    again = pickle.loads(pickle.dumps(player))
    assert (again.name, again.replies, again.exchanges, again.repeated) == ("mine", 2, [], [])
    assert again.act(view()) == player.act(view())
    assert len((tmp_path / "talk.jsonl").read_text().splitlines()) == 2


def test_two_different_tool_calls_are_refused():
    call = {"name": "play", "arguments": {"slot": 0}}
    other = {"name": "play", "arguments": {"slot": 1}}
    replies = iter([Answer(tool_calls=[call, other]), Answer(tool_calls=[call, call])])
    player = ChatPlayer(lambda messages: next(replies))
    assert player.act(view()) == view().variant.hand_size
    assert "2 different moves" in player.exchanges[0].problem


class Unplanned:
    """A model whose plan is missing, as a function and as an async function, alone and in batches."""

    def __init__(self, kind):
        self.is_async, self.batched = "async" in kind, "batched" in kind

    def ask(self, messages):
        return {}["plan"]

    async def ask_later(self, messages):
        await asyncio.sleep(0)
        return {}["plan"]

    def player(self, **options):
        ask = self.ask_later if self.is_async else self.ask
        return ChatPlayer(ask, batched=self.batched, calls=2, backoff=0, **options)

    @property
    def place(self):
        function = Unplanned.ask_later if self.is_async else Unplanned.ask
        lines, first = inspect.getsourcelines(function)
        return f"{__file__}:{first + len(lines) - 1}"


@pytest.mark.parametrize("kind", ["function", "async", "batched", "async batched"])
def test_the_exception_of_a_model_is_told_with_its_place_and_kept(kind):
    model = Unplanned(kind)
    player = model.player()
    with pytest.raises(ChatError) as found:
        player.act(view())
    assert str(found.value).endswith(f"KeyError: 'plan' at {model.place}")
    assert isinstance(found.value.__cause__, KeyError)
    (exchange,) = player.exchanges
    assert exchange.problem == f"KeyError: 'plan' at {model.place}"
    with pytest.raises(starmine.BotError) as caught:
        starmine.play_games([player, "iggi"], 2, variant="mini")
    (failure, _) = caught.value.failures
    assert failure.message.count(" at ") == 1
    assert failure.message.endswith(f"KeyError: 'plan' at {model.place}")
    assert isinstance(caught.value.__cause__.__cause__, KeyError)


def test_an_unusable_reply_has_no_cause_and_no_place():
    with pytest.raises(ChatError) as found:
        ChatPlayer(lambda messages: "hm", replies=1).act(view())
    assert found.value.__cause__ is None
    with pytest.raises(starmine.BotError) as caught:
        starmine.play_games([ChatPlayer(lambda messages: "hm", replies=1), "iggi"], 1, variant="mini")
    assert ".py" not in str(caught.value)


def test_the_exception_of_a_fallback_is_told_with_its_place():
    def fallback(seen):
        return {}["plan"]

    line = inspect.getsourcelines(fallback)[1] + 1
    player = ChatPlayer(lambda messages: "hm", replies=1, fallback=fallback)
    with pytest.raises(starmine.BotError, match="KeyError: 'plan'") as caught:
        starmine.play_games([player, "iggi"], 1, variant="mini")
    assert str(caught.value).endswith(f"KeyError: 'plan' at {__file__}:{line}")
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_time_limit_is_told_in_seconds():
    async def ask(messages):
        await asyncio.sleep(60)

    with pytest.raises(ChatError) as found:
        ChatPlayer(ask, calls=1, timeout=0.05).act(view())
    assert str(found.value).endswith("the last problem: TimeoutError: no reply in 0.05 seconds")
