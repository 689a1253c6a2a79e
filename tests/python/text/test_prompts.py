"""A prompt says all that its seat may know, and nothing else: each is read back and compared with the view."""

import json
import random
import re
from pathlib import Path

import pytest

import starmine
from starmine.text import PROMPT_VERSION, PromptOptions, rules_prompt, table_prompt
from starmine.text.facts import facts

GOLDEN = Path(__file__).parents[2] / "data" / "prompts.json"
GAMES = [(name, players) for name in starmine.variants() for players in range(2, 6)]


def variants():
    """Every preset with 2 to 5 players, where the deck is large enough, and some combinations of rules."""
    found = []
    for name, players in GAMES:
        try:
            found.append(starmine.variant(name, players=players))
        except starmine.VariantError:
            continue
    found.append(starmine.variant("avalanche", players=4, crowning_piece=True, timed_display=True, empty_hints=True))
    found.append(starmine.variant("standard", players=3, edition="ikebana", random_start_player=True))
    found.append(starmine.Variant(players=3, colors=2, ranks=2, hand_size=2, copies=[[1, 1], [2, 2]]))
    return found


def positions(variant, games=2):
    """The views of all seats in every turn of games by chance."""
    rng = random.Random(7)
    for seed in range(games):
        state = variant.new_game(seed=seed)
        while not state.is_terminal:
            for seat in range(variant.players):
                yield state, state.view(seat)
            state.apply(rng.choice(state.legal_actions()))


def cards_of(text):
    """The cards of a set: R1, R2 and Y5 of "R12 Y5"."""
    return [group[0] + rank for group in text.split() for rank in group[1:]]


def read_back(text, variant):
    """The facts of a prompt in the form "text"."""
    lines = text.splitlines()
    found = {}
    turn, seat, acts = re.fullmatch(r"Turn (\d+)\. You are seat (\d)\. (.*)", lines[0]).groups()
    found |= {"turn": int(turn), "you": int(seat)}
    found["seat_to_act"] = int(seat) if acts == "It is your turn." else int(re.search(r"Seat (\d)", acts)[1])
    numbers = re.fullmatch(
        r"Score (\d+) of (\d+)\. Information tokens: (\d+) of \d+\. Life tokens: (\d+) of \d+\. Deck: (\d+) cards?\.",
        lines[1],
    ).groups()
    found |= dict(
        zip(("score", "max_score", "information_tokens", "life_tokens", "deck"), map(int, numbers), strict=True)
    )
    rest = lines[2:]
    found["turns_left"] = None
    if rest[0].startswith("The deck is empty"):
        found["turns_left"] = int(re.search(r"(\d+)\.$", rest.pop(0))[1])
    fireworks = rest.pop(0).removeprefix("Fireworks: ").removesuffix(".").split(", ")
    found["fireworks"] = {part.split()[0]: int(part.split()[1]) for part in fireworks}
    discards = rest.pop(0).removeprefix("Discards: ").removesuffix(".")
    found["discards"] = [
        card
        for part in discards.split(", ")
        if part != "none"
        for card in [part[:2]] * int((part + " x1").split(" x")[1])
    ]
    found["hands"], section = [], None
    every = [f"{letter}{rank}" for letter in variant.letters for rank in range(1, variant.ranks + 1)]
    for line in rest:
        if match := re.fullmatch(r"(Your hand|Hand of seat (\d)):( no cards)?", line):
            section = {"seat": found["you"] if match[2] is None else int(match[2]), "cards": []}
            found["hands"].append(section)
        elif line.startswith(("Turns ", "Your legal moves:")):
            section = found.setdefault("history" if line.startswith("Turns") else "legal_moves", [])
        elif isinstance(section, dict):
            section["cards"].append(read_card(line.removeprefix("- "), every))
        else:
            section.append(line.removeprefix("- "))
    return found


def read_card(line, every):
    slot, *parts = re.split(r": |; ", line)
    card = {"slot": int(slot.removeprefix("slot "))}
    if not parts[0].startswith("told"):
        card["card"] = parts.pop(0)
    told = parts.pop(0).removeprefix("told ")
    card["told"] = [
        {"hint": hint, "turn": int(turn)} for hint, turn in re.findall(r"([a-z]+(?: \d)?) \(turn (\d+)\)", told)
    ]
    for part in parts:
        if part.startswith("can be"):
            card["can_be"] = every if part == "can be any card" else cards_of(part.removeprefix("can be "))
        else:
            shares = (share.split() for share in part.removeprefix("probably ").split(", "))
            card["probabilities"] = {name: float(share) for name, share in shares}
    return card


