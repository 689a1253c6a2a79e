"""`starmine play` without a browser: what is sent, stale pages, failing partners, and games one after the other."""

import json
import random

import pytest
from web_person import Person, at, serving, web_game_of

import starmine
from starmine.look import frame_of
from starmine.look.frame import event_of, suits_of
from starmine.look.replay import replay_data
from starmine.look.web_game import MOVED_ON
from starmine.look.words import turn_in_words

HEAD = {
    "Server": "starmine",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def expected(view, game, title):
    """All that a page may know of a game before its end, made of the seat's view alone."""
    own = view.observer
    history, suits = view.history, suits_of(view.variant)
    return {
        "game": 0,
        "title": title,
        "seat": own,
        "waits": view.current_player == own,
        "over": False,
        "advisers": [name for name in ("smart", "piers") if name == "piers" or view.variant.colors == 5],
        "frame": frame_of(view, names=game.shown_names, legal=view.current_player == own),
        "log": [turn_in_words(event_of(event, suits), game.shown_names, suits) for event in history],
        "last_own_turn": max([turn for turn, event in enumerate(history, 1) if event.seat == own], default=0),
    }


def check_head(answer):
    """The head of an answer holds only what all answers have."""
    head = dict(answer[1])
    assert head.pop("Content-Length") == str(len(answer[2]))
    assert "script-src 'self'" in head.pop("Content-Security-Policy")
    assert head.pop("Content-Type")
    assert head == HEAD


@pytest.mark.parametrize(
    ("variant", "seats"),
    [
        ("standard", (None, "smart")),
        ("standard", ("information", "smart", None)),
        ("avalanche", ("piers", None, "simple", "piers")),
        ("traditional", (None, "piers")),
    ],
)
def test_nothing_but_the_seat_s_view_is_sent_in_a_whole_game(variant, seats):
    rng = random.Random(7)
    web_game = web_game_of(seats, variant)
    game, seat = web_game.game, seats.index(None)
    title = f"Game 1: {', '.join(name or 'you' for name in seats)}"
    with serving(web_game) as server:
        person = Person(server)
        found = person.ask("game")
        while True:
            sent = person.traffic[-1]
            check_head(sent)
            if game.is_over:
                break
            assert json.loads(sent[2]) == json.loads(json.dumps(expected(game.state.view(seat), game, title)))
            for refused in ("replay", "replay.html"):
                status, told = person.request(refused)
                assert (status, told) == (403, {"error": "the game is not over: its cards are shown at its end"})
            if not found["waits"]:
                found = person.ask("step", at(found))
                continue
            status, told = person.request("act", {"action": 999, **at(found)})
            assert status == 400
            advice = person.ask("advice", {"bot": "piers", **at(found)})
            assert advice["action"] == starmine.make_bot("piers", game.variant, seat).act(game.state.view(seat))
            action = advice["action"] if rng.random() < 0.5 else rng.choice(game.view.legal_actions())
            found = person.ask("act", {"action": action, **at(found)})
        assert found["over"]
        cards = [[card["card"] for card in hand] for hand in found["frame"]["hands"]]
        assert cards == [[str(card) for card in hand] for hand in game.state.hands]
        data = person.ask("replay")
    same = replay_data(game.state, names=game.names, titles=[data["games"][0]["title"]], compare=None)
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
        web_game = web_game_of((None, Discarding))
        web_game.game.state = starmine.Variant().new_game(deck=deck)
        with serving(web_game) as server:
            person = Person(server)
            for turn in range(24):
                found = person.ask("game")
                person.request("replay")
                if turn % 2:
                    person.ask("step", at(found))
                    continue
                person.ask("advice", {"bot": "smart", **at(found)})
                hints = [move for move in found["frame"]["legal"] if move["kind"] not in ("play", "discard")]
                person.ask("act", {"action": hints[0]["action"], **at(found)})
            sent.append(person.traffic)
    assert len(sent[0]) > 80
    assert sent[0] == sent[1]


@pytest.mark.parametrize("what", ["act", "advice", "step", "begin"])
def test_a_page_that_shows_an_earlier_position_is_refused(what):
    """Of two clients the second one shows an earlier position, or an earlier game."""
    web_game = web_game_of(seed=4)
    with serving(web_game) as server:
        first, second = Person(server), Person(server)
        stale = second.ask("game")
        told = {"act": {"action": web_game.game.view.legal_actions()[0]}, "advice": {"bot": "smart"}}.get(what, {})
        found = first.ask("act", {"action": web_game.game.view.legal_actions()[-1], **at(stale)})
        found = first.ask("step", at(found))
        for _ in range(2):
            before = web_game.game.state.copy()
            status, answer = second.request(what, {**told, **at(stale)})
            assert (status, answer) == ((200, found) if what == "step" else (409, {"error": MOVED_ON}))
            assert web_game.game.state == before
            found = first.ask("begin", at(found))
        assert web_game.number == 2
        assert second.request(what, {**told, **at(second.ask("game"))})[0] == 200  # the same, looked at anew


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
    with serving(web_game_of((kind, None), names=("bad", "you"), report=reported.append)) as server:
        person = Person(server)
        answer = person.request("step", at(person.ask("game")))
        assert answer == (400, {"error": "bad failed; the program's terminal says why"})
        assert kind.__name__ == "Cheating" or "cannot play" in reported[0]
        assert len(reported) == 1


def test_watchers_see_open_hands_and_no_deck():
    web_game = web_game_of(("smart", "information"))
    game = web_game.game
    with serving(web_game) as server:
        person = Person(server)
        found = person.ask("game")
        while not found["over"]:
            assert found["frame"] == json.loads(json.dumps(frame_of(game.state, names=game.names, legal=False)))
            found = person.ask("step", at(found))
    assert game.state.length == len(found["log"])


def test_games_follow_each_other_and_each_is_kept_once():
    kept = []

    def keep(web_game):
        kept.append((web_game.number, web_game.game.state.copy()))
        return "games"

    web_game = web_game_of(("smart", "smart"), seed=5, keep=keep, report=lambda text: None)
    found = web_game.show()
    for number in range(3):
        while not found["over"]:
            found = web_game.step([number, found["frame"]["turn"]])
        found = web_game.begin([number, found["frame"]["turn"]])
    web_game.leave()  # a game without a turn is not kept
    assert [number for number, _ in kept] == [0, 1, 2]
    games = starmine.play_games(["smart", "smart"], 3, seed=5)
    assert [state for _, state in kept] == [games.state(number) for number in range(3)]
    web_game.step([3, 0])
    web_game.leave()
    web_game.leave()
    assert [number for number, _ in kept] == [0, 1, 2, 3]


def test_a_game_that_cannot_be_kept_is_reported():
    reported = []

    def keep(web_game):
        raise PermissionError(13, "Permission denied", "games")

    web_game = web_game_of(("smart", None), keep=keep, report=reported.append)
    web_game.step([0, 0])
    web_game.leave()
    assert "Permission denied" in reported[0]
