"""`starmine.hle` against the installed HLE: the same games give the same dictionaries, strings, moves and decks."""

import importlib.util
import random
import sys
from pathlib import Path

import pytest
from hle_scripts import play_and_print, run_agents
from hle_traces import hle_or_skip

from starmine.hle import pyhanabi as our_pyhanabi
from starmine.hle import rl_env as our_rl_env

PRESETS = ["Hanabi-Full", "Hanabi-Full-CardKnowledge", "Hanabi-Full-Minimal", "Hanabi-Small", "Hanabi-Very-Small"]
# The decks of a seed depend on the C++ library that HLE was built with: they are those of the GNU library.
GNU = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="HLE's decks depend on the C++ library")


@pytest.fixture(scope="module", autouse=True)
def their_pyhanabi():
    """HLE's module pyhanabi."""
    return hle_or_skip()


@pytest.fixture(scope="module")
def their_rl_env(their_pyhanabi):
    """HLE's module rl_env."""
    from hanabi_learning_environment import rl_env

    return rl_env


def item_facts(item):
    """All that a history item tells."""
    return (
        str(item),
        item.move().to_dict() if str(item.move()) != "(Deal XX)" else None,
        int(item.move().type()),
        item.player(),
        item.scored(),
        item.information_token(),
        item.color(),
        item.rank(),
        item.card_info_revealed(),
        item.card_info_newly_revealed(),
        item.deal_to_player(),
    )


def knowledge_facts(known, colors, ranks):
    """All that is known of a card."""
    return (
        str(known),
        known.color(),
        known.rank(),
        [bool(known.color_plausible(color)) for color in range(colors)],
        [bool(known.rank_plausible(rank)) for rank in range(ranks)],
    )


def observation_facts(seen, colors, ranks):
    """All that an observation tells, but for its encoding."""
    return {
        "text": str(seen),
        "offset": seen.cur_player_offset(),
        "players": seen.num_players(),
        "hands": str(seen.observed_hands()),
        "knowledge": [[knowledge_facts(known, colors, ranks) for known in hand] for hand in seen.card_knowledge()],
        "discards": str(seen.discard_pile()),
        "fireworks": seen.fireworks(),
        "deck_size": seen.deck_size(),
        "last_moves": [item_facts(item) for item in seen.last_moves()],
        "tokens": (seen.information_tokens(), seen.life_tokens()),
        "legal": [(str(move), move.to_dict(), int(move.type())) for move in seen.legal_moves()],
        "playable": [
            bool(seen.card_playable_on_fireworks(color, rank)) for color in range(-1, 6) for rank in range(-1, 6)
        ],
    }


def state_facts(state, game):
    """All that a state tells, but for its observations."""
    is_chance = state.cur_player() == our_pyhanabi.CHANCE_PLAYER_ID
    moves = [game.get_move(uid) for uid in range(game.max_moves())]
    return {
        "text": str(state),
        "player": state.cur_player(),
        "hands": str(state.player_hands()),
        "discards": str(state.discard_pile()),
        "fireworks": state.fireworks(),
        "deck_size": state.deck_size(),
        "tokens": (state.information_tokens(), state.life_tokens()),
        "ending": (int(state.end_of_game_status()), state.is_terminal(), state.score(), state.num_players()),
        "history": [item_facts(item) for item in state.move_history()],
        "legal": None if is_chance else [str(move) for move in state.legal_moves()],
        "is_legal": None if is_chance else [bool(state.move_is_legal(move)) for move in moves],
    }


def check_dictionaries(ours, theirs, where):
    """Every entry of the observations of all seats is equal, and the keys come in the same order."""
    assert ours["current_player"] == theirs["current_player"], where
    for seat, (our, their) in enumerate(zip(ours["player_observations"], theirs["player_observations"], strict=True)):
        assert list(our) == list(their), where
        for name, entry in their.items():
            if name != "pyhanabi":
                assert our[name] == entry, f"{where}, seat {seat}, {name}"


