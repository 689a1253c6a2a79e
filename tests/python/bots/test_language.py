"""Hanabi in words: descriptions, moves as text and back, and players that are functions of text to text."""

import json

import pytest

import starmine
from starmine import LanguagePlayer, describe, legal_moves_text, read_move

DECK = ["R1", "R1", "Y2", "G5", "B4", "R2", "Y1", "W3", "B1", "R5"]


def open_game(**parameters):
    """A game whose first cards are known."""
    variant = starmine.Variant(**parameters)
    rest = [str(card) for card in variant.new_game(seed=0).deck]
    for card in DECK:
        rest.remove(card)
    return variant.new_game(deck=DECK + rest)


@pytest.fixture
def view():
    """Seat 0's view after both seats have hinted."""
    state = open_game()
    state.apply("hint +1 red")
    state.apply("hint +1 1")
    return state.view(0)


def test_a_description_is_stable(view):
    assert describe(view).splitlines() == [
        "You are seat 0 of 2 seats. Turn 2. You are to act.",
        "Score 0 of 25. Information tokens: 6 of 8. Life tokens: 3 of 3. Cards left in the deck: 40.",
        "Fireworks: R0 Y0 G0 W0 B0",
        "Discards: none",
        "Your hand, the oldest card first:",
        "  slot 0: hinted 1, can be RYGWB 1",
        "  slot 1: hinted 1, can be RYGWB 1",
        "  slot 2: hinted nothing, can be RYGWB 2345",
        "  slot 3: hinted nothing, can be RYGWB 2345",
        "  slot 4: hinted nothing, can be RYGWB 2345",
        "Hand of +1 (seat 1), the oldest card first:",
        "  slot 0: R2, hinted R, can be R 12345",
        "  slot 1: Y1, hinted nothing, can be YGWB 12345",
        "  slot 2: W3, hinted nothing, can be YGWB 12345",
        "  slot 3: B1, hinted nothing, can be YGWB 12345",
        "  slot 4: R5, hinted R, can be R 12345",
        "Moves of the last round:",
        "  seat 0: hint +1 red (slots 0 4)",
        "  seat 1: hint +1 1 (slots 0 1)",
    ]


def test_a_description_tells_no_more_than_the_view():
    state = open_game()
    rest = [str(card) for card in state.deck[10:]]
    other = state.variant.new_game(deck=["B1", "W1", "B2", "B3", "W4", *DECK[5:], *without(rest + DECK[:5])])
    assert [str(card) for card in other.hands[0]] != [str(card) for card in state.hands[0]]
    assert describe(state.view(0)) == describe(other.view(0))


def without(cards):
    """The cards but for the five of the other deck."""
    for card in ("B1", "W1", "B2", "B3", "W4"):
        cards.remove(card)
    return cards


@pytest.mark.parametrize("name", starmine.variants())
def test_every_legal_move_is_read_back(name):
    state = starmine.variant(name, players=3).new_game(seed=5)
    while not state.is_terminal:
        view = state.view(state.current_player)
        texts = legal_moves_text(view)
        assert [read_move(text, view) for text in texts] == state.legal_actions()
        assert [read_move(f"My move: **{text.upper()}**.", view) for text in texts] == state.legal_actions()
        assert legal_moves_text(state.view((state.current_player + 1) % 3)) == []
        assert describe(view)
        state.apply(state.legal_actions()[state.length * 7 % len(texts)])


@pytest.mark.parametrize(
    ("reply", "move"),
    [
        ("play slot 0", "play slot 0"),
        ("I'll Play card 2!", "play slot 2"),
        ("PLAY 1", "play slot 1"),
        ("play slot 0 because the ones are playable", "play slot 0"),
        ("Discard slot 3? No: hint +1: Yellow", "hint +1 yellow"),
        ("`hint +1 rank 1`", "hint +1 rank 1"),
        ("hint player +1 colour white", "hint +1 white"),
        ("hint 1 color red", "hint +1 red"),
        ("play slot 0\n\nhint +1 5", "hint +1 rank 5"),
        ("play slot 0, which says nothing about slot 9; they might play slot 9", "play slot 0"),
    ],
)
def test_replies_are_read(reply, move, view):
    assert view.variant.action_meaning(read_move(reply, view)) == move


