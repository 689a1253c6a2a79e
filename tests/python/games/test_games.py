"""Games are those that were played, in memory and on disk alike, and their replay gives what was seen."""

import dataclasses
import random

import numpy as np
import pytest
from random_variants import random_variant

import starmine
from starmine.games import RosterPlayer

VARIANTS = [
    starmine.Variant(),
    starmine.Variant(players=5),
    starmine.variant("avalanche", players=3),
    starmine.variant("timed-display"),
    starmine.Variant(random_start_player=True, players=4),
]


class FirstLegal:
    """A bot in Python."""

    def act(self, view):
        return view.legal_actions()[0]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("python", [False, True])
def test_games_have_the_results_of_single_games(variant, python):
    players = [FirstLegal if python and seat == 1 else "random" for seat in range(variant.players)]
    games = starmine.play_games(players, games=150, seed=4, variant=variant, first_game=7)
    for index in range(0, 150, 7):
        dealt = variant.new_game(seed=4, game=7 + index)
        state = games.state(index)
        assert state.deck == dealt.deck
        assert state.start_player == dealt.start_player
        assert state.score == games.scores[index]
        assert state.ending == starmine.endings()[games.endings[index] - 1]


def test_games_do_not_depend_on_threads_or_on_the_games_before_them():
    one, three = (starmine.play_games(["smart", "iggi"], games=500, num_threads=threads) for threads in (1, 3))
    assert one == three
    assert starmine.play_games(["smart", "iggi"], games=20, first_game=100) == one[100:120]


# --- One type, from play_games to an evaluation ---------------------------------------------------------------


def test_games_are_the_same_in_memory_in_a_file_and_in_an_evaluation(tmp_path):
    pytest.importorskip("pyarrow")
    games = starmine.play_games(["smart", "piers"], games=60)
    starmine.data.write_games(games, tmp_path / "games.parquet")
    data = starmine.data.Dataset(tmp_path / "games.parquet")
    assert data[:] == games
    assert data[7] == games[7]
    assert data[data.scores > 15] == games[games.scores > 15]
    assert (data.mean, data.standard_error, data.summary()) == (games.mean, games.standard_error, games.summary())
    assert data.state(3, turn=12) == games.state(3, turn=12)
    starmine.evaluate(["smart", "piers"], games=60, output=tmp_path / "evaluation", figure=False)
    evaluated = starmine.data.Dataset(tmp_path / "evaluation").filter(seats=["smart", "piers"])[:]
    assert evaluated.roster == games.roster
    assert dataclasses.replace(evaluated, number=games.number) == games
    generated = starmine.data.generate(["smart", "piers"], 60, tmp_path / "shards", shard_size=25, num_threads=1)
    assert starmine.data.Dataset(generated.folder)[:] == starmine.play_games(["smart", "piers"], games=60, seed=1)


def test_columns_have_their_dtypes():
    games = starmine.play_games(["random", "random"], games=5)
    kinds = {"scores": "int32", "fireworks": "int32", "endings": "uint8", "lengths": "int64", "players": "int16"}
    kinds |= dict.fromkeys(("number", "seed", "index", "episode"), "uint64")
    kinds |= dict.fromkeys(("decks", "start_players", "actions"), "uint8") | {"offsets": "int64"}
    assert {name: str(getattr(games, name).dtype) for name in kinds} == kinds
    assert (games.scores - games.scores.max()).min() <= 0  # uint8 would wrap


@pytest.mark.parametrize("parts", [[slice(0, 5), slice(5, 8)], [slice(0, 8)], [slice(0, 0), slice(0, 8)]])
def test_parts_joined_are_the_whole(parts):
    games = starmine.play_games(["smart", "search: smart; rollouts=2"], games=8)
    assert games.search_values is not None
    assert starmine.Games.concatenate([games[part] for part in parts]) == games
    assert starmine.Games.concatenate([games[[index]] for index in range(8)]) == games