def random_config(generator):
    """HLE's parameters, drawn from what it accepts."""
    while True:
        config = {
            "players": generator.randint(2, 5),
            "colors": generator.randint(1, 5),
            "ranks": generator.randint(2, 5),
            "max_information_tokens": generator.randint(0, 8),
            "max_life_tokens": generator.randint(1, 4),
            "observation_type": generator.randint(0, 2),
            "hand_size": generator.randint(1, 5),
            "random_start_player": generator.random() < 0.5,
            "seed": generator.randrange(2**31),
        }
        copies = 4 if config["ranks"] == 2 else 2 * config["ranks"]
        if config["players"] * config["hand_size"] <= copies * config["colors"]:
            return config


def sensible(observation, generator):
    """A move of a bot that plays hinted cards and hints: games of all endings."""
    legal = observation["legal_moves"]
    slots = [slot for slot, known in enumerate(observation["card_knowledge"][0]) if known["rank"] is not None]
    if slots and generator.random() < 0.5:
        return {"action_type": "PLAY", "card_index": generator.choice(slots)}
    safe = [move for move in legal if move["action_type"] != "PLAY"]
    return generator.choice(safe or legal)


def play_theirs(env, choose):
    """A game of HLE: its deck, its starting seat, its actions, and all that it returned, the reset first."""
    found = [(env.reset(), None, False, {})]
    actions = []
    while not found[-1][2]:
        observations = found[-1][0]
        actions.append(choose(observations["player_observations"][observations["current_player"]]))
        found.append(env.step(actions[-1]))
    history = env.state.move_history()
    dealt = [item.move() for item in history if item.move().type() == our_pyhanabi.HanabiMoveType.DEAL]
    rest = {}
    for color in range(env.game.num_colors()):
        for rank in range(env.game.num_ranks()):
            rest[color, rank] = env.game.num_cards(color, rank)
    for move in dealt:
        rest[move.color(), move.rank()] -= 1
    undealt = [card for card, count in rest.items() for _ in range(count)]
    cards = [(move.color(), move.rank()) for move in dealt] + undealt
    first = next(item.player() for item in history if item.player() >= 0)
    return [f"{our_pyhanabi.COLOR_CHAR[color]}{rank + 1}" for color, rank in cards], first, actions, found


def check_game(ours, theirs, choose, where):
    """Both environments tell the same on the same deck."""
    deck, first, actions, expected = play_theirs(theirs, choose)
    check_dictionaries(ours.reset(deck=deck, start_player=first), expected[0][0], where)
    for turn, (action, returned) in enumerate(zip(actions, expected[1:], strict=True)):
        found = ours.step(action)
        assert found[1:] == returned[1:], where
        check_dictionaries(found[0], returned[0], f"{where}, turn {turn + 1}")
    assert str(ours.state) == str(theirs.state)
    assert [item_facts(item) for item in ours.state.move_history()] == [
        item_facts(item) for item in theirs.state.move_history()
    ]
    return returned[2]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("preset", PRESETS)
def test_the_dictionaries_of_a_preset_are_equal(preset, players, their_rl_env):
    generator = random.Random(f"{preset} {players}")
    ours, theirs = our_rl_env.make(preset, players), their_rl_env.make(preset, players)
    assert ours.num_moves() == theirs.num_moves()
    assert ours.vectorized_observation_shape() == theirs.vectorized_observation_shape()
    choices = [
        lambda seen: generator.choice(seen["legal_moves_as_int"]),
        lambda seen: generator.choice(seen["legal_moves"]),
        lambda seen: sensible(seen, generator),
    ]
    for number, choose in enumerate(choices):
        check_game(ours, theirs, choose, f"{preset}, {players} players, game {number}")


@pytest.mark.parametrize("index", range(12))
def test_the_dictionaries_of_random_rules_are_equal(index, their_rl_env):
    generator = random.Random(index)
    config = random_config(generator)
    theirs, ours = their_rl_env.HanabiEnv(dict(config)), our_rl_env.HanabiEnv(dict(config))
    check_game(ours, theirs, lambda seen: sensible(seen, generator), str(config))