@pytest.mark.parametrize("variant", variants(), ids=str)
def test_every_fact_of_a_prompt_is_true(variant):
    names = variant.suits
    for state, view in positions(variant):
        found = read_back(table_prompt(view, PromptOptions(history="whole", probabilities=True)), variant)
        assert (found["turn"], found["you"], found["seat_to_act"]) == (
            len(state.history),
            view.observer,
            state.current_player,
        )
        assert (found["score"], found["max_score"], found["deck"]) == (state.score, variant.max_score, state.deck_size)
        assert (found["information_tokens"], found["life_tokens"]) == (state.information_tokens, state.life_tokens)
        assert list(found["fireworks"].items()) == list(zip(names, state.fireworks, strict=True))
        assert sorted(found["discards"]) == sorted(map(str, state.discard_pile))
        for seat, hand in enumerate(found["hands"]):
            offset = (seat - view.observer) % variant.players
            assert hand["seat"] == seat
            assert len(hand["cards"]) == len(state.hands[seat])
            for slot, card in enumerate(hand["cards"]):
                known = view.knowledge(offset, slot)
                if offset == 0:
                    assert "card" not in card
                    assert card["can_be"] == list(map(str, view.possible[slot]))
                    shares = view.marginals()[slot]
                    kinds = [f"{letter}{rank + 1}" for letter in variant.letters for rank in range(variant.ranks)]
                    expected = {kind: share for kind, share in zip(kinds, shares, strict=True) if share > 0}
                    assert card["probabilities"] == pytest.approx(expected, abs=0.0006)
                else:
                    assert card["card"] == str(state.hands[seat][slot])
                    assert card["can_be"] == list(map(str, known.plausible))
                hints = {fact["hint"] for fact in card["told"]}
                named = {names[known.color]} if known.color is not None else set()
                named |= {f"rank {known.rank + 1}"} if known.rank is not None else set()
                assert hints == named
        assert len(found["history"]) == len(state.history)
        for text, event in zip(found["history"], state.history, strict=True):
            assert_event(text, event, view.observer, names)
        if view.observer == state.current_player:
            assert [read(move, view) for move in found["legal_moves"]] == state.legal_actions()
        else:
            assert found["legal_moves"] == []


def read(move, view):
    """The action of a move in the words of a prompt, without the reader of replies."""
    match = re.fullmatch(r"hint seat (\d) (.*)", move)
    return view.variant.action(
        f"hint +{(int(match[1]) - view.observer) % view.variant.players} {match[2]}" if match else move
    )


def assert_event(text, event, observer, names):
    """A line of the history says what happened."""
    turn, rest = text.removeprefix("turn ").split(": ", 1)
    assert int(turn) >= 0
    actor = "you" if event.seat == observer else f"seat {event.seat}"
    s = "" if event.seat == observer else "s"
    if event.target is not None:
        target = "you" if event.target == observer else f"seat {event.target}"
        value = f"rank {event.rank + 1}" if event.rank is not None else names[event.color]
        places = ", ".join(map(str, event.touched))
        where = f"slot{'s' * (len(event.touched) > 1)} {places}" if places else "no card"
        assert rest == f"{actor} hint{s} {target} {value} ({where})"
        return
    announced = "" if event.announced is None else f", announcing {names[event.announced]}"
    result = "" if event.kind == "discard" else f": {'misplay' if event.misplay else 'added'}"
    assert rest == f"{actor} {event.kind}{s} slot {event.slot}, {event.card}{announced}{result}"


@pytest.mark.parametrize("variant", variants(), ids=str)
def test_a_prompt_in_json_is_the_facts(variant):
    for _, view in positions(variant, games=1):
        options = PromptOptions(form="json", history="whole", probabilities=True)
        assert json.loads(table_prompt(view, options)) == facts(view, "whole", True, True, True)


@pytest.mark.parametrize("variant", variants(), ids=str)
def test_hints_are_told_with_their_turns_while_cards_move(variant):
    for state, view in positions(variant, games=1):
        shown = facts(view, "none", False, False, False)
        for hand in shown["hands"]:
            # A card is known by the turn in which it was drawn, counted from the deck.
            for card in hand["cards"]:
                for fact in card["told"]:
                    event = state.history[fact["turn"]]
                    assert event.target == hand["seat"]
                    later = [
                        e for e in state.history[fact["turn"] + 1 :] if e.seat == hand["seat"] and e.slot is not None
                    ]
                    slot = card["slot"]
                    for gone in reversed(later):
                        slot += slot >= gone.slot
                    assert slot in event.touched


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_turns_left_count_the_last_round(players):
    variant = starmine.variant("very-small", players=players) if players < 5 else starmine.variant("small", players=5)
    for seed in range(20):
        rng, state, left = random.Random(seed), variant.new_game(seed=seed), []
        while not state.is_terminal:
            shown = facts(state.view(0), "none", False, False, False)
            left.append(shown["turns_left"])
            state.apply(rng.choice(state.legal_actions()))
        counted = [number for number in left if number is not None]
        assert counted == list(range(players, players - len(counted), -1))
        if state.ending == "deck_exhausted":
            assert counted[-1] == 1


