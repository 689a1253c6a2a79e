"""JaxMARL's golden files, and its own rules on our games where it is installed."""

import json
import warnings

import numpy as np
import pytest
from format_games import assert_equal_games, games_of

import starmine
from starmine.data import read_games, write_games


def test_the_files_are_as_jaxmarl_reads_them(tmp_path):
    games = games_of(starmine.Variant(), count=3)
    write_games(games, tmp_path / "golden", format="jaxmarl")
    decks = json.loads((tmp_path / "golden" / "decks.json").read_text())
    actions = json.loads((tmp_path / "golden" / "actions.json").read_text())
    scores = (tmp_path / "golden" / "scores.txt").read_text().splitlines()
    for game in range(3):
        state = games.state(game)
        assert decks[game]["seed_idx"] == game
        assert decks[game]["deck"] == [str(card) for card in state.deck]
        assert actions[game] == [event.action for event in state.history]
        assert scores[game] == f"{game},{state.score}"


def written(directory, **files):
    """A folder of one standard game, with some files replaced."""
    write_games(games_of(starmine.Variant(), count=1), directory, format="jaxmarl")
    for name, text in files.items():
        (directory / name.replace("_", ".")).write_text(text)
    return directory


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"decks_json": "{}"}, "decks.json: it is no list"),
        ({"actions_json": "[[1], [2]]"}, "it has 1 decks, 2 lists of actions, 1 scores"),
        ({"scores_txt": "1,20\n"}, "scores.txt, line 1: '1,20' is not allowed: expected '0,SCORE'"),
        ({"scores_txt": "0,x\n"}, "expected '0,SCORE'"),
        pytest.param({"scores_txt": "0," + "1" * 5000}, "expected '0,SCORE'", id="an endless number"),
        ({"scores_txt": "0,26\n"}, "game 0: its recorded score is 26: expected 0 to 25"),
        ({"scores_txt": "0,25\n"}, "game 0: its recorded score is 25: the rules give it"),
        ({"decks_json": "[[]]"}, "game 0: its entry has no list 'deck'"),
        ({"decks_json": '[{"deck": ["M1"]}]'}, "'M1' is no card: expected one of RYGWB and a rank from 1 to 5"),
        ({"decks_json": '[{"deck": ["R6"]}]'}, "'R6' is no card"),
        ({"decks_json": '[{"deck": [7]}]'}, "7 is no card"),
        ({"decks_json": '[{"deck": ["R1"]}]'}, "its deck has 1 cards: expected 50"),
        ({"actions_json": "[[1.5]]"}, "its actions are no list of integers"),
        ({"actions_json": "[[300]]"}, "turn 0: action 300 does not exist: expected 0 to 19"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(files, message, tmp_path):
    with pytest.raises(starmine.StarmineError, match=message):
        read_games(written(tmp_path / "golden", **files))


def test_variants_beyond_jaxmarl_are_not_written(tmp_path):
    for name in ("avalanche", "timed-display"):
        with pytest.raises(starmine.StarmineError, match="up to five suits and no announced plays"):
            write_games(games_of(starmine.variant(name), count=1), tmp_path / "golden", format="jaxmarl")


@pytest.fixture(scope="module")
def jaxmarl_hanabi():
    """JaxMARL's Hanabi and JAX, which warn of their own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import jax
            from jaxmarl.environments.hanabi.hanabi import HanabiEnv
        except ImportError as error:
            pytest.skip(f"JaxMARL cannot be loaded ({error}); to install it: pip install jaxmarl")
        yield jax, HanabiEnv


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_jaxmarl_deals_and_plays_our_games_alike(players, jaxmarl_hanabi):
    """Hands, seats to act, legal actions, rewards and ends of games that our bots played."""
    jax, environment = jaxmarl_hanabi
    variant = starmine.Variant(players=players)
    games = games_of(variant, count=3, bot="smart")
    env = environment(num_agents=players, hand_size=variant.hand_size)
    step, legal = jax.jit(env.step_env), jax.jit(env.get_legal_moves)
    key = jax.random.PRNGKey(0)
    for game in range(3):
        state = games.state(game, 0)
        pairs = np.stack(np.divmod(games.decks[game].astype(int), 5), axis=1)
        _, theirs = env.reset_from_deck_of_pairs(jax.numpy.array(pairs))
        for event in games.state(game).history:
            hands = np.asarray(theirs.player_hands)
            shown = [[(card.suit, card.rank) for card in hand] for hand in state.hands]
            assert [[tuple(map(int, np.argwhere(card)[0])) for card in hand if card.any()] for hand in hands] == shown
            seat = int(np.argmax(theirs.cur_player_idx))
            assert seat == state.current_player
            moves = np.flatnonzero(np.asarray(legal(theirs)[env.agents[seat]])).tolist()
            assert moves == state.legal_actions()
            actions = dict.fromkeys(env.agents, variant.num_actions)
            _, theirs, rewards, dones, _ = step(key, theirs, actions | {env.agents[seat]: event.action})
            assert int(rewards["__all__"]) == state.apply(event.action)
            assert bool(dones["__all__"]) == state.is_terminal


def test_read_games_are_those_of_the_variant_that_is_asked_for(tmp_path):
    games = games_of(starmine.Variant(players=4), count=2)
    write_games(games, tmp_path / "golden", format="jaxmarl")
    assert_equal_games(read_games(tmp_path / "golden", variant=starmine.Variant(players=4)).trajectories, games)
    with pytest.raises(starmine.StarmineError, match="games do not hold"):
        read_games(tmp_path / "golden")