def test_players_of_joined_games_are_told_apart_by_name_checksum_and_identity():
    one, other = (starmine.play_games(seats, games=2) for seats in (["iggi", "piers"], ["piers", "smart"]))
    joined = starmine.Games.concatenate([one, other])
    assert [player.name for player in joined.roster] == ["iggi", "piers", "smart"]
    assert joined.players.tolist() == [[0, 1], [0, 1], [1, 2], [1, 2]]
    old = dataclasses.replace(one, roster=tuple(RosterPlayer(player.name, player.checksum) for player in one.roster))
    assert starmine.Games.concatenate([old, one]).roster == one.roster  # as version 0.4 stored them, without identities
    another = dataclasses.replace(one, roster=(RosterPlayer("iggi", None, "rules: discard-oldest"), *one.roster[1:]))
    assert len(starmine.Games.concatenate([one, another]).roster) == 3


def test_outcomes_are_counted_where_they_are_not_given():
    games = starmine.play_games(["smart", "random"], games=30)
    counted = starmine.Games(games.variant, *games.played())
    for name in ("scores", "fireworks", "endings", "lengths", "number"):
        assert np.array_equal(getattr(counted, name), getattr(games, name)), name
    assert [player.name for player in counted.roster] == ["unknown"]
    wide = (column.astype(np.int64) for column in games.played())
    assert starmine.Games(games.variant, *wide) == counted


def test_columns_that_no_games_have_are_refused():
    kept = starmine.play_games(["iggi", "piers"], games=4)
    count = len(kept.actions)
    for offsets in ([0, 9, 5, 20, count], [0, 1, 2, 3, 4], [1, 2, 3, 4, count], [0, 1, 2, 3, count + 1]):
        with pytest.raises(starmine.ArrayError):
            dataclasses.replace(kept, offsets=np.array(offsets))
    for row in (-1, 2):
        with pytest.raises(starmine.ArrayError):
            dataclasses.replace(kept, players=np.full((4, 2), row))
    for name, number in (("decks", 256), ("start_players", 300), ("players", 2**16), ("scores", 2**33), ("number", -1)):
        column = np.array(getattr(kept, name), np.int64)
        column[0] = number
        with pytest.raises(starmine.ArrayError):
            dataclasses.replace(kept, **{name: column})
    with pytest.raises(starmine.ArrayError):
        dataclasses.replace(kept, scores=kept.scores + 0.5)
    assert dataclasses.replace(kept, players=np.array(kept.players, np.int64)) == kept
    assert len(kept[:0]) == 0


def test_means_include_games_that_stopped_and_leave_out_failed_ones():
    games = starmine.play_games(["smart", "smart"], games=3)
    cut = starmine.Games(games.variant, *games[:1].played()[:2], games.actions[:20], np.array([0, 20]))
    assert cut.endings.tolist() == [0]
    joined = starmine.Games.concatenate([games, cut])
    assert joined.mean == np.mean([*games.scores, *cut.scores])
    failed = dataclasses.replace(joined, failures=np.array(["", "", "", "it failed"], np.object_))
    assert (failed.mean, failed.summary()["games"]) == (games.mean, 3)


def test_a_game_that_was_given_up_has_the_score_of_the_turns_that_were_played():
    class Stops:
        """Gives hints, and fails in its sixth turn."""

        def __init__(self):
            self.turns = 0

        def act(self, view):
            self.turns += 1
            if self.turns == 6:
                raise RuntimeError("out of order")
            return view.legal_actions()[-1]

    with pytest.raises(starmine.BotError) as failed:
        starmine.play_games(["smart", Stops], games=4)
    games = failed.value.games
    assert games.lengths.tolist() == [11] * 4
    assert [games.state(game).score for game in range(4)] == games.scores.tolist()
    assert games.failures.tolist() == [str(failure) for failure in failed.value.failures]
    assert np.isnan(games.mean)
    rows = games.replay(["return_to_go", "reward", "game"])
    assert [rows["reward"][rows["game"] == game].sum() for game in range(4)] == games.scores.tolist()
    assert rows["return_to_go"][games.offsets[:-1]].tolist() == games.scores.tolist()