def test_history_since_the_own_turn_and_ablations():
    variant = starmine.variant("standard", players=3)
    state = variant.new_game(seed=1)
    for _ in range(7):
        state.apply(state.legal_actions()[-1] if state.information_tokens else state.legal_actions()[0])
    view = state.view(state.current_player)
    shown = facts(view, "round", True, True, False)
    assert [event["turn"] for event in shown["history"]] == [4, 5, 6]
    bare = table_prompt(view, PromptOptions(history="none", possible=False, legal_moves=False))
    for word in ("can be", "legal", "Turns", "probably"):
        assert word not in bare
    assert json.loads(table_prompt(view, PromptOptions(form="json"))) == facts(view, "round", True, True, False)
    for word in ("form", "history", "answer"):
        with pytest.raises(starmine.UnknownNameError):
            PromptOptions(**{word: "jsn"})


def test_the_own_cards_and_the_deck_are_not_in_a_prompt():
    """Two games that differ in what the seat does not see have the same prompt."""
    variant = starmine.variant("standard", players=2)
    deck = [str(card) for card in variant.new_game(seed=5).deck]
    other = [*deck[10:15], *deck[5:10], *deck[:5], *reversed(deck[15:])]
    views = [variant.new_game(deck=cards).view(0) for cards in (deck, other)]
    for form in ("text", "json"):
        options = PromptOptions(form=form, probabilities=True)
        assert table_prompt(views[0], options) == table_prompt(views[1], options)


RULES = [
    ({"name": "standard"}, "3 of rank 1, 2 of rank 2, 2 of rank 3, 2 of rank 4, 1 of rank 5"),
    ({"name": "standard"}, "the maximum is 25"),
    ({"name": "standard"}, "third life token is lost; a lost game scores 0"),
    ({"name": "standard", "lost_game_score": "fireworks"}, "a lost game scores the cards on the fireworks"),
    ({"name": "standard"}, "each seat has one more turn"),
    ({"name": "standard"}, "A hint must touch at least one card"),
    ({"name": "standard", "random_start_player": True}, "A seat that was drawn begins"),
    ({"name": "hard"}, "the only life token"),
    ({"name": "empty-hints"}, "A hint may touch no card"),
    ({"name": "avalanche"}, "multicolour (M)"),
    ({"name": "avalanche"}, "does not touch a multicoloured card"),
    ({"name": "crowning-piece"}, "There is no last round"),
    ({"name": "timed-display"}, "play slot 0 announcing red"),
    ({"name": "traditional"}, "spades (S), hearts (H), diamonds (D), clubs (C)"),
    ({"name": "traditional"}, "each suit has 2 of rank 1"),
    ({"name": "mini"}, "ranks 1 to 3"),
]


@pytest.mark.parametrize(("given", "text"), RULES)
def test_rules_of_a_variant_are_stated(given, text):
    overrides = {key: value for key, value in given.items() if key != "name"}
    assert text in rules_prompt(starmine.variant(given["name"], **overrides))


def test_rules_that_a_variant_does_not_have_are_not_stated():
    standard = rules_prompt(starmine.variant("standard"))
    for text in ("announcing", "multicolour", "no last round", "may touch no card", "drawn begins"):
        assert text not in standard
    assert "each seat has one more turn" not in rules_prompt(starmine.variant("crowning-piece"))


def golden():
    """Prompts of fixed positions, by version."""
    found = {}
    for name, players in GAMES:
        try:
            variant = starmine.variant(name, players=players)
        except starmine.VariantError:
            continue
        state, rng = variant.new_game(seed=11), random.Random(11)
        for _ in range(9):
            if not state.is_terminal:
                state.apply(rng.choice(state.legal_actions()))
        view = state.view(state.current_player)
        found[f"{name} {players}"] = {"rules": rules_prompt(variant), "table": table_prompt(view)}
    return found


def test_prompts_are_stable():
    """Change PROMPT_VERSION with any change of the text, then write the file anew with this module as a script."""
    stored = json.loads(GOLDEN.read_text())
    assert stored["version"] == PROMPT_VERSION
    assert stored["prompts"] == golden()


BUDGETS = {2: 900, 3: 950, 4: 1000, 5: 1100}  # tokens of rules and table, at four characters each


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_prompts_keep_to_the_budget_of_the_docs(players):
    variant = starmine.variant("standard", players=players)
    acting = (view for state, view in positions(variant, games=4) if view.observer == state.current_player)
    assert max(len(rules_prompt(variant)) + len(table_prompt(view)) for view in acting) / 4 < BUDGETS[players]


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({"version": PROMPT_VERSION, "prompts": golden()}, indent=1) + "\n")
