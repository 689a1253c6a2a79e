"""examples/obl.py: its fictitious worlds, beliefs and targets."""

import collections
import itertools
import random
from functools import partial

import numpy as np
import pytest
from training_runs import TrainingError, assert_resumes_to_the_same_bits, checkpoint, log_lines, needs_train_extra

import starmine

pytestmark = [pytest.mark.slow, needs_train_extra]

RULES = {
    "two players": {"players": 2},
    "three players": {"players": 3, "random_start_player": True},
    "few cards": {"players": 2, "colors": 2, "ranks": 3, "hand_size": 3},
    "empty hints": {"players": 3, "colors": 3, "empty_hints": True},
}


@pytest.fixture(scope="module")
def obl():
    """The script as a module."""
    import obl

    return obl


@pytest.fixture
def small(obl, tmp_path):
    """Arguments of a few tiny updates, except for those given by name."""
    import torch

    def arguments(**given):
        sizes = {"num_envs": 8, "minibatch": 64, "hidden": (8, 8), "num_threads": 1}
        games = {"eval_every": 4, "eval_games": 4, "final_games": 4, "total_steps": 600}
        return obl.Args(**({"variant": "small", "out": tmp_path / "run"} | sizes | games | given))

    threads = torch.get_num_threads()
    yield arguments
    torch.set_num_threads(threads)


def play_randomly(tables, outputs, rng):
    """Yield the outputs of each turn of random games, which are then played on."""
    while tables.running.any():
        yield outputs
        mask = outputs["action_mask"]
        outputs = tables.step((rng.random(mask.shape) * mask).argmax(1))


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_a_world_shows_the_acting_seat_what_the_game_shows_it(obl, rules):
    import torch

    torch.manual_seed(0)
    variant, rng = starmine.Variant(**rules), np.random.default_rng(0)
    tables, differ = obl.Tables(variant, 24), 0
    deals = obl.draw_deals(variant, 24)
    cards = np.sort(deals[0][0])
    for outputs in play_randomly(tables, tables.deal(*deals), rng):
        decks = tables.redraw()
        tables.imagine(decks)
        seen, rows = tables.worlds.observe(), tables.running
        for name in ("obs", "action_mask", "current_player", "score"):
            np.testing.assert_array_equal(seen[name][rows], outputs[name][rows])
        assert (np.sort(decks, axis=1) == cards).all()
        differ += int((decks != tables.decks).any(1)[rows].sum())
    assert differ > 100


def level_zero(variant, state, action):
    """The probability of a move of level 0, without the factors that are the same in all worlds."""
    move = variant.move(action)
    if move.slot is not None:
        return 1.0
    hand = state.hands[(state.current_player + move.offset) % variant.players]
    touched = [card for card in hand if card.suit == move.color or card.rank == move.rank]
    return len(touched) / len(hand)


def text(variant, card):
    """A card, as `new_game` takes it."""
    return f"{'RYGWB'[card // variant.ranks]}{card % variant.ranks + 1}"


def posterior(variant, real, decks, actions, seat, probability=level_zero):
    """By Bayes' rule, how probable a seat finds each deck after the moves of a game with a real deck."""
    weights, seen = {}, None
    for deck in (real, *decks):
        state, views, weight = variant.new_game(deck=[text(variant, card) for card in deck]), [], 1.0
        for action in actions:
            views.append(state.encode(seat).tobytes())
            if seen is not None and views[-1] != seen[len(views) - 1]:
                break
            weight *= probability(variant, state, action) if state.current_player != seat else 1.0
            if not weight:
                break
            state.apply(action)
        else:
            views.append(state.encode(seat).tobytes())
            seen = seen or views
            if views == seen:
                weights[deck] = weight
    return {deck: weight / sum(weights.values()) for deck, weight in weights.items()}


def test_worlds_are_drawn_from_the_belief_of_level_zero(obl):
    """Against Bayes' rule over all decks, and the real one is drawn no more often than that."""
    import torch

    torch.manual_seed(0)
    variant = starmine.Variant(colors=2, ranks=2, hand_size=2, copies=[[2, 2], [2, 1]])
    every = sorted(set(itertools.permutations([0, 0, 1, 1, 2, 2, 3])))
    rng, many, compared = random.Random(5), 1000, 0
    for real in rng.sample(every, 8):
        tables = obl.Tables(variant, many)
        outputs = tables.deal(np.array([real] * many, np.uint8), np.zeros(many, np.uint8))
        actions = []
        while tables.running.all():
            belief = posterior(variant, real, every, actions, int(outputs["current_player"][0]))
            drawn = collections.Counter(map(tuple, tables.redraw().tolist()))
            assert set(drawn) <= set(belief)
            expected = many * np.array(list(belief.values()))
            found = np.array([drawn[deck] for deck in belief])
            statistic, freedom = ((found - expected) ** 2 / expected).sum(), len(belief) - 1
            # Five standard deviations; the seeds are fixed, so this cannot fail by chance.
            assert statistic <= freedom + 5 * (2 * freedom) ** 0.5
            share = belief[real]
            assert abs(drawn[real] - many * share) <= 5 * (many * share * (1 - share)) ** 0.5
            compared += freedom > 0
            actions.append(rng.choice(np.flatnonzero(outputs["action_mask"][0]).tolist()))
            outputs = tables.step(np.full(many, actions[-1]))
    assert compared > 20


