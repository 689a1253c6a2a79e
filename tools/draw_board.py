"""Draws a game of the policy `ippo-2p` with itself, as seat 0 sees it.

docs/board.svg is one turn with what the policy thinks, docs/game.svg the whole game, which plays.

python tools/draw_board.py
"""

from __future__ import annotations

import re
from pathlib import Path

from starmine import State
from starmine.look import frame_of
from starmine.look.replay import thoughts
from starmine.look.svg import svg_of
from starmine.policies.load import load_own

DOCS = Path(__file__).parents[1] / "docs"
PICTURE, MOVING = DOCS / "board.svg", DOCS / "game.svg"
EVERY, SECONDS = 7, 1.5  # turns between two pictures of the game, and how long each is shown
POLICY, SEED, TURNS = "ippo-2p", 4, 40


def position() -> State:
    """The game after some turns of the policy."""
    state = load_own(POLICY).variant.new_game(seed=SEED)
    for _ in range(TURNS):
        state.apply(state.suggest(POLICY))
    return state


def picture() -> str:
    """The file's text."""
    state = position()
    thought = thoughts(load_own(POLICY), state)[-1]
    return svg_of(frame_of(state, state.current_player, names=["ippo-2p", "partner"], policy=thought)) + "\n"


def moving_picture() -> str:
    """The text of the file of the whole game: the pictures of some turns, of which one is visible at a time.

    Without animation, the first turn is visible: programs that draw a still picture, such as resvg, run none.
    """
    state = load_own(POLICY).variant.new_game(seed=SEED)
    drawn = []
    while True:
        if state.is_terminal or len(state.history) % EVERY == 0:
            drawn.append(svg_of(frame_of(state, 0, names=["ippo-2p", "partner"])))
        if state.is_terminal:
            break
        state.apply(state.suggest(POLICY))
    drawn += drawn[-1:] * 2
    height = max(float(re.search(r'viewBox="0 0 \S+ (\S+?)"', text)[1]) for text in drawn)  # type: ignore[index]
    whole = SECONDS * len(drawn)
    style = (
        f"@keyframes shown{{0%{{visibility:visible}}{100 / len(drawn):.3f}%,100%{{visibility:hidden}}}}"
        f".turn{{animation:shown {whole:g}s step-end infinite}}"
    )
    turns = "".join(
        f'<g class="turn" visibility="{"hidden" if place else "visible"}" '
        f'style="animation-delay:{SECONDS * place:g}s">{text}</g>\n'
        for place, text in enumerate(drawn)
    )
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {height:g}" width="800" height="{height:g}">'
    return f"{opening}<style>{style}</style>\n{turns}</svg>\n"


if __name__ == "__main__":
    MOVING.write_text(moving_picture(), encoding="utf-8")
    PICTURE.write_text(picture(), encoding="utf-8")
