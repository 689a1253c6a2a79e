"""Draws docs/board.svg: a turn of a game of the policy `ippo-2p` with itself, as seat 0 sees it.

python docs/draw_board.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import starmine

PICTURE = Path(__file__).parent / "board.svg"
POLICY, SEED, TURNS = "ippo-2p", 9, 38
WIDTH, HEIGHT = 760, 356
# Fill and text of a card by its suit's letter.
SUITS = {
    "R": ("#c8454f", "#ffffff"),
    "Y": ("#e6b93f", "#3b2f0b"),
    "G": ("#4a9b66", "#ffffff"),
    "W": ("#fbfaf5", "#333333"),
    "B": ("#3a75b0", "#ffffff"),
}
LETTERS = "RYGWB"
BACK, EMPTY, INK = "#8d93a5", "#dfe2ea", "#2d3142"
STYLE = (
    "text{font-family:Helvetica,Arial,sans-serif;fill:#2d3142;font-size:14px}"
    ".head{font-size:12px;letter-spacing:.08em;fill:#5c6378}"
    ".big{font-size:24px;font-weight:bold;text-anchor:middle}"
    ".small{font-size:12px;font-weight:bold;text-anchor:middle}"
)


def text(x: float, y: float, words: str, kind: str = "", fill: str = "") -> str:
    """A line of text; `kind` is its class in the style sheet."""
    colour = f' style="fill:{fill}"' if fill else ""
    return f'<text x="{x:g}" y="{y:g}" class="{kind}"{colour}>{words}</text>'


def box(x: float, y: float, width: float, height: float, fill: str) -> str:
    """A card's outline."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" '
        f'fill="{fill}" stroke="{INK}" stroke-opacity=".35"/>'
    )


def card(x: float, y: float, name: str) -> str:
    """A card that is seen, such as "R1"."""
    fill, ink = SUITS[name[0]]
    return box(x, y, 48, 66, fill) + text(x + 24, y + 42, name, "big", ink)


def back(x: float, y: float, knowledge: starmine.Knowledge) -> str:
    """A card that its owner does not see, with the hints about it."""
    fill = BACK if knowledge.color is None else SUITS[LETTERS[knowledge.color]][0]
    ink = "#ffffff" if knowledge.color is None else SUITS[LETTERS[knowledge.color]][1]
    rank = "?" if knowledge.rank is None else str(knowledge.rank + 1)
    return box(x, y, 48, 66, fill) + text(x + 24, y + 42, rank, "big", ink)


def hinted(knowledge: starmine.Knowledge) -> str:
    """What hints have told a card's owner, such as "R?"."""
    colour = "" if knowledge.color is None else LETTERS[knowledge.color]
    rank = "" if knowledge.rank is None else str(knowledge.rank + 1)
    return colour + rank


def tokens(x: float, y: float, left: int, most: int, fill: str) -> str:
    """A row of tokens, of which those that are spent are empty."""
    dots = []
    for index in range(most):
        colour = fill if index < left else EMPTY
        dots.append(f'<circle cx="{x + 8 + 20 * index}" cy="{y}" r="7" fill="{colour}" stroke="{INK}"/>')
    return "".join(dots)


def discarded(x: float, y: float, cards: list[starmine.Card]) -> str:
    """The discard pile in rows of nine."""
    parts = []
    for index, name in enumerate(map(str, cards)):
        left, top = x + 31 * (index % 9), y + 31 * (index // 9)
        fill, ink = SUITS[name[0]]
        parts.append(box(left, top, 26, 26, fill) + text(left + 13, top + 18, name, "small", ink))
    return "".join(parts)


def board(view: starmine.View) -> str:
    """The table as the view's observer sees it."""
    partner = view.hands[1 - view.observer]
    last = view.history[-1]
    parts = [text(24, 34, f"FIREWORKS, SCORE {view.score} OF {view.variant.max_score}", "head")]
    for suit, height in enumerate(view.fireworks):
        x = 24 + 58 * suit
        parts.append(card(x, 46, f"{LETTERS[suit]}{height}") if height else box(x, 46, 48, 66, EMPTY))
    parts.append(text(24, 142, "SEAT 1: ITS HAND, AND WHAT HINTS TOLD IT", "head"))
    for slot, held in enumerate(partner):
        parts.append(card(24 + 58 * slot, 154, str(held)))
        parts.append(text(48 + 58 * slot, 237, hinted(view.knowledge(1, slot)), "small"))
    parts.append(text(24, 262, "SEAT 0, THE OBSERVER: HINTS ONLY", "head"))
    parts += [back(24 + 58 * slot, 274, view.knowledge(0, slot)) for slot in range(view.variant.hand_size)]
    parts.append(text(400, 34, "INFORMATION TOKENS", "head"))
    parts.append(tokens(400, 56, view.information_tokens, 8, "#3a75b0"))
    parts.append(text(600, 34, "LIFE TOKENS", "head") + tokens(600, 56, view.life_tokens, 3, "#c8454f"))
    parts.append(text(400, 100, f"Deck: {view.deck_size} cards. Turn {len(view.history)}, seat {view.current_player}."))
    parts.append(text(400, 122, f"Last action: seat {last.seat}, {last.move}."))
    parts.append(text(400, 160, "DISCARD PILE", "head") + discarded(400, 172, view.discard_pile))
    return "".join(parts)


def position() -> starmine.State:
    """The game after some turns of the policy."""
    policy = starmine.load_policy(POLICY)
    state = policy.variant.new_game(seed=SEED)
    for _ in range(TURNS):
        logits, _, _ = policy.logits(state.encode(state.current_player)[None])
        state.apply(int(np.where(state.legal_action_mask(), logits[0], -np.inf).argmax()))
    return state


def picture() -> str:
    """The file's text."""
    frame = f'<rect width="{WIDTH}" height="{HEIGHT}" rx="12" fill="#f3f4f8"/>'
    about = 'role="img" aria-label="A game of Hanabi as seat 0 sees it"'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {about}>'
    return f"{start}<style>{STYLE}</style>{frame}{board(position().view(0))}</svg>\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