# --- Replay and selection -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_a_replay_gives_what_was_seen(seed, monkeypatch):
    monkeypatch.setattr("starmine.games.replay.AT_ONCE", 16)
    variant = random_variant(random.Random(seed))
    kept = starmine.play_games(["random"] * variant.players, games=40, seed=seed, variant=variant)
    replayed = kept.replay(["obs", "action_mask", "current_player", "score", "reward", "terminated"], dtype="uint8")
    everyone = kept.replay(["obs"], dtype="uint8", observers="all")["obs"]
    assert {len(array) for array in replayed.values()} == {len(kept.actions)}
    for game in range(40):
        first, end = kept.offsets[game : game + 2]
        for turn, place in enumerate(range(first, end)):
            state = kept.state(game, turn)
            seat = state.current_player
            assert (replayed["obs"][place] == state.view(seat).encode("canonical")).all()
            assert (everyone[place, seat] == replayed["obs"][place]).all()
            assert (np.flatnonzero(replayed["action_mask"][place]) == state.legal_actions()).all()
            assert (replayed["current_player"][place], replayed["score"][place]) == (seat, state.score)
            assert replayed["terminated"][place] == (place == end - 1)
        assert replayed["reward"][first:end].sum() == kept.state(game).score


@pytest.mark.parametrize(
    "chosen", [3, -1, slice(5, 2, -1), slice(0, 0), [4, 4, 0], np.array([1, 2]), np.arange(9) % 2 == 0], ids=str
)
def test_games_are_selected_as_by_numpy(chosen):
    kept = starmine.play_games(["random", "random"], games=9)
    some = kept[chosen]
    indices = np.atleast_1d(np.arange(9)[chosen])
    assert len(some) == len(indices)
    for position, index in enumerate(indices.tolist()):
        assert some.state(position).deck == kept.state(index).deck
        assert some.state(position).score == kept.state(index).score
    assert len(some.replay(["obs"])["obs"]) == len(some.actions) == some.lengths.sum()


def test_indices_of_narrow_dtypes_select_games():
    kept = starmine.play_games(["random", "random"], games=300)
    for chosen in (np.array([1, 200], np.uint8), np.array([1, -2], np.int8), np.uint8(255), np.int16([-300, 299])):
        wide = np.asarray(chosen).astype(np.int64)
        assert kept[chosen] == kept[wide]
    for game in (np.int8(127), np.uint8(255)):
        assert kept.state(game).score == kept.scores[game]


def test_a_game_that_was_not_played_to_its_end_is_replayed():
    kept = starmine.play_games(["smart", "smart"], games=3)
    cut = starmine.Games(kept.variant, kept.decks[:1], kept.start_players[:1], kept.actions[:10], np.array([0, 10]))
    assert (cut.replay(["obs"])["obs"] == kept.replay(["obs"])["obs"][:10]).all()
    assert cut.state(0).ending is None


def test_wrong_games_are_refused_by_name():
    kept = starmine.play_games(["random", "random"], games=4)
    deck, actions = kept.decks.copy(), kept.actions.copy()
    for card in (25, 255):
        deck[2, 0] = card
        with pytest.raises(starmine.DeckError):
            starmine.Games(kept.variant, deck, *kept.played()[1:])
        wrong = dataclasses.replace(kept, decks=deck)
        for played in (wrong.replay, lambda wrong=wrong: wrong.state(2)):
            with pytest.raises(starmine.DeckError):
                played()
    actions[kept.offsets[3] + 2] = 99
    with pytest.raises(starmine.IllegalActionError) as refused:
        starmine.Games(kept.variant, kept.decks, kept.start_players, actions, kept.offsets)
    assert (refused.value.rows, refused.value.actions) == ([3], [99])
    wrong = dataclasses.replace(kept, actions=actions)
    with pytest.raises(starmine.IllegalActionError) as refused:
        wrong.replay()
    assert (refused.value.rows, refused.value.actions) == ([3], [99])
    longer = np.concatenate([kept.actions, kept.actions[:1]])
    offsets = kept.offsets + np.array([0, 0, 0, 0, 1])
    with pytest.raises(starmine.IllegalActionError):
        starmine.Games(kept.variant, kept.decks, kept.start_players, longer, offsets)
    with pytest.raises(starmine.UnknownNameError):
        kept.replay(["ops"])
    for place in ((4,), (0, 999)):
        with pytest.raises(starmine.StarmineError):
            kept.state(*place)
