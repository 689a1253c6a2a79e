"""A chat player asks, reads, asks again, falls back, and keeps what was said; no reply or failure goes unnoticed."""

import asyncio
import inspect
import itertools
import json
import pickle
import signal
import threading
import time
from collections import Counter
from dataclasses import asdict

import pytest
from chat_models import Cautious, first_move

import starmine
from starmine.text import PROMPT_VERSION, ChatError, ChatPlayer

MINI = starmine.variant("mini")


def same_moves(one, other):
    """Whether the moves of all games are equal. The names of the players may differ."""
    return [array.tolist() for array in one.played()] == [array.tolist() for array in other.played()]


def moves_of(player, views):
    """The moves of a player in games that wait at the same time."""
    return [answer.result(timeout=60) for answer in player.act_views(views, list(range(len(views))))]


def view(turns=0):
    state = MINI.new_game(seed=3)
    for _ in range(turns):
        state.apply(state.legal_actions()[-1])
    return state.view(state.current_player)


@pytest.mark.parametrize("kind", ["function", "async", "object"])
def test_every_kind_of_callable_plays_the_same_games(kind):
    async def later(messages):
        await asyncio.sleep(0)
        return first_move(messages)

    class Model:
        async def __call__(self, messages):
            return await later(messages)

    asks = {"function": first_move, "async": later, "object": Model()}
    player = ChatPlayer(asks[kind], concurrency=4)
    games = starmine.play_games([player, player], 6, variant="mini")
    assert same_moves(games, starmine.play_games([Cautious, Cautious], 6, variant="mini"))
    assert {exchange.seat for exchange in player.exchanges} == {0, 1}
    assert {exchange.game for exchange in player.exchanges} == set(range(6))


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
    player = ChatPlayer(ask, concurrency=8)
    games = starmine.play_games([player, others[other]], 8)
    expected = "iggi" if other == "iggi" else Cautious
    assert same_moves(games, starmine.play_games([Cautious, expected], 8))
    if other == "every turn":
        assert seen == dict(enumerate(games.lengths.tolist()))


def test_an_unusable_reply_holds_up_its_own_game_alone():
    said = []

    def ask(messages):
        said.append(messages)
        return "hm" if len(said) == 3 else first_move(messages)

    player = ChatPlayer(ask)
    games = starmine.play_games([player, "iggi"], 5)
    assert same_moves(games, starmine.play_games([Cautious, "iggi"], 5))
    assert sum(exchange.outcome == "unreadable" for exchange in player.exchanges) == 1


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


def test_a_function_that_hangs_does_not_hold_up_later_calls_after_an_interruption():
    begun, release, calls = threading.Event(), threading.Event(), itertools.count()

    def ask(messages):
        if next(calls) == 0:
            begun.set()
            release.wait(60)
        return first_move(messages)

    def interrupt():
        begun.wait(60)
        time.sleep(0.3)  # until the main thread waits for the answer
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    # A shell starts processes in the background with the signal ignored.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt, daemon=True).start()
    player = ChatPlayer(ask)
    try:
        with pytest.raises(KeyboardInterrupt):
            starmine.play_games([player, "iggi"], 2, variant="mini")
        assert player.exchanges == []
        assert within(20, lambda: player.act(view()))[0] == view().legal_actions()[0]
    finally:
        signal.signal(signal.SIGINT, handler)
        release.set()


def test_an_unusable_reply_is_sent_back_with_what_was_wrong():
    replies = iter(["Hello.", "play slot 7", "MOVE: discard slot 0", "MOVE: play slot 1"])
    asked = []

    def ask(messages):
        asked.append(messages)
        return next(replies)

    player = ChatPlayer(ask, replies=4)
    assert player.act(view()) == 4
    assert [exchange.outcome for exchange in player.exchanges] == ["unreadable", "illegal", "illegal", "move"]
    assert [len(messages) for messages in asked] == [2, 4, 6, 8]
    assert [message["role"] for message in asked[-1]][2:] == ["assistant", "user"] * 3
    assert "'Hello.' is no move" in asked[1][-1]["content"]
    assert "End your answer with a line such as\nMOVE: play slot 0" in asked[1][-1]["content"]
    assert '"play slot 7" is not legal now: there is no slot 7' in asked[2][-1]["content"]
    assert "not legal now" in asked[3][-1]["content"]
    assert asked[0][0]["role"] == "system"