@pytest.mark.parametrize(
    ("reply", "error", "message"),
    [
        ("", starmine.NotationError, "names no move: expected one of \\['discard slot 0'"),
        ("I pass", starmine.NotationError, "'I pass' names no move"),
        ("play slot 9", starmine.NotationError, "names no move"),
        ("hint +2 red", starmine.NotationError, "names no move"),
        ("hint +1 green", starmine.StarmineError, "'hint \\+1 green' is not legal now: expected one of"),
    ],
)
def test_replies_without_a_legal_move_are_refused(reply, error, message, view):
    with pytest.raises(error, match=message):
        read_move(reply, view)


def test_an_announced_play_is_read():
    state = starmine.variant("timed-display").new_game(seed=1)
    view = state.view(0)
    announced = next(text for text in legal_moves_text(view) if "announcing" in text)
    assert view.variant.action_meaning(read_move(f"I {announced}, of course", view)) == announced


def test_a_player_is_asked_again_and_keeps_a_transcript(view, tmp_path):
    replies = iter(["no idea", "hint +1 green", "play slot 0"])
    prompts = []

    def ask(prompt):
        prompts.append(prompt)
        return next(replies)

    player = LanguagePlayer(ask, instructions="Be brief.")
    assert player.act(view) == view.variant.action("play 0")
    assert prompts[0].startswith("Be brief.\n\nYou are seat 0")
    assert all(f"  {move}\n" in prompts[0] for move in legal_moves_text(view))
    assert "not usable: 'no idea' names no move" in prompts[1]
    assert "'hint +1 green' is not legal now" in prompts[2]
    assert [(e.seat, e.turn, e.attempt, e.move) for e in player.transcript] == [
        (0, 2, 0, None),
        (0, 2, 1, None),
        (0, 2, 2, "play slot 0"),
    ]
    assert [exchange.prompt for exchange in player.transcript] == prompts
    player.save(tmp_path / "talk.jsonl")
    stored = [json.loads(line) for line in (tmp_path / "talk.jsonl").read_text().splitlines()]
    assert [entry["reply"] for entry in stored] == ["no idea", "hint +1 green", "play slot 0"]


def test_a_player_without_a_useful_reply(view):
    player = LanguagePlayer(lambda prompt: "hm", retries=1)
    with pytest.raises(starmine.StarmineError, match="2 replies named no legal move; the last problem: 'hm' names"):
        player.act(view)
    assert len(player.transcript) == 2
    careful = LanguagePlayer(lambda prompt: "hm", retries=0, fallback=lambda seen: seen.legal_actions()[0])
    assert careful.act(view) == view.legal_actions()[0]
    with pytest.raises(starmine.BotError, match="replies named no legal move"):
        starmine.play_games([player, "random"], games=1)


def test_wrong_arguments_are_named(view):
    with pytest.raises(starmine.StarmineError, match="ask='model' is not allowed"):
        LanguagePlayer("model")
    with pytest.raises(starmine.StarmineError, match="retries=-1 is not allowed"):
        LanguagePlayer(print, retries=-1)
    with pytest.raises(starmine.StarmineError, match="ask returned None: expected text"):
        LanguagePlayer(lambda prompt: None).act(view)


def test_players_of_words_play_whole_games():
    def ask(prompt):
        moves = prompt.split("Your legal moves:\n")[1].splitlines()
        return "Let me see: " + next(move for move in reversed(moves) if move.startswith("  "))

    player = LanguagePlayer(ask)
    games = starmine.play_games([player, "smart"], games=3, seed=2)
    assert not games.failures
    turns = int(games.lengths.sum())
    assert abs(len(player.transcript) - turns / 2) <= 3
    assert all(exchange.move is not None for exchange in player.transcript)
