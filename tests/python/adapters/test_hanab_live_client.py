"""Players at tables of hanab.live: recorded messages, games with a stand-in of the server, and what is refused."""

import json
from pathlib import Path

import pytest
from hanab_live_server import Server
from recurrent_policy import recurrent

import starmine
from starmine import StarmineError
from starmine.adapters.ah2ac2 import EvaluationAgent
from starmine.adapters.hanab_live import HanabLiveClient

RECORDED = Path(__file__).parents[2] / "data" / "hanab_live"
SEED = 6


class Counting:
    """Plays by the number of times that it was asked."""

    def __init__(self):
        self.turns = 0

    def act(self, view):
        self.turns += 1
        legal = view.legal_actions()
        return legal[7 * self.turns % len(legal)]


class Scripted:
    """Plays moves one after another."""

    def __init__(self, *moves):
        self.moves = list(moves)

    def act(self, view):
        return self.moves.pop(0)


def lines(name):
    return (RECORDED / name).read_text().splitlines()


def command(text):
    name, _, data = text.partition(" ")
    return name, json.loads(data)


@pytest.mark.parametrize("option", ["deckPlays", "cardCycle"])
def test_a_table_that_cannot_be_followed_is_refused_at_its_start(option):
    _, init, _ = Server(starmine.Variant().new_game(seed=SEED)).start(0)
    with pytest.raises(StarmineError):
        HanabLiveClient("smart").receive(init.replace(f'"{option}": false', f'"{option}": true'))


def test_a_recorded_start():
    client = HanabLiveClient(Scripted("hint +1 yellow"))
    sent = [text for line in lines("session_start.txt") for text in client.receive(line)]
    assert [command(text) for text in sent] == [
        ("getGameInfo1", {"tableID": 97}),
        ("getGameInfo2", {"tableID": 97}),
        ("loaded", {"tableID": 97}),
        ("action", {"tableID": 97, "type": 2, "target": 1, "value": 1}),
    ]
    hands = client.seen.view().hands
    assert [str(card) for card in hands[1]] == ["Y5", "R3", "B1", "R4", "B3"]
    assert hands[0] == [None] * 5


def started(player):
    """A client in seat 1 before the recorded turns. They show only the first of the teammate's first cards."""
    start = lines("session_start.txt")
    init = start[3].replace('"tableID":97', '"tableID":9').replace('"ourPlayerIndex":0', '"ourPlayerIndex":1')
    hand = [(0, 3), (2, 1), (3, 1), (1, 1), (2, 2)]
    drawn = [{"type": "draw", "playerIndex": 0, "order": k, "suitIndex": s, "rank": r} for k, (s, r) in enumerate(hand)]
    drawn += [{"type": "draw", "playerIndex": 1, "order": k, "suitIndex": -1, "rank": -1} for k in range(5, 10)]
    client = HanabLiveClient(player)
    assert client.receive(init) == ['getGameInfo2 {"tableID": 9}']
    assert client.receive(f"gameActionList {json.dumps({'tableID': 9, 'list': drawn})}") == ['loaded {"tableID": 9}']
    return client


def test_recorded_turns():
    client = started(Scripted("play 2", "discard 1"))
    sent = [text for line in lines("session_turns.txt") for text in client.receive(line)]
    assert [command(text) for text in sent] == [
        ("action", {"tableID": 9, "type": 0, "target": 7}),
        ("action", {"tableID": 9, "type": 1, "target": 6}),
    ]
    view = client.seen.view()
    assert [event.move for event in view.history] == ["play 0", "play 2", "hint +1 yellow", "discard 1"]
    assert [str(event.drawn) for event in view.history] == ["W3", "None", "None", "None"]
    assert view.history[2].touched == [0, 4]
    assert (view.information_tokens, view.life_tokens, view.score) == (8, 2, 1)
    assert view.current_player == 0


def tell(clients, told):
    """Give each client its messages. Returns what they send."""
    return [text for client, each in zip(clients, told, strict=True) for line in each for text in client.receive(line)]


def play(clients, server):
    """Play the game of a server to its end."""
    sent = tell(clients, [server.start(seat) for seat in range(len(clients))])
    sent = [text for text in sent if text.startswith("action ")]
    while not server.state.is_terminal:
        (text,) = sent
        sent = tell(clients, server.play(text))
    assert sent == []
    return [event.action for event in server.state.history]


TABLES = [
    starmine.Variant(),
    starmine.Variant(players=3, colors=6),
    starmine.variant("avalanche", players=4),
    starmine.Variant(players=5, colors=4),
    starmine.variant("empty-hints", players=2),
    starmine.variant("crowning-piece", players=3),
    starmine.Variant(players=4, hand_size=5),
    starmine.Variant(copies=[[2, 2, 2, 2, 1]] * 5),
]