@pytest.fixture
def below(obl, tmp_path):
    """Level 1 of a game with seven cards: random weights, whose best moves depend on the cards that it sees."""
    import torch

    from starmine.torch import ColorNetwork

    torch.manual_seed(3)
    variant = starmine.Variant(colors=2, ranks=2, hand_size=2, copies=[[2, 2], [2, 1]])
    network = ColorNetwork(variant, hidden=(8, 8))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(3)
    network.save(tmp_path / "below.safetensors", method="OBL-1")
    return obl.LevelBelow(str(tmp_path / "below.safetensors"), variant, "canonical", 0.2)


def test_worlds_of_a_higher_level_are_drawn_by_the_moves_of_the_level_below(obl, below):
    """Against Bayes' rule over all decks, with the policy asked in one position at a time."""
    import torch

    torch.manual_seed(0)
    variant, many, candidates = below.network.variant, 400, 64
    every = sorted(set(itertools.permutations([0, 0, 1, 1, 2, 2, 3])))

    def probability(variant, state, action):
        bits = np.packbits(state.encode(state.current_player), bitorder="little")
        obs = np.pad(bits, (0, -len(bits) % 8))[None]
        logits = below.network.evaluate(below.network.read(obs), None)[0][0].detach().numpy()
        legal = state.legal_actions()
        best = max(legal, key=lambda move: logits[move])
        return (action in legal) * (0.2 / len(legal) + 0.8 * (action == best))

    rng, compared, from_level_zero = random.Random(5), [], []
    for real in rng.sample(every, 4):
        tables = obl.Tables(variant, many, below=below, candidates=candidates)
        outputs = tables.deal(np.array([real] * many, np.uint8), np.zeros(many, np.uint8))
        actions = []
        while tables.running.all():
            seat = int(outputs["current_player"][0])
            belief = posterior(variant, real, every, actions, seat, probability)
            decks = tables.redraw(candidates)
            weights = dict(zip(map(tuple, decks.tolist()), tables.weigh(decks), strict=True))
            # All that one deck is likelier than another is the moves of the other seat.
            first = next(iter(weights))
            for deck, weight in weights.items():
                assert weight - weights[first] == pytest.approx(np.log(belief[deck] / belief[first]), abs=1e-6)
            drawn = collections.Counter(map(tuple, tables.believe().tolist()))
            hands, wanted = collections.Counter(), collections.Counter()
            own = tables.places[0][seat]
            for counts, of_decks in ((hands, drawn), (wanted, belief)):
                for deck, share in of_decks.items():
                    counts[tuple(deck[place] for place in own)] += share
            zero = posterior(variant, real, every, actions, seat)
            plain = collections.Counter()
            for deck, share in zero.items():
                plain[tuple(deck[place] for place in own)] += share
            compared.append(sum(abs(hands[hand] / many - wanted[hand]) for hand in wanted) / 2)
            from_level_zero.append(sum(abs(plain[hand] - wanted[hand]) for hand in wanted) / 2)
            actions.append(rng.choice(np.flatnonzero(outputs["action_mask"][0]).tolist()))
            outputs = tables.step(np.full(many, actions[-1]))
    # Distances of total variation: 400 draws of at most six hands are within .06 of what they are drawn from.
    assert len(compared) > 10
    assert max(compared) < 0.1
    assert max(from_level_zero) > 0.3


def test_a_level_below_that_does_not_fit_is_refused(obl, small, tmp_path):
    recurrent = obl.ColorNetwork(starmine.variant("small"), hidden=(8, 8), recurrent=True)
    recurrent.save(tmp_path / "recurrent.safetensors")
    with pytest.raises(starmine.VariantError, match="does not play this variant"):
        obl.OBL(small(below="ippo-2p"))
    with pytest.raises(starmine.StarmineError, match="below_epsilon=0 is not allowed"):
        obl.OBL(small(variant="standard", below="ippo-2p", below_epsilon=0))
    with pytest.raises(starmine.StarmineError, match="expected a policy of Starmine without memory"):
        obl.OBL(small(below=str(tmp_path / "recurrent.safetensors")))


def test_a_level_is_trained_on_the_one_below(obl, small, tmp_path, monkeypatch):
    obl.main(small(out=tmp_path / "first", total_steps=200))
    below = str(tmp_path / "first" / "policy.safetensors")
    arguments = partial(small, below=below, candidates=3)
    assert_resumes_to_the_same_bits(obl.main, arguments, tmp_path, monkeypatch)
    saved = starmine.load_policy(tmp_path / "whole" / "policy.safetensors")
    assert saved.about["method"] == "OBL-2"