def test_an_own_prompt_is_what_the_model_gets_and_what_is_recorded():
    asked = []

    def ask(messages):
        asked.append(messages)
        return "Hello." if len(asked) == 1 else "MOVE: play slot 1"

    player = ChatPlayer(ask, prompt=lambda seen: [{"role": "user", "content": f"You are seat {seen.observer}."}])
    assert player.act(view()) == 4
    assert asked[0] == [{"role": "user", "content": "You are seat 0."}]
    assert asked[1][:1] == asked[0]
    assert [exchange.messages for exchange in player.exchanges] == asked


def test_an_own_prompt_may_change_its_messages_for_the_next_turn():
    shared = [{"role": "user", "content": ""}]

    def prompt(seen):
        shared[0]["content"] = f"Turn {len(seen.history)}."
        return shared

    player = ChatPlayer(lambda messages: None, prompt=prompt, replies=1, fallback="iggi")
    starmine.play_games([player, "iggi"], 1, variant="mini")
    assert all(said.messages[0]["content"] == f"Turn {said.turn}." for said in player.exchanges)


def test_a_reply_without_text_is_empty():
    player = ChatPlayer(lambda messages: None, replies=1, fallback="iggi")
    player.act(view())
    assert (player.exchanges[0].reply, player.exchanges[0].outcome) == ("", "unreadable")
    assert "it is empty" in player.exchanges[0].problem


def test_a_game_without_a_legal_move_is_given_up_with_the_reason_and_the_others_go_on():
    def ask(messages):
        return "hm" if "Turn 4." in messages[1]["content"] else first_move(messages)

    player = ChatPlayer(ask, replies=2)
    with pytest.raises(starmine.BotError) as error:
        starmine.play_games([player, "iggi"], 5, variant="mini")
    assert all("is no move" in failure.message for failure in error.value.failures)
    assert issubclass(ChatError, starmine.StarmineError)


@pytest.mark.parametrize("fallback", ["smart", lambda seen: seen.legal_actions()[0]])
def test_a_fallback_plays_on_and_is_counted(fallback):
    player = ChatPlayer(lambda messages: "hm", replies=1, fallback=fallback)
    games = starmine.play_games([player, "iggi"], 3)
    first = "smart" if fallback == "smart" else Cautious
    assert same_moves(games, starmine.play_games([first, "iggi"], 3))
    assert player.fallbacks == len(player.exchanges) > 0
    assert {exchange.outcome for exchange in player.exchanges} == {"unreadable"}


def test_a_call_that_fails_is_one_outcome():
    def ask(messages):
        raise ConnectionError("busy")

    player = ChatPlayer(ask)
    with pytest.raises(ChatError):
        player.act(view())
    (exchange,) = player.exchanges
    assert (exchange.outcome, exchange.reply, exchange.action) == ("failed", None, None)


def test_a_class_of_bots_that_are_asked_together_has_an_object_for_each_game():
    class Together(Cautious):
        def act_views(self, views, games):
            assert len(views) == 1
            return [self.act(seen) for seen in views]

    games = starmine.play_games([Together, "iggi"], 4, variant="mini")
    assert same_moves(games, starmine.play_games([Cautious, "iggi"], 4, variant="mini"))


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
    starmine.play_games([player, "iggi"], 1, variant="mini")
    lines = path.read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert len(lines) == len(player.exchanges)
    assert all(set(line) <= set(range(32, 127)) for line in lines)
    assert {json.loads(line)["outcome"] for line in lines} == {"unreadable"}


