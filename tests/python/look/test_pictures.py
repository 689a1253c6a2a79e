"""Pictures: well-formed SVG of any game, nothing hidden in a seat's picture, arrays, and the vector environment."""

import json
import random
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from random_games import play
from random_variants import random_variant

import starmine
from starmine.look import frame_of, to_png
from starmine.look.frame import LETTERS
from starmine.look.shapes import COLORS, FOLDER, GLYPHS, SUITS, THEMES, browser_file
from starmine.look.svg import grid_svg, svg_of

SHAPES = {letter: suit["shape"] for letter, suit in SUITS.items()}
HOSTILE = '</text><script>alert("x")</script>&'


def parsed(picture):
    """The picture's elements."""
    return list(ElementTree.fromstring(picture).iter())


def faces(picture):
    """How often each suit's shape is drawn."""
    return {letter: picture.count(f'd="{path}"') for letter, path in SHAPES.items()}


@pytest.mark.parametrize("seed", range(8))
def test_pictures_of_any_game_are_well_formed_and_stand_alone(seed):
    rng = random.Random(seed)
    state = random_variant(rng).new_game(seed=seed)
    play(state, rng, turns=rng.randrange(40))
    for seat in (None, rng.randrange(state.variant.players)):
        picture = state.to_svg(seat, theme=rng.choice(["light", "dark"]))
        assert {element.tag.rpartition("}")[2] for element in parsed(picture)} <= {
            "svg", "title", "defs", "linearGradient", "stop", "rect", "g", "path", "circle", "text"
        }  # fmt: skip
        assert picture.count("http") == 1
        assert "nan" not in picture


def test_a_seat_s_picture_is_that_of_its_view():
    state = starmine.variant("avalanche", players=3).new_game(seed=1)
    play(state, random.Random(0), turns=9)
    assert state.to_svg(seat=1) == state.view(1).to_svg() == svg_of(frame_of(state.view(1)))
    assert state._repr_svg_() == state.to_svg()
    assert state.view(1)._repr_svg_() == state.to_svg(1)
    hidden = sum(faces(state.to_svg()).values()) - sum(faces(state.to_svg(1)).values())
    named = sum(state.view(1).knowledge(0, slot).color is not None for slot in range(len(state.hands[1])))
    assert hidden == len(state.hands[1]) - named


def test_names_stay_text():
    state = starmine.Variant().new_game(seed=1)
    picture = svg_of(frame_of(state, names=[HOSTILE[:12], "b"]))
    assert "<script" not in picture
    assert [element.text for element in parsed(picture) if element.text == HOSTILE[:12]] == [HOSTILE[:12]]


def test_browsers_draw_with_the_shapes_and_colours_of_pictures():
    """The style sheets and scripts of the pages have none of their own, and use none that the table lacks."""
    assert json.loads(browser_file("suits.js").removeprefix("export const SUITS = ").rstrip(";\n")) == SUITS
    made = browser_file("colors.css")
    for name, light in THEMES["light"].items():
        assert f"--{name}: light-dark({light}, {THEMES['dark'][name]});" in made
    for letter, suit in SUITS.items():
        assert f".sm-{letter} {{" in made
        assert letter == "M" or f"--fill: {suit['fill']}; --on: {suit['ink']};" in made
    texts = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.[jc]s*") if path.suffix != ".json"}
    written = " ".join(texts.values())
    assert re.findall(r"#[0-9a-f]{6}\b", written + (FOLDER / "svg.py").read_text(encoding="utf-8")) == []
    set_there = set(re.findall(r"(--[\w-]+):", written + made)) | set(re.findall(r'setProperty\("(--[\w-]+)"', written))
    assert set(re.findall(r"var\((--[\w-]+)", written)) <= set_there


def test_every_suit_has_its_own_letter_shape_and_colour():
    letters = list(LETTERS.values())
    assert set(letters) == set(SHAPES) == set(COLORS) <= set(GLYPHS)
    assert len(set(letters)) == len(letters)
    used = [SHAPES[letter] for letter in letters]
    assert len(set(used)) == len(used)
    assert len({COLORS[letter] for letter in "RYGBPT"}) == 6  # of hanab.live
    assert "url" not in COLORS["T"][0]  # no rainbow