@GNU
@pytest.mark.parametrize("index", range(16))
def test_states_and_observations_are_equal_at_every_move_and_deal(index, their_pyhanabi):
    """In step, with the deal of each card."""
    generator = random.Random(1000 + index)
    config = {"players": 2 + index % 4, "seed": index} if index < 4 else random_config(generator)
    config["observation_type"] = index % 3
    game, our_game = their_pyhanabi.HanabiGame(config), our_pyhanabi.HanabiGame(config)
    encoders = [their_pyhanabi.ObservationEncoder(game), our_pyhanabi.ObservationEncoder(our_game)]
    state, our_state = game.new_initial_state(), our_game.new_initial_state()
    while not state.is_terminal():
        if state.cur_player() == our_pyhanabi.CHANCE_PLAYER_ID:
            state.deal_random_card()
            our_state.deal_random_card()
        else:
            uid = game.get_move_uid(generator.choice(state.legal_moves()))
            assert our_game.get_move_uid(our_game.get_move(uid)) == uid
            state.apply_move(game.get_move(uid))
            our_state.apply_move(our_game.get_move(uid))
        _check_states(state, our_state, game, our_game, encoders)


def _check_states(state, our_state, game, our_game, encoders):
    assert state_facts(our_state, our_game) == state_facts(state, game)
    colors, ranks = game.num_colors(), game.num_ranks()
    for seat in range(game.num_players()):
        seen, ours = state.observation(seat), our_state.observation(seat)
        assert observation_facts(ours, colors, ranks) == observation_facts(seen, colors, ranks)
        assert encoders[1].encode(ours) == encoders[0].encode(seen)


@GNU
def test_encodings_are_equal_while_the_first_hands_are_dealt(their_pyhanabi):
    for kind in range(3):
        config = {"players": 3, "observation_type": kind, "seed": 5}
        game, our_game = their_pyhanabi.HanabiGame(config), our_pyhanabi.HanabiGame(config)
        encoder, our_encoder = their_pyhanabi.ObservationEncoder(game), our_pyhanabi.ObservationEncoder(our_game)
        state, our_state = game.new_initial_state(), our_game.new_initial_state()
        for _ in range(15):
            state.deal_random_card()
            our_state.deal_random_card()
            for seat in range(3):
                expected = encoder.encode(state.observation(seat))
                assert our_encoder.encode(our_state.observation(seat)) == expected


@pytest.mark.parametrize("config", [{}, {"players": 4, "seed": 9}, random_config(random.Random(5))], ids=str)
def test_games_tell_the_same(config, their_pyhanabi):
    config = {"seed": 3, **config}
    theirs, ours = their_pyhanabi.HanabiGame(config), our_pyhanabi.HanabiGame(config)
    for name in (
        "num_players",
        "num_colors",
        "num_ranks",
        "hand_size",
        "max_information_tokens",
        "max_life_tokens",
        "observation_type",
        "max_moves",
    ):
        assert getattr(ours, name)() == getattr(theirs, name)(), name
    assert sorted(ours.parameter_string().splitlines()) == sorted(theirs.parameter_string().splitlines())
    for color in range(-1, 6):
        assert [ours.num_cards(color, rank) for rank in range(-1, 6)] == [
            theirs.num_cards(color, rank) for rank in range(-1, 6)
        ]
    for uid in range(theirs.max_moves()):
        their_move, our_move = theirs.get_move(uid), ours.get_move(uid)
        assert our_move.to_dict() == their_move.to_dict()
        assert (str(our_move), int(our_move.type())) == (str(their_move), int(their_move.type()))
        for name in ("card_index", "target_offset", "color", "rank"):
            assert getattr(our_move, name)() == getattr(their_move, name)()
        assert ours.get_move_uid(our_move) == uid


def test_enums_and_helpers_are_equal(their_pyhanabi, their_rl_env):
    for name in ("HanabiMoveType", "HanabiEndOfGameType", "AgentObservationType", "ObservationEncoderType"):
        theirs, ours = getattr(their_pyhanabi, name), getattr(our_pyhanabi, name)
        assert {kind.name: kind.value for kind in ours} == {kind.name: kind.value for kind in theirs}
    assert our_pyhanabi.COLOR_CHAR == their_pyhanabi.COLOR_CHAR
    assert our_pyhanabi.CHANCE_PLAYER_ID == their_pyhanabi.CHANCE_PLAYER_ID
    assert our_rl_env.MOVE_TYPES == their_rl_env.MOVE_TYPES
    for index in range(-1, 5):
        assert our_pyhanabi.color_idx_to_char(index) == their_pyhanabi.color_idx_to_char(index)
    public = {name for name in vars(their_pyhanabi) if name.startswith("Hanabi") or name.endswith(("_loaded", "Type"))}
    assert public <= set(vars(our_pyhanabi))
    for name in public:
        owner = getattr(their_pyhanabi, name)
        if isinstance(owner, type) and name.startswith("Hanabi"):
            methods = {method for method in vars(owner) if not method.startswith("_")}
            assert methods <= set(dir(getattr(our_pyhanabi, name))), name