def test_a_transcript_stays_in_its_folder_and_has_what_the_model_got(tmp_path, monkeypatch):
    def ask(messages):
        reply = first_move(messages)
        messages.append({"role": "assistant", "content": reply})
        return reply

    monkeypatch.chdir(tmp_path)
    player, view = ChatPlayer(ask, transcript="talk.jsonl"), starmine.Variant().new_game(seed=1).view(0)
    for folder in (tmp_path, tmp_path / "other"):
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        player.act(view)
    rows = [json.loads(line) for line in (tmp_path / "talk.jsonl").read_text().splitlines()]
    assert [message["role"] for row in rows for message in row["messages"]] == ["system", "user"] * 2


def test_a_transcript_tells_game_seat_turn_and_attempt(tmp_path):
    path = tmp_path / "talk.jsonl"
    player = ChatPlayer(first_move, name="model", transcript=path)
    starmine.play_games(["iggi", player], 2, variant="mini")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows == [asdict(exchange) for exchange in player.exchanges]
    assert {(row["player"], row["seat"], row["attempt"], row["prompt_version"]) for row in rows} == {
        ("model", 1, 0, PROMPT_VERSION)
    }
    assert {row["game"] for row in rows} == {0, 1}


def test_a_tool_call_is_a_reply():
    call = {"name": "make_move", "arguments": {"move": "play slot 1"}}
    replies = iter([[call, call], call])
    player = ChatPlayer(lambda messages: next(replies))
    assert player.act(view()) == 4
    assert [exchange.outcome for exchange in player.exchanges] == ["unreadable", "move"]
    assert json.loads(player.exchanges[1].reply) == call


def test_a_fallback_may_play_other_rules_than_the_standard_ones():
    seen = starmine.variant("standard", players=3).new_game(seed=1).view(0)
    assert ChatPlayer(lambda messages: "hm", replies=1, fallback="ippo-3p").act(seen) in seen.legal_actions()


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


def test_a_model_may_itself_play_games_with_a_chat_player_in_a_thread():
    inner = ChatPlayer(first_move)

    def play(messages):
        starmine.play_games([inner, inner], 1, variant="mini")
        return first_move(messages)

    async def ask(messages):
        return await asyncio.to_thread(play, messages)

    expected = ChatPlayer(first_move).act(view())
    assert ChatPlayer(play).act(view()) == ChatPlayer(ask).act(view()) == expected


def test_a_copy_has_the_settings_but_not_the_exchanges(tmp_path):
    player = ChatPlayer(first_move, name="mine", replies=2, transcript=tmp_path / "talk.jsonl")
    player.act(view())
    again = pickle.loads(pickle.dumps(player))
    assert (again.name, again.replies, again.exchanges) == ("mine", 2, [])
    assert again.act(view()) == player.act(view())
    assert len((tmp_path / "talk.jsonl").read_text().splitlines()) == 2


# --- Exceptions ----------------------------------------------------------------------------------------------


class Unplanned:
    """A model whose plan is missing, as a function and as an async function."""

    def __init__(self, kind):
        self.is_async = kind == "async"

    def ask(self, messages):
        return {}["plan"]

    async def ask_later(self, messages):
        await asyncio.sleep(0)
        return {}["plan"]

    def player(self, **options):
        ask = self.ask_later if self.is_async else self.ask
        return ChatPlayer(ask, **options)

    @property
    def place(self):
        function = Unplanned.ask_later if self.is_async else Unplanned.ask
        lines, first = inspect.getsourcelines(function)
        return f"{__file__}:{first + len(lines) - 1}"


@pytest.mark.parametrize("kind", ["function", "async"])
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
    with pytest.raises(starmine.BotError) as caught:
        starmine.play_games([player, "iggi"], 1, variant="mini")
    assert str(caught.value).endswith(f"KeyError: 'plan' at {__file__}:{line}")
    assert isinstance(caught.value.__cause__, KeyError)


