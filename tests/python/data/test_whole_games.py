"""Games that hanab.live ends because nothing more can be played are told from games that stop."""

from pathlib import Path

import pytest
from format_games import games_of

import starmine
from starmine.cli import main
from starmine.data import Dataset, info, read_games, whole_games, write_games
from starmine.games.playable import nothing_playable

FIXTURES = Path(__file__).parents[2] / "data" / "hanab_live"
STUCK, STOPPED = ["nothing_playable", "speedrun"], ["terminated", "unfinished", "idle"]


@pytest.mark.parametrize("name", STUCK + STOPPED)
def test_a_game_in_which_nothing_can_be_played_is_whole(name, tmp_path, capsys):
    games = read_games(FIXTURES / f"{name}.json")
    assert whole_games(games).tolist() == [name in STUCK]
    assert main(["replay", str(FIXTURES / f"{name}.json"), "--html", str(tmp_path / "page.html")]) == 0
    assert ("nothing more could be played" in capsys.readouterr().out) == (name in STUCK)


def test_whole_games_are_chosen_and_counted(tmp_path):
    pytest.importorskip("pyarrow")
    for name in STUCK[:1] + STOPPED[1:]:
        write_games(read_games(FIXTURES / f"{name}.json"), tmp_path / f"{name}.parquet")
    data = Dataset(tmp_path / "nothing_playable.parquet")
    assert len(data.select(whole_games(data[:]))) == 1
    assert len(data.filter(ending=starmine.endings())) == 0
    assert [info(tmp_path / f"{name}.parquet").total.stopped for name in ("nothing_playable", "unfinished")] == [0, 1]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_no_game_scores_after_nothing_can_be_played(players):
    games = games_of(starmine.Variant(players=players), count=60, bot="smart")
    found = 0
    for game, length in enumerate(games.lengths.tolist()):
        states = [games.state(game, turn) for turn in range(length - 8, length)]
        stuck = [sum(state.fireworks) for state in states if nothing_playable(state)]
        assert set(stuck) <= {games.fireworks[game]}
        found += bool(stuck)
    assert found > 10


def test_a_player_without_a_turn_does_not_count():
    """The last card has been drawn by seat 0, who then holds the only card that could be played."""
    variant = starmine.Variant()
    found = 0
    for seed in range(200):
        state = variant.new_game(seed=seed)
        while not state.is_terminal:
            state.apply(state.suggest("smart"))
            if state.is_terminal or state.deck_size > 0:
                continue
            last, other = 1 - state.current_player, state.current_player
            turns = variant.players - (state.length - max(t for t, e in enumerate(state.history, 1) if e.drawn))
            can = [any(card.rank == state.fireworks[card.suit] for card in state.hands[seat]) for seat in (other, last)]
            found += turns == 1 and can == [False, True]
            assert nothing_playable(state) == (not any(can[:turns]))
    assert found
