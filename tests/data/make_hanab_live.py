"""Writes games in the forms of hanab.live into `hanab_live`, and what a reader finds in them.

    python tests/data/make_hanab_live.py

The games are bots' and scripted ones. This script writes them without `starmine.data`, so that the reader is compared
with something else. `expected.json` has for each file the games that it holds, in their order.
"""

import json
import re
from pathlib import Path

import starmine

HERE = Path(__file__).parent / "hanab_live"
NAMES = ["Ann", "Ben", "Cleo", "Dov", "Eva"]
RANKS = 5


def bots_game(variant, seed, turns=None, bot="smart"):
    """A deck, and the state after a bot's game or some turns of it."""
    games = starmine.play_games([bot] * variant.players, 1, seed, variant)
    return games.decks[0].tolist(), games.state(0, turns)


def nothing_playable():
    """A deck, and the state in which red stands at one, and all red twos and all other ones have been discarded."""
    variant = starmine.Variant()
    kinds = [suit * RANKS + rank for suit in range(5) for rank in range(5) for _ in range(variant.copies[suit][rank])]
    first = [card for card in kinds if card % RANKS == 0] + [1, 1]
    deck = first + [card for card in kinds if card not in first]
    state = variant.new_game(deck=texts(deck), start_player=0)
    state.apply(state.variant.hand_size)  # plays slot 0
    hints = True
    while len([card for card in state.discard_pile if card.rank == 0 or str(card) == "R2"]) < len(first) - 1:
        hints = state.information_tokens == 8 or (hints and state.information_tokens > 0)
        moves = state.legal_actions()
        state.apply(next(move for move in moves if move >= 10) if hints else moves[0])
    return deck, state


def texts(deck):
    """The cards of a deck as texts."""
    return [f"{'RYGWB'[card // RANKS]}{card % RANKS + 1}" for card in deck]


def export(deck, state, start=0, **told):
    """A game as the site exports it: options that are at their defaults are missing."""
    variant, seats = state.variant, state.variant.players
    hands = [list(range(seat * variant.hand_size, (seat + 1) * variant.hand_size)) for seat in range(seats)]
    dealt, actions = seats * variant.hand_size, []
    for event in state.history:
        if event.kind in ("play", "discard"):
            target = hands[event.seat].pop(event.slot)
            actions.append({"type": 0 if event.kind == "play" else 1, "target": target, "value": 0})
            if dealt < variant.deck_size:
                hands[event.seat].append(dealt)
                dealt += 1
        else:
            kind, value = (2, event.color) if event.color is not None else (3, event.rank + 1)
            actions.append({"type": kind, "target": event.target, "value": value})
    cards = [{"suitIndex": card // RANKS, "rank": card % RANKS + 1} for card in deck]
    return {"id": 1000, "players": NAMES[:seats], "deck": cards, "actions": actions, "seed": f"p{seats}v0s1", **told}


def ended(entry, condition, target, kind=4):
    """A game that an action ends."""
    return entry | {"actions": [*entry["actions"], {"type": kind, "target": target, "value": condition}]}


def expected(state, **told):
    """What a reader finds of a game."""
    return {"turns": state.length, "score": state.score, "ending": state.ending, **told}


def seat_1_starts():
    """A deck, and the state after some turns of a game that seat 1 starts."""
    variant = starmine.Variant(players=3)
    deck, _ = bots_game(variant, 9)
    state = variant.new_game(deck=texts(deck), start_player=1)
    for _ in range(30):
        state.apply(state.suggest("smart"))
    return deck, state


def main():
    """Write all files."""
    HERE.mkdir(exist_ok=True)
    files, found = {}, {}
    two, three = starmine.Variant(), starmine.Variant(players=3)

    def add(name, entries, games, layout=json.dumps):
        files[name], found[name] = layout(entries), games

    whole = bots_game(two, 1)
    notes = [["", "chop"], ["5"]]
    add("export.json", export(*whole, notes=notes), [expected(whole[1], names=["1000"])])
    timed = {"timed": True, "timeBase": 120, "timePerTurn": 20}
    lost = bots_game(three, 2, bot="random")
    add("lost_and_timed.json", export(*lost, options=timed), [expected(lost[1])])
    cut = bots_game(three, 3, turns=40)
    for name, condition, target, kind in (
        ("terminated", 4, 2, 4), ("timeout", 3, 1, 4), ("idle", 6, -1, 4), ("vote", 10, -1, 5),
    ):  # fmt: skip
        entry = ended(export(*cut), condition, target, kind)
        add(f"{name}.json", entry, [expected(cut[1])])
    add("unfinished.json", export(*cut), [expected(cut[1])])
    stuck = nothing_playable()
    add("nothing_playable.json", export(*stuck), [expected(stuck[1])])
    add("speedrun.json", export(*stuck, options={"speedrun": True}), [expected(stuck[1])])

    for name, option in (("empty_hints", "emptyClues"), ("crowning_piece", "allOrNothing")):
        game = bots_game(starmine.Variant(players=4, **{name: True}), 4, bot="piers")
        add(f"{option}.json", export(*game, options={option: True}), [expected(game[1])])
    for option, size in (("oneExtraCard", 6), ("oneLessCard", 4)):
        game = bots_game(starmine.Variant(hand_size=size), 4, bot="piers")
        add(f"{option}.json", export(*game, options={option: True}), [expected(game[1])])
    usual, black = [3, 2, 2, 2, 1], [1] * 5
    for name, copies in (
        ("Black (6 Suits)", [usual] * 5 + [black]), ("Scarce Ones (5 Suits)", [[2, 2, 2, 2, 1]] * 5),
        ("Scarce Ones & Black (6 Suits)", [[2, 2, 2, 2, 1]] * 5 + [black]),
        ("Critical Fours & Black (6 Suits)", [[3, 2, 2, 1, 1]] * 5 + [black]),
    ):  # fmt: skip
        game = bots_game(starmine.Variant(players=5, colors=len(copies), copies=copies), 5, bot="piers")
        file = re.sub("[^a-z0-9]+", "_", name.lower()).strip("_")
        add(f"{file}.json", export(*game, options={"variant": name}), [expected(game[1])])

    six = bots_game(starmine.Variant(colors=6), 6, bot="piers")
    tables = {"variantID": 1, "variantName": "6 Suits", "numPlayers": 2, "startingPlayer": 0}
    add("variant_at_top.json", export(*six) | {"variant": "6 Suits"}, [expected(six[1])])
    add("live_message.json", export(*six) | {"options": tables}, [expected(six[1])])
    turned = seat_1_starts()
    add("starting_player.json", export(*turned, options={"startingPlayer": 1}), [expected(turned[1], start=1)])

    several = [export(*bots_game(two, seed), id=seed) for seed in (11, 12, 13)]
    results = [expected(bots_game(two, seed)[1], names=[str(seed)]) for seed in (11, 12, 13)]
    add("list.json", several, results)
    add("lines.jsonl", several, results, lambda games: "".join(json.dumps(game) + "\n" for game in games))
    add("byte_order_mark.json", several[:1], results[:1], lambda games: "\ufeff" + json.dumps(games[0]))
    lines = [json.dumps(game) for game in several]
    files["cut_off.jsonl"] = "\n".join([lines[0], lines[1][:700], lines[2]]) + "\n"
    found["cut_off.jsonl"] = [results[0], {"skipped": "line 2: it is not JSON"}, results[2]]

    for name, text in files.items():
        (HERE / name).write_text(text, encoding="utf-8")
    (HERE / "expected.json").write_text(
        "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(games)}" for name, games in found.items()) + "\n}\n"
    )


if __name__ == "__main__":
    main()