@pytest.mark.parametrize("variant", TABLES, ids=str)
@pytest.mark.parametrize("player", ["iggi", "noisy: 0.4; iggi", recurrent], ids=["iggi", "noise", "recurrent"])
def test_games_are_those_of_play_games(variant, player):
    player = player if isinstance(player, str) else player(variant)
    players = [player] * variant.players
    games = starmine.play_games(players, 3, SEED, variant)
    clients = [HanabLiveClient(player, seed=SEED) for _ in players]
    for game in range(3):
        server = Server(variant.new_game(seed=SEED, game=game), table=game)
        actions = play(clients, server)
        first, last = games.offsets[game : game + 2]
        assert actions == games.actions[first:last].tolist()
        assert all(client.is_over for client in clients)


def part_of_a_game(player, turns, seat=0):
    """A client after some turns of a game between this player and iggi, the server, and what was sent last."""
    server = Server(starmine.Variant().new_game(seed=SEED))
    clients = [HanabLiveClient(player, seed=SEED), HanabLiveClient("iggi", seed=SEED)]
    sent = [text for text in tell(clients, [server.start(seat) for seat in range(2)]) if text.startswith("action ")]
    for _ in range(turns):
        sent = tell(clients, server.play(sent[-1]))
    return clients[seat], server, sent[-1]


@pytest.mark.parametrize(
    "player", ["smart", Counting, recurrent(starmine.Variant()), recurrent(starmine.Variant(), all_turns=True)]
)
@pytest.mark.parametrize("turns", [4, 7])
def test_a_client_that_was_cut_off_is_told_everything_again(player, turns):
    client, server, sent = part_of_a_game(player, turns)
    again = HanabLiveClient(player, seed=SEED)
    for one in (client, again):  # the same client, and a program that has started again
        answers = [text for message in server.start(0) for text in one.receive(message)]
        moves = [text for text in answers if text.startswith("action ")]
        assert moves == ([sent] if turns % 2 == 0 else [])
    assert again.seen == client.seen


def test_a_paused_game_waits():
    client, server, sent = part_of_a_game("smart", 4)
    assert client.receive('pause {"tableID": 9, "active": true, "playerIndex": 1}') == []
    assert not [text for text in client.receive(server.list(0)) if text.startswith("action ")]
    assert client.receive('pause {"tableID": 9, "active": false, "playerIndex": 1}') == [sent]


def test_a_game_that_players_end():
    client, _, _ = part_of_a_game("smart", 5)
    over = {"type": "gameOver", "endCondition": 4, "playerIndex": 1, "votes": None}
    turn = {"type": "turn", "num": 6, "currentPlayerIndex": -1}
    for action in (over, turn):
        assert client.receive(f"gameAction {json.dumps({'tableID': 9, 'action': action})}") == []
    assert client.is_over
    assert not client.seen.is_terminal


@pytest.mark.parametrize(
    "action",
    [
        {"type": "draw", "playerIndex": 0, "order": 10, "suitIndex": 1, "rank": 1},
        {"type": "play", "playerIndex": 1, "order": 7, "suitIndex": 4, "rank": 1},
        {"type": "play", "playerIndex": 0, "order": 7, "suitIndex": 4, "rank": 1},
        {"type": "play", "playerIndex": 0, "order": 0, "suitIndex": 0, "rank": 3},
        {"type": "discard", "playerIndex": 0, "order": 1, "suitIndex": 2, "rank": 1, "failed": True},
        {"type": "discard", "playerIndex": 0, "order": 0, "suitIndex": -1, "rank": -1},
        {"type": "play", "playerIndex": 0, "order": 1, "suitIndex": 9, "rank": 1},
        {"type": "play", "playerIndex": 7, "order": 1, "suitIndex": 2, "rank": 1},
        {"type": "clue", "giver": 1, "target": 0, "clue": {"type": 0, "value": 0}, "list": [0]},
        {"type": "clue", "giver": 0, "target": 1, "clue": {"type": 0, "value": 0}, "list": [0]},
        {"type": "clue", "giver": 0, "target": 1, "clue": {"type": 0, "value": 0}, "list": []},
        {"type": "clue", "giver": 0, "target": 1, "clue": {"type": 5, "value": 0}, "list": [5]},
        {"type": "clue", "giver": 0, "target": 1, "clue": {"type": 1, "value": 9}, "list": [5]},
        {"type": "clue", "giver": 0, "target": 1, "clue": None, "list": [5]},
        {"type": "status", "clues": 7, "score": 0, "maxScore": 25},
        {"type": "status", "clues": 8, "score": 1, "maxScore": 25},
        {"type": "turn", "num": 1, "currentPlayerIndex": 1},
        {"type": "flip"},
        "turn",
    ],
)
def test_an_action_that_cannot_be_is_refused(action):
    client = started("smart")
    with pytest.raises(StarmineError):
        client.receive(f"gameAction {json.dumps({'tableID': 9, 'action': action})}")
    assert client.seen.length == 0


def test_a_player_that_does_not_exist_is_refused_at_once():
    with pytest.raises(starmine.UnknownNameError):
        HanabLiveClient("smrt")
    with pytest.raises(starmine.UnknownNameError):
        EvaluationAgent("smrt", "agent_0", 2)
