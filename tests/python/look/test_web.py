"""`starmine play` without a browser: what is sent, stale pages, failing partners, and several tables."""

import json
import random
import threading

import pytest
from web_person import Person, at, serving, table_of, web_tables_of

import starmine
from starmine.look import frame_of, replay_data
from starmine.look.frame import event_of, suits_of
from starmine.look.web_tables import MOST_TABLES, MOVED_ON
from starmine.look.words import turn_in_words

HEAD = {
    "Server": "starmine",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def expected(view, table, found, variant, seats):
    """All that a page may know of a table before the end, made of the seat's view alone."""
    own = view.observer
    history, suits = view.history, suits_of(view.variant)
    return {
        "id": found["id"],
        "title": found["title"],
        "seat": own,
        "waits": view.current_player == own,
        "over": False,
        "moved": any(event.seat == own for event in history),
        "undone": table.undone,
        "told": {"variant": variant, "seats": seats},
        "advisers": [name for name in ("smart", "piers") if name == "piers" or view.variant.colors == 5],
        "frame": frame_of(view, names=table.shown_names, legal=view.current_player == own),
        "log": [turn_in_words(event_of(event, suits), table.shown_names, suits) for event in history],
        "last_own_turn": max([turn for turn, event in enumerate(history, 1) if event.seat == own], default=0),
    }


def check_head(answer):
    """The head of an answer holds only what all answers have."""
    head = dict(answer[1])
    assert head.pop("Content-Length") == str(len(answer[2]))
    assert "script-src 'self'" in head.pop("Content-Security-Policy")
    assert head.pop("Content-Type")
    assert head == HEAD


def start(person, variant="standard", seats=(None, "smart")):
    return person.ask("tables", {"variant": variant, "seats": list(seats)})


@pytest.mark.parametrize(
    ("variant", "seats"),
    [
        ("standard", (None, "smart")),
        ("standard", ("info", "smart", None)),
        ("avalanche", ("piers", None, "simple", "piers")),
        ("traditional", (None, "piers")),
    ],
)
def test_nothing_but_the_seat_s_view_is_sent_in_a_whole_game(variant, seats):
    rng = random.Random(7)
    web_tables = web_tables_of()
    with serving(web_tables) as server:
        person = Person(server)
        found = start(person, variant, seats)
        table = table_of(web_tables, found)
        seat = seats.index(None)
        while True:
            sent = person.traffic[-1]
            check_head(sent)
            if table.is_over:
                break
            seen = expected(table.state.view(seat), table, found, variant, seats)
            assert json.loads(sent[2]) == json.loads(json.dumps(seen))
            for refused in ("replay", "replay.html"):
                status, told = person.request(f"tables/{found['id']}/{refused}")
                assert (status, told) == (403, {"error": "the game is not over: its cards are shown at its end"})
            if not found["waits"]:
                found = person.ask(f"tables/{found['id']}/step", at(found))
                continue
            status, told = person.request(f"tables/{found['id']}/act", {"action": 999, **at(found)})
            assert status == 400
            advice = person.ask(f"tables/{found['id']}/advice", {"bot": "piers", **at(found)})
            assert advice["action"] == starmine.make_bot("piers", table.variant, seat).act(table.state.view(seat))
            if found["moved"] and rng.random() < 0.1:
                found = person.ask(f"tables/{found['id']}/back", at(found))
            elif rng.random() < 0.5:
                found = person.ask(f"tables/{found['id']}/act", {"action": advice["action"], **at(found)})
            else:
                action = rng.choice(table.view.legal_actions())
                found = person.ask(f"tables/{found['id']}/act", {"action": action, **at(found)})
        assert found["over"]
        cards = [[card["card"] for card in hand] for hand in found["frame"]["hands"]]
        assert cards == [[str(card) for card in hand] for hand in table.state.hands]
        data = person.ask(f"tables/{found['id']}/replay")
    same = replay_data(table.state, names=table.names, titles=[data["games"][0]["title"]], compare=None)
    told = {name: value for name, value in data["games"][0].items() if name != "compare"}
    assert told == json.loads(json.dumps(same["games"][0]))


class Discarding:
    """A partner whose moves do not depend on the person's cards."""

    def act(self, view):
        discards = [action for action in view.legal_actions() if action < view.variant.hand_size]
        return discards[0] if discards else view.variant.action("play 0")


def exchanged(variant, seat):
    """Two decks that differ in this seat's hand and in the last cards of the deck."""
    deck = variant.new_game(seed=3).deck
    size = variant.hand_size
    other = list(deck)
    own = range(seat * size, (seat + 1) * size)
    last = range(len(deck) - size, len(deck))
    for one, two in zip(own, last, strict=True):
        other[one], other[two] = other[two], other[one]
    assert [deck[place] for place in own] != [other[place] for place in own]
    return deck, other


def test_games_that_differ_in_hidden_cards_send_the_same_bytes():
    """The whole traffic is equal to the byte as long as nothing of the difference may be seen."""
    sent = []
    for deck in exchanged(starmine.Variant(), 0):
        web_tables = web_tables_of({"partner": Discarding})
        with serving(web_tables) as server:
            person = Person(server)
            found = start(person, seats=(None, "partner"))
            key = found["id"]
            table_of(web_tables, found).state = starmine.Variant().new_game(deck=deck)
            person.traffic.clear()
            for turn in range(24):
                found = person.ask(f"tables/{key}")
                person.request(f"tables/{key}/replay")
                person.ask("tables")
                if turn % 2:
                    found = person.ask(f"tables/{key}/step", at(found))
                    continue
                person.ask(f"tables/{key}/advice", {"bot": "smart", **at(found)})
                hints = [move for move in found["frame"]["legal"] if move["kind"] not in ("play", "discard")]
                found = person.ask(f"tables/{key}/act", {"action": hints[0]["action"], **at(found)})
                if turn == 10:
                    found = person.ask(f"tables/{key}/back", at(found))
                    person.ask(f"tables/{key}/act", {"action": hints[-1]["action"], **at(found)})
            sent.append([(s, h, body.replace(key.encode(), b"KEY")) for s, h, body in person.traffic])
    assert len(sent[0]) > 90
    assert sent[0] == sent[1]


@pytest.mark.parametrize("what", ["act", "back", "advice", "step"])
def test_a_page_that_shows_an_earlier_position_is_refused(what):
    """Of two clients the second one shows an earlier position.

    It is that before the first one's move, or that before a move was taken back and another one was played: as many
    turns, and another game.
    """
    web_tables = web_tables_of(seed=4)
    with serving(web_tables) as server:
        first, second = Person(server), Person(server)
        found = start(first)
        key, table = found["id"], table_of(web_tables, found)
        stale = second.ask(f"tables/{key}")
        told = {"act": {"action": table.view.legal_actions()[0]}, "advice": {"bot": "smart"}}.get(what, {})
        for _ in range(2):
            found = first.ask(f"tables/{key}/act", {"action": table.view.legal_actions()[-1], **at(found)})
            found = first.ask(f"tables/{key}/step", at(found))
            before = table.state.copy()
            status, answer = second.request(f"tables/{key}/{what}", {**told, **at(stale)})
            if what == "step":
                assert (status, answer) == (200, found)
            else:
                assert status == 409
                assert answer == {"error": MOVED_ON}
            assert table.state == before
            stale = second.ask(f"tables/{key}")
            assert second.request(f"tables/{key}/{what}", {**told, **at(stale)})[0] == 200  # the same, looked at anew
            found = second.ask(f"tables/{key}")
            while not found["waits"]:
                found = second.ask(f"tables/{key}/step", at(found))
        if not found["moved"]:
            found = first.ask(f"tables/{key}/act", {"action": table.view.legal_actions()[-1], **at(found)})
        stale = found
        found = first.ask(f"tables/{key}/back", at(found))
        while table.state.length < stale["frame"]["turn"]:
            move = {"action": table.view.legal_actions()[0]} if found["waits"] else {}
            found = first.ask(f"tables/{key}/{'act' if found['waits'] else 'step'}", {**move, **at(found)})
        assert found["frame"]["turn"] == stale["frame"]["turn"]
        before = table.state.copy()
        status, answer = second.request(f"tables/{key}/{what}", {**told, **at(stale)})
        assert (status, table.state) == (200 if what == "step" else 409, before)


@pytest.mark.parametrize("told", [{}, {"at": None}, {"at": 0}, {"at": [0]}, {"at": [0, True]}, {"at": ["0", 0]}])
def test_a_request_must_say_what_its_page_shows(told):
    web_tables = web_tables_of()
    with serving(web_tables) as server:
        person = Person(server)
        found = start(person)
        for what in ("act", "step", "back", "advice"):
            request = {"action": found["frame"]["legal"][0]["action"], "bot": "smart", **told}
            status, answer = person.request(f"tables/{found['id']}/{what}", request)
            assert (status, table_of(web_tables, found).state.length) == (400, 0)
            assert "expected [turn, undone]" in answer["error"]


class Telling:
    """A partner that fails, with words that tell the person's cards."""

    def act(self, view):
        raise ValueError(f"cannot play: {view.hands[1]}")


class Cheating:
    """A partner whose move is refused, with a list that depends on the person's cards."""

    def act(self, view):
        return view.variant.num_actions - 1 if view.variant.num_actions - 1 not in view.legal_actions() else 0


@pytest.mark.parametrize("kind", [Telling, Cheating])
def test_what_a_failing_partner_says_stays_in_the_terminal(kind):
    reported = []
    web_tables = web_tables_of({"bad": kind}, report=reported.append)
    with serving(web_tables) as server:
        person = Person(server)
        found = start(person, seats=("bad", None))
        answer = person.request(f"tables/{found['id']}/step", at(found))
        assert answer == (400, {"error": "bad failed; the program's terminal says why"})
        assert kind.__name__ == "Cheating" or "cannot play" in reported[0]
        assert len(reported) == 1


class Forgetful:
    """A policy that fails when a game begins again."""

    games = 0

    def reset(self, games, seats):
        self.games += 1
        if self.games > 1:
            raise KeyError("plan")

    def act_batch(self, turns):
        return turns.action_mask.argmax(axis=1)


def test_a_partner_that_fails_when_a_move_is_taken_back_is_told_with_its_place():
    reported = []
    web_tables = web_tables_of({"bad": Forgetful}, report=reported.append)
    found = web_tables.open("standard", [None, "bad"])
    table = table_of(web_tables, found)
    web_tables.act(found["id"], table.advice("smart"), [0, 0])
    with pytest.raises(starmine.StarmineError, match="a partner failed; the program's terminal says why"):
        web_tables.take_back(found["id"], [1, 0])
    assert reported[0].startswith(f"KeyError: 'plan' at {__file__}:")


def test_watchers_see_open_hands_and_no_deck():
    web_tables = web_tables_of()
    with serving(web_tables) as server:
        person = Person(server)
        found = start(person, seats=("smart", "info"))
        table = table_of(web_tables, found)
        while not found["over"]:
            assert found["frame"] == json.loads(json.dumps(frame_of(table.state, names=table.names, legal=False)))
            found = person.ask(f"tables/{found['id']}/step", at(found))
    assert table.state.length == len(found["log"])


def test_several_tables_are_played_at_once(tmp_path):
    web_tables = web_tables_of(seed=5, folder=tmp_path, report=lambda text: None)
    with serving(web_tables) as server:

        def whole():
            person = Person(server)
            found = start(person, seats=("smart", "smart"))
            keys.append(found["id"])
            while not found["over"]:
                found = person.ask(f"tables/{found['id']}/step", at(found))

        keys = []
        threads = [threading.Thread(target=whole) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(Person(server).ask("tables")) == 4
        played = sorted(web_tables._places[key].table.state.score for key in keys)
        Person(server).ask(f"tables/{keys[0]}/close", {})
        assert len(Person(server).ask("tables")) == 3
        assert Person(server).request(f"tables/{keys[0]}")[0] == 404
    assert played == sorted(starmine.play_games(["smart", "smart"], 4, seed=5).scores.tolist())
    pages = sorted(tmp_path.iterdir())
    assert len(pages) == 4
    assert all(b"<main" in path.read_bytes() for path in pages)


def test_the_number_of_tables_is_limited():
    web_tables = web_tables_of()
    for _ in range(MOST_TABLES):
        web_tables.open("very-small", [None, "simple"])
    with pytest.raises(starmine.StarmineError, match="leave one first"):
        web_tables.open("very-small", [None, "simple"])