def best_move(learner, state):
    """The best action and its value, for the seat to act."""
    import torch

    bits = np.packbits(state.encode(state.current_player), bitorder="little")
    obs = torch.from_numpy(np.pad(bits, (0, -len(bits) % 8)))[None]
    logits, value, _ = learner.network.evaluate(learner.network.read(obs), None)
    legal = logits[0, state.legal_actions()]
    return state.legal_actions()[int(legal.argmax())], float(value[0] + legal.max() - legal.mean())


@pytest.mark.parametrize("players", [2, 3])
def test_targets_are_those_of_a_game_in_the_world(obl, small, players, monkeypatch):
    import torch

    defeats = [starmine.endings()[code - 1] for code in starmine.defeats()]
    learner = obl.OBL(small(players=players, gamma=0.9, lost_game_penalty=0.5))
    tables, args, rng, ended = learner.tables, learner.args, np.random.default_rng(1), 0
    with torch.no_grad():
        for parameter in learner.network.parameters():
            parameter.mul_(3)  # first values are so small that rounding decides between them
        for outputs in play_randomly(tables, tables.deal(*obl.draw_deals(learner.variant, 8)), rng):
            decks, mask = tables.redraw(), outputs["action_mask"]
            monkeypatch.setattr(tables, "believe", lambda decks=decks: decks)
            actions = (rng.random(mask.shape) * mask).argmax(1)
            found = learner.targets(actions)
            monkeypatch.undo()
            for game in np.flatnonzero(tables.running):
                moves = np.array([turn[game] for turn in tables.actions], np.uint8)
                offsets = np.array([0, len(moves)])
                starts = tables.start_players[game : game + 1]
                world = starmine.Trajectories(learner.variant, decks[game : game + 1], starts, moves, offsets)
                state, action, wanted, discount = world.state(0), int(actions[game]), 0.0, 1.0
                for _ in range(players):
                    reward = state.apply(action)
                    lost = state.ending in defeats
                    wanted += discount * (reward - args.lost_game_penalty * lost)
                    discount *= args.gamma
                    if state.is_terminal:
                        break
                    action, value = best_move(learner, state)
                else:
                    wanted += discount * value
                ended += state.is_terminal
                assert found[game].item() == pytest.approx(wanted, abs=1e-4)
    assert ended > 0


def test_values_of_actions_are_dueling(obl):
    import torch

    logits, mask = torch.tensor([[1.0, 2.0, 6.0, 9.0]]), torch.tensor([[True, True, True, False]])
    found = obl.action_values(logits, torch.tensor([5.0]), mask)
    assert found.tolist() == [[3.0, 4.0, 8.0, -np.inf]]


@pytest.mark.parametrize("options", [{}, {"players": 3}], ids=["two players", "three players"])
def test_it_resumes_to_the_same_bits(obl, small, tmp_path, monkeypatch, options):
    whole = assert_resumes_to_the_same_bits(obl.main, partial(small, **options), tmp_path, monkeypatch)
    fresh = obl.OBL(small(**options)).network.state_dict()
    assert all((fresh[name] != weights).any() for name, weights in whole["state"]["network"].items())
    assert "loss" in log_lines(tmp_path / "whole")[-1]


def test_a_policy_file_plays_its_average(obl, small, tmp_path):
    arguments = small(lr=0.02, average=0.9)
    obl.main(arguments)
    saved = starmine.load_policy(tmp_path / "run" / "policy.safetensors")
    assert saved.about["method"] == "OBL-1"
    learner = obl.OBL(arguments)
    learner.load_state_dict(checkpoint(tmp_path / "run")["state"])

    def distance(network):
        """To the policy file, whose weights are rounded."""
        own = network.state_dict()
        return sum(float((weights - own[name]).abs().sum()) for name, weights in saved.network().state_dict().items())

    assert distance(learner.average.network) < 0.2 * distance(learner.network)
    assert len(starmine.play_games([saved, saved], 10, variant="small")) == 10


def test_a_diverged_run_stops_before_its_next_checkpoint(obl, small, tmp_path):
    obl.main(small())
    with pytest.raises(TrainingError, match=r"stopped in update \d+: .* (is|not) (not )?(nan|inf|finite)"):
        obl.main(small(resume=True, total_steps=10_000, lr=float("inf")))
    after = checkpoint(tmp_path / "run")
    assert all(weights.isfinite().all() for weights in after["state"]["network"].values())


def test_a_resumed_run_keeps_its_rules(obl, small):
    obl.main(small(total_steps=100))
    with pytest.raises(TrainingError, match="players=2, not 3"):
        obl.main(small(total_steps=200, players=3, resume=True))
    with pytest.raises(TrainingError, match="expected a budget above 0"):
        obl.main(small(total_steps=0))