def test_a_picture_becomes_a_png_and_an_array():
    state = starmine.Variant().new_game(seed=1)
    assert to_png(state, scale=0.5).startswith(b"\x89PNG")
    env = starmine.HanabiEnv(render_mode="rgb_array")
    _, info = env.reset(seed=1)
    before = env.render()
    env.step(int(np.flatnonzero(info["action_mask"])[0]))
    after = env.render()
    assert before.dtype == np.uint8
    assert before.shape == after.shape
    assert before.shape[1:] == (800, 3)
    assert (before != after).any()


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
@pytest.mark.parametrize("seeds", [5, [7, 8, 9]])
def test_the_vector_environment_s_games_are_followed(mode, seeds):
    env = starmine.HanabiVectorEnv(
        3, "small", autoreset_mode=mode, illegal_action="terminate", render_mode="rgb_array", dtype="uint8"
    )
    rng = np.random.default_rng(0)
    finals = 0
    for given in (seeds, None):
        obs, info = env.reset(seed=given)
        for turn in range(60):
            followed = env._followed.states
            waits = [state.is_terminal for state in followed]
            for game, state in enumerate(followed):
                if not waits[game] and info["action_mask"][game].any():
                    assert (state.encode(state.current_player) == obs[game]).all()
                    assert state.score == info["score"][game]
            if mode == "Disabled" and not info["action_mask"].any(axis=1).all():
                ended = ~info["action_mask"].any(axis=1)
                obs, info = env.reset(options={"reset_mask": ended})
                continue
            actions = (rng.random(info["action_mask"].shape) * info["action_mask"]).argmax(axis=1)
            if turn == 30:
                actions[1] = 0  # a discard with all tokens, perhaps
            obs, _, terminated, _, info = env.step(actions)
            for game, drawn in enumerate(env._states()):
                if not terminated[game]:
                    assert drawn == env._followed.states[game]
                elif not info["illegal_action"][game]:
                    assert drawn.is_terminal
                    assert drawn.score == info["final_score"][game]
                    assert drawn.length == info["final_length"][game]
                    finals += 1
    assert finals > 0
    pictures = env.render()
    assert len(pictures) == 3
    assert len({picture.shape for picture in pictures}) == 1
    for columns in (-1, 0):
        with pytest.raises(starmine.StarmineError):
            env.to_svg(columns=columns)
    grid = env.to_svg(columns=2)
    assert len([element for element in parsed(grid) if element.tag.endswith("}svg")]) == 4
    assert grid == grid_svg([state.to_svg() for state in env._states()], 2)


def test_given_decks_are_followed():
    env = starmine.HanabiVectorEnv(2, render_mode="rgb_array", dtype="uint8")
    decks = np.stack([np.roll(np.repeat(np.arange(25), [3, 2, 2, 2, 1] * 5), 3 * game) for game in range(2)])
    obs, _ = env.reset(options={"decks": decks.astype(np.uint8)})
    assert all((state.encode(0) == obs[game]).all() for game, state in enumerate(env._states()))


def test_a_game_that_an_illegal_action_ended_is_drawn_before_it_and_then_anew():
    for mode in ("SameStep", "NextStep"):
        env = starmine.HanabiVectorEnv(1, illegal_action="terminate", autoreset_mode=mode, render_mode="rgb_array")
        _, info = env.reset(seed=3)
        before = env._states()[0].copy()
        _, _, terminated, _, info = env.step([int(info["action_mask"][0].argmin())])
        assert terminated.tolist() == [True]
        assert env._states() == [before]
        if mode == "NextStep":
            _, _, _, _, info = env.step([0])
            assert env._states()[0].length == 0
        else:
            env.step([int(info["action_mask"][0].argmax())])
            assert env._states()[0].length == 1
        assert env._states()[0].deck != before.deck


def test_moves_that_a_policy_considers_are_named():
    """Not numbered, as they were: no frame has had names of its own for them."""
    state = starmine.Variant(players=2).new_game(seed=1)
    action, move = state.legal_actions()[3], state.legal_moves()[3]
    picture = svg_of(frame_of(state, policy={"name": "mine", "probabilities": {action: 0.9}, "choice": action}))
    assert f">{move}<" in picture
    assert f"action {action}" not in picture