@GNU
@pytest.mark.parametrize("index", range(8))
def test_a_seed_deals_the_decks_of_hle(index, their_rl_env):
    config = {"seed": 77 + index} if index < 2 else random_config(random.Random(index))
    config["random_start_player"] = index % 2 == 1
    theirs, ours = their_rl_env.HanabiEnv(dict(config)), our_rl_env.HanabiEnv(dict(config))
    generator = random.Random(index)
    for _ in range(3):  # later games go on with the random numbers
        their_seen, our_seen = theirs.reset(), ours.reset()
        done = False
        while not done:
            check_dictionaries(our_seen, their_seen, str(config))
            action = sensible(their_seen["player_observations"][their_seen["current_player"]], generator)
            their_seen, _, done, _ = theirs.step(action)
            our_seen, _, our_done, _ = ours.step(action)
            assert our_done == done


@GNU
def test_copies_draw_as_those_of_hle(their_pyhanabi):
    config = {"players": 2, "seed": 11}
    games = [module.HanabiGame(config) for module in (their_pyhanabi, our_pyhanabi)]  # HLE's must outlive its states
    states = [game.new_initial_state() for game in games]
    copies = []
    for state in states:
        for _ in range(10):
            state.deal_random_card()
        copies.append([state.copy() for _ in range(3)])
    generator = random.Random(0)
    for _ in range(40):
        which = generator.randrange(3)
        texts = []
        for module, group in zip((their_pyhanabi, our_pyhanabi), copies, strict=True):
            state = group[which]
            if not state.is_terminal():
                if state.cur_player() < 0:
                    state.deal_random_card()
                else:
                    state.apply_move(module.HanabiMove.get_play_move(0))
            texts.append(str(state))
        assert texts[0] == texts[1]


def installed_agent(name, rl_env):
    """An agent of HLE's package, run from its file with only the import changed."""
    found = importlib.util.find_spec("hanabi_learning_environment.agents")
    path = Path(found.origin).with_name(f"{name}.py")
    if not path.exists():
        pytest.skip(f"HLE is installed without its agent {name}")
    text = path.read_text(encoding="utf-8")
    changed = text.replace("hanabi_learning_environment.rl_env", rl_env.__name__)
    assert changed != text or rl_env.__name__ == "hanabi_learning_environment.rl_env"
    namespace = {"__name__": name}
    exec(compile(changed, str(path), "exec"), namespace)
    return namespace["RandomAgent" if name == "random_agent" else "SimpleAgent"]


@GNU
@pytest.mark.parametrize("name", ["random_agent", "simple_agent"])
@pytest.mark.parametrize("players", [2, 4])
def test_the_agents_of_hle_play_the_same_games(name, players, their_rl_env):
    scores = []
    for rl_env in (their_rl_env, our_rl_env):
        random.seed(3)
        agent = installed_agent(name, rl_env)
        assert issubclass(agent, rl_env.Agent)
        env = rl_env.HanabiEnv({"players": players, "seed": 21})
        scores.append(run_agents(env, [agent({"players": players}) for _ in range(players)], episodes=4))
    assert scores[0] == scores[1]
    assert scores[0]


@GNU
def test_a_script_prints_the_same(their_pyhanabi):
    for seed in range(3):
        texts = []
        for module in (their_pyhanabi, our_pyhanabi):
            lines = []
            choose = random.Random(seed).choice
            play_and_print(module, {"players": 3, "random_start_player": True, "seed": seed}, choose, lines.append)
            texts.append(lines)
        assert texts[0] == texts[1]
        assert len(texts[0]) > 20