class Stopped(BaseException):
    """An exception of a library that no `except Exception` catches."""


FAILED = [StopIteration, StopAsyncIteration, TimeoutError, RuntimeError]
RAISED = [SystemExit, KeyboardInterrupt, GeneratorExit, Stopped]
KINDS = ["function", "async"]


def raising(kind, error, **options):
    """A chat player whose every call raises an exception, in different ways."""

    def ask(messages):
        raise error("over")

    async def later(messages):
        await asyncio.sleep(0)
        raise error("over")

    return ChatPlayer({"function": ask, "async": later}[kind], **options)


def within(seconds, call):
    """The result or the exception of a call in another thread, and a failure if it hangs."""
    found = []

    def run():
        try:
            found.append((call(), None))
        except BaseException as error:
            found.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, f"nothing came in {seconds} seconds"
    return found[0]


@pytest.mark.filterwarnings("ignore:no call of")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", FAILED)
def test_a_call_fails_by_any_exception_that_does_not_end_the_program(kind, error):
    player = raising(kind, error)
    _, caught = within(30, lambda: player.act(view()))
    assert isinstance(caught, ChatError)
    is_replaced = error is StopIteration and kind != "function"  # by Python, in a coroutine
    assert type(caught.__cause__) is (RuntimeError if is_replaced else error)
    assert [exchange.outcome for exchange in player.exchanges] == ["failed"]
    _, caught = within(30, lambda: starmine.play_games([player, "iggi"], 3, variant="mini"))
    assert isinstance(caught, starmine.BotError)
    assert len(caught.failures) == 3
    player = raising(kind, error, fallback="iggi")
    games, _ = within(30, lambda: starmine.play_games([player, "iggi"], 3, variant="mini"))
    assert (len(games), len(player.exchanges)) == (3, player.fallbacks)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", RAISED)
def test_an_exception_that_ends_the_program_is_raised_and_the_next_player_plays(kind, error):
    for play in (lambda player: player.act(view()), lambda player: starmine.play_games([player, "iggi"], 1)):
        for options in ({}, {"fallback": "iggi"}):
            _, caught = within(30, lambda play=play, options=options: play(raising(kind, error, **options)))
            assert type(caught) is error
    move, _ = within(30, lambda: ChatPlayer(first_move).act(view()))
    assert move == view().legal_actions()[0]


@pytest.mark.parametrize("error", [*FAILED, *RAISED])
def test_nothing_hangs_by_an_exception_of_a_fallback(error):
    def fallback(seen):
        raise error("over")

    player = ChatPlayer(lambda messages: "hm", replies=1, fallback=fallback)
    _, caught = within(30, lambda: player.act(view()))
    assert type(caught) is error
    _, caught = within(30, lambda: starmine.play_games([player, "iggi"], 3, variant="mini"))
    is_raised = error in RAISED or not issubclass(error, Exception)
    assert type(caught) is (error if is_raised else starmine.BotError)


def test_a_model_that_stops_or_cancels_the_loop_hangs_nothing():
    async def stops(messages):
        asyncio.get_running_loop().stop()
        return first_move(messages)

    async def cancels(messages):
        asyncio.current_task().cancel()
        await asyncio.sleep(60)

    assert within(30, lambda: ChatPlayer(stops).act(view()))[0] == view().legal_actions()[0]
    assert isinstance(within(30, lambda: ChatPlayer(cancels).act(view()))[1], ChatError)


def test_games_are_played_inside_a_running_event_loop():
    """As in a notebook: `play_games` is called in a coroutine."""

    async def later(messages):
        await asyncio.sleep(0)
        return first_move(messages)

    async def cell():
        return starmine.play_games([ChatPlayer(later), "iggi"], 4, variant="mini")

    games, _ = within(60, lambda: asyncio.run(cell()))
    assert same_moves(games, starmine.play_games([Cautious, "iggi"], 4, variant="mini"))
