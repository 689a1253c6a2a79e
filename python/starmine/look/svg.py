"""Pictures of positions as SVG text, which a notebook, a browser and most programs show."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from html import escape
from typing import Any

from starmine._core import State, View
from starmine._util.keywords import check_names
from starmine.look.frame import Frame, frame_of
from starmine.look.shapes import COLORS, GRADIENT, THEMES, glyphs, shape

FONT = "system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,DejaVu Sans,sans-serif"
WIDTH, MARGIN, GAP = 800, 14, 10
LEFT, RIGHT = 440, 322  # widths of the hands and of the table
CARD_WIDTH, CARD_HEIGHT, NAME_WIDTH = 48, 60, 98
HEIGHT = re.compile(r'height="(\d+)"')  # of a picture
OPACITY = ' fill-opacity="0.25"'


def svg_of(frame: Frame, theme: str = "light") -> str:
    """A frame as an SVG picture, 800 wide and as high as the hands need.

    Args:
        frame: as `frame_of` makes it.
        theme: "light" or "dark".

    Raises:
        UnknownNameError: there is no such theme.
    """
    check_names("theme", [theme], THEMES)
    return _Picture(frame, THEMES[theme]).text()


def to_svg(position: State | View, seat: int | None = None, theme: str = "light") -> str:
    """A picture of the position as SVG.

    Args:
        position: a state, or a seat's view.
        seat: the seat that looks: its own cards are hidden, with what it may believe of them. None for the open table,
            or for the seat of a view.
        theme: "light" or "dark".

    Raises:
        StarmineError: there is no such seat, or it is not the view's.
        UnknownNameError: there is no such theme.

    >>> import starmine
    >>> picture = starmine.Variant().new_game(seed=7).to_svg(seat=0)
    """
    return svg_of(frame_of(position, seat, legal=False), theme)


def grid_svg(pictures: list[str], columns: int | None = None) -> str:
    """Pictures of `to_svg` side by side, row by row.

    Args:
        pictures: of one variant, at least one.
        columns: pictures in a row, at least 1; None for about as many as there are rows.
    """
    across = columns or math.ceil(math.sqrt(len(pictures)))
    height = max(int(HEIGHT.findall(picture)[0]) for picture in pictures)
    down = -(-len(pictures) // across)
    size = f'width="{across * (WIDTH + GAP) - GAP}" height="{down * (height + GAP) - GAP}"'
    parts = []
    for index, picture in enumerate(pictures):
        x, y = index % across * (WIDTH + GAP), index // across * (height + GAP)
        parts.append(picture.replace("<svg ", f'<svg x="{x}" y="{y}" ', 1))
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>'


class _Picture:
    """The parts of a picture, from the top to the bottom."""

    def __init__(self, frame: Frame, colors: dict[str, str]) -> None:
        self.frame, self.colors = frame, colors
        self.ranks: int = frame["variant"]["ranks"]
        self.parts: list[str] = []
        self.places: dict[tuple[int, int], tuple[float, float]] = {}  # seat and slot: middle of the card's top
        self.tops: dict[int, float] = {}  # seat: top of its panel
        self.ends: dict[int, tuple[float, float, float]] = {}  # seat: where its cards begin and end, and their middle
        self.stacks: dict[int, tuple[float, float]] = {}  # suit: middle of the stack's bottom
        self.rows: dict[int, float] = {}  # suit: middle of its row of kinds

    def text(self) -> str:
        self._status()
        bottom = max(self._hands(48), self._table(48))
        bottom = self._last(bottom + 8)
        self._arrows()
        stops = "".join(f'<stop offset="{offset}" stop-color="{color}"/>' for offset, color in GRADIENT)
        defined = f'<defs><linearGradient id="starmine-M" x1="0" y1="0" x2="1" y2="1">{stops}</linearGradient></defs>'
        height = round(bottom + MARGIN)
        title = f"Hanabi after {self.frame['turn']} turns, score {self.frame['score']}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'role="img" font-family="{FONT}"><title>{title}</title>{defined}'
            f'<rect width="{WIDTH}" height="{height}" rx="14" fill="{self.colors["ground"]}"/>'
            f"{''.join(self.parts)}</svg>"
        )

    def _write(self, x: float, y: float, words: str, size: float = 13, color: str = "ink", more: str = "") -> None:
        """A line of text, whose letters a program takes from its fonts."""
        style = f'font-size="{size:g}" fill="{self.colors[color]}"{more}'
        self.parts.append(f'<text x="{x:.4g}" y="{y:.4g}" {style}>{escape(words)}</text>')

    def _box(
        self, box: tuple[float, float, float, float], fill: str, line: str, more: str = "", radius: int = 7
    ) -> None:
        """A rectangle: x, y, width, height."""
        x, y, width, height = box
        self.parts.append(
            f'<rect x="{x:.4g}" y="{y:.4g}" width="{width:.4g}" height="{height:.4g}" rx="{radius}" fill="{fill}" '
            f'stroke="{line}"{more}/>'
        )

    def _status(self) -> None:
        """Score, tokens, deck and turn."""
        frame, variant = self.frame, self.frame["variant"]
        x = self._number(MARGIN + 4, "Score", f"{frame['score']}/{variant['max_score']}")
        hints, most_hints = frame["information_tokens"], variant["max_information_tokens"]
        lives, most_lives = frame["life_tokens"], variant["max_life_tokens"]
        x = self._tokens(x, "Hints", hints, most_hints, self.colors["information"], round_=True)
        x = self._tokens(x, "Lives", lives, most_lives, self.colors["warn"], round_=False)
        x = self._number(x, "Deck", str(frame["deck_size"]))
        self._number(x, "Turn", str(frame["turn"]))

    def _number(self, x: float, label: str, value: str) -> float:
        """A label and a number; returns where the next one begins."""
        self._write(x, 31, label, color="soft")
        self.parts.append(glyphs(x + 44, 20.5, value, 12, self.colors["ink"], 2.2))
        return x + 44 + 11 * len(value) + 18

    def _tokens(self, x: float, label: str, left: int, most: int, color: str, *, round_: bool) -> float:
        """A label and a row of tokens, of which those that are spent are empty."""
        self._write(x, 31, label, color="soft")
        for index in range(most):
            fill, middle = color if index < left else "none", x + 46 + 13 * index
            turned = "" if round_ else f' transform="rotate(45 {middle:.4g} 26.5)"'
            self._box((middle - 4.5, 22, 9, 9), fill, color, f' stroke-width="1.5"{turned}', 5 if round_ else 1)
        return x + 46 + 13 * most + 14

    def _hands(self, y: float) -> float:
        """All hands, the observer's last; returns where they end."""
        seats, observer = len(self.frame["hands"]), self.frame["observer"]
        first = 0 if observer is None else observer + 1
        for index in range(seats):
            y = self._hand((first + index) % seats, y) + 8
        return y - 8

    def _hand(self, seat: int, y: float) -> float:
        """A seat's panel; returns where it ends."""
        frame, cards = self.frame, self.frame["hands"][seat]
        acting = frame["ending"] is None and frame["current_player"] == seat
        height = 8 + CARD_HEIGHT + 22 + (34 if not cards or any(card["belief"] for card in cards) else 0)
        line = self.colors["accent" if acting else "line"]
        self._box((MARGIN, y, LEFT, height), self.colors["panel"], line, ' stroke-width="1.5"', 11)
        name = frame["names"][seat]
        self._write(MARGIN + 12, y + 24, name if len(name) <= 13 else name[:12] + "…", 14, more=' font-weight="600"')
        tag = "you" if frame["observer"] == seat else ""
        tag = " · ".join(filter(None, [tag, "to act" if acting else ""]))
        if tag:
            self._write(MARGIN + 12, y + 42, tag, 12, "accent" if acting else "soft")
        for slot, card in enumerate(cards):
            self._card(seat, slot, card, MARGIN + NAME_WIDTH + 12 + slot * (CARD_WIDTH + 8), y + 8)
        left, middle = MARGIN + NAME_WIDTH + 12, y + 8 + CARD_HEIGHT / 2
        self.tops[seat], self.ends[seat] = y, (left - 8, left + len(cards) * (CARD_WIDTH + 8) - 4, middle)
        return y + height

    def _card(self, seat: int, slot: int, card: dict[str, Any], x: float, y: float) -> None:
        """A card with its marks, the hints about it, and what its owner believes."""
        frame, last = self.frame, self.frame["last"]
        self.places[seat, slot] = (x + CARD_WIDTH / 2, y)
        if last is not None and last["target"] == seat and slot in last["touched"]:
            more = ' stroke-width="3"'
            self._box((x - 3, y - 3, CARD_WIDTH + 6, CARD_HEIGHT + 6), "none", self.colors["accent"], more, 9)
        letter = None if card["color"] is None else frame["suits"][card["color"]]["letter"]
        if card["card"] is not None:
            self._face(x, y, card["card"][0], card["card"][1:])
            self._marks(card["card"], x, y)
        elif letter is not None:
            self._face(x, y, letter, "?" if card["rank"] is None else str(card["rank"] + 1), pale=True)
        else:
            self._box((x, y, CARD_WIDTH, CARD_HEIGHT), self.colors["back"], self.colors["line"])
            rank = "?" if card["rank"] is None else str(card["rank"] + 1)
            self.parts.append(glyphs(x + CARD_WIDTH / 2, y + 19, rank, 22, self.colors["back-ink"], anchor="middle"))
        self._told(letter, card["rank"], x + CARD_WIDTH / 2, y + CARD_HEIGHT + 4)
        if card["belief"]:
            self._map(card["belief"], x, y + CARD_HEIGHT + 22)

    def _face(self, x: float, y: float, letter: str, rank: str, *, pale: bool = False) -> None:
        """A card's face; a pale one is a back of which the colour is known."""
        fill, ink = COLORS[letter]
        line = ' stroke-opacity=".45"' + (' stroke-width="4" stroke-dasharray="4 3"' if pale else "")
        self._box((x, y, CARD_WIDTH, CARD_HEIGHT), fill, self.colors["ink"] if not pale else ink, line)
        self.parts.append(glyphs(x + CARD_WIDTH / 2, y + 12, rank, 22, ink, anchor="middle"))
        self.parts.append(shape(x + CARD_WIDTH / 2 - 7, y + 40, letter, 14, ink))
        self.parts.append(glyphs(x + 5, y + 5, letter, 8, ink))

    def _marks(self, name: str, x: float, y: float) -> None:
        """Whether the card is critical, dead or playable."""
        frame = self.frame
        for kind, text, color in (("critical", "!", "warn"), ("dead", "x", "soft")):
            if name in frame[kind]:
                middle = (x + CARD_WIDTH - 3, y + 3)
                self._disc(*middle, color)
                self.parts.append(glyphs(middle[0], middle[1] - 4.5, text, 9, self.colors[color], 2.6, "middle"))
        if name in frame["playable"]:
            left, top = x + CARD_WIDTH - 3, y + CARD_HEIGHT - 3
            self._disc(left, top, "good")
            self.parts.append(f'<path d="M{left - 2.5:.4g} {top - 4:.4g}v8l6.5-4z" fill="{self.colors["good"]}"/>')

    def _disc(self, x: float, y: float, color: str) -> None:
        """The ground of a mark."""
        circle = f'<circle cx="{x:.4g}" cy="{y:.4g}" r="7.5" fill="{self.colors["panel"]}" '
        self.parts.append(f'{circle}stroke="{self.colors[color]}" stroke-width="1.5"/>')

    def _told(self, letter: str | None, rank: int | None, x: float, y: float) -> None:
        """The marks of hints: what the card's owner was told."""
        count = (letter is not None) + (rank is not None)
        left = x - (count * 21 - 3) / 2
        if letter is not None:
            fill, ink = COLORS[letter]
            self._box((left, y, 18, 14), fill, self.colors["ink"], ' stroke-opacity=".4"', 4)
            self.parts.append(shape(left + 2, y + 3.5, letter, 7, ink) + glyphs(left + 10.5, y + 3.5, letter, 7, ink))
            left += 21
        if rank is not None:
            self._box((left, y, 18, 14), self.colors["ink"], self.colors["ink"], "", 4)
            self.parts.append(glyphs(left + 9, y + 3, str(rank + 1), 8, self.colors["panel"], 2.2, "middle"))

    def _map(self, belief: list[float], x: float, y: float) -> None:
        """What a card's owner believes: a row a suit, a column a rank."""
        suits = [suit["letter"] for suit in self.frame["suits"]]
        width, height = CARD_WIDTH / self.ranks, 30 / len(suits)
        self._box((x, y, CARD_WIDTH, 30), self.colors["ground"], self.colors["line"], "", 2)
        for kind, share in enumerate(belief):
            if share > 0:
                letter = suits[kind // self.ranks]
                fill = self.colors["white"] if letter == "W" else COLORS[letter][0]
                left, top = x + kind % self.ranks * width, y + kind // self.ranks * height
                size = f'width="{width - 0.8:.4g}" height="{height - 0.8:.4g}"'
                opacity = f"{0.18 + 0.82 * share**0.5:.3g}"
                corner = f'x="{left + 0.4:.4g}" y="{top + 0.4:.4g}"'
                self.parts.append(f'<rect {corner} {size} fill="{fill}" fill-opacity="{opacity}"/>')

    def _table(self, y: float) -> float:
        """The fireworks, and all kinds of cards with a dot a copy; returns where they end."""
        left, suits, last = MARGIN + LEFT + GAP, self.frame["suits"], self.frame["last"]
        width = min(58, (RIGHT - 6 * (len(suits) - 1)) / len(suits))
        for suit, height in enumerate(self.frame["fireworks"]):
            letter, x = suits[suit]["letter"], left + suit * (width + 6)
            fill, ink = COLORS[letter] if height else ("none", self.colors["soft"])
            dashed = "" if height else ' stroke-dasharray="4 3"'
            self._box((x, y, width, 58), fill, self.colors["soft"], dashed)
            self.parts.append(shape(x + width / 2 - 7, y + 9, letter, 14, ink) + glyphs(x + 5, y + 5, letter, 8, ink))
            self.parts.append(glyphs(x + width / 2, y + 29, str(height), 20, ink, anchor="middle"))
            self.stacks[suit] = (x + width / 2, y + 60)
            if last is not None and last["added"] and last["card"][0] == letter:
                self._box((x - 1, y - 1, width + 2, 60), "none", self.colors["accent"], ' stroke-width="3"', 8)
        y += 58 + GAP
        row, gone = 25, Counter[str](self.frame["discards"])
        bottom = y + row * len(suits) + 10
        self._box((left, y, RIGHT, bottom - y), self.colors["panel"], self.colors["line"], ' stroke-width="1.5"', 11)
        for suit, copies in enumerate(self.frame["variant"]["copies"]):
            self.rows[suit] = y + 5 + suit * row + 12.5
            for rank, count in enumerate(copies):
                corner = (left + 6 + rank * (RIGHT - 12) / self.ranks, y + 5 + suit * row)
                self._kind(suits[suit]["letter"], rank, suit, (count, gone), corner)
        return self._policy(bottom + GAP)

    def _kind(
        self, letter: str, rank: int, suit: int, copies: tuple[int, Counter[str]], corner: tuple[float, float]
    ) -> None:
        """A kind of card: filled where it was played, framed where it is critical, crossed out where it is dead."""
        frame, name, (x, y) = self.frame, f"{letter}{rank + 1}", corner
        width = (RIGHT - 12) / self.ranks - 4
        played, ink = rank < frame["fireworks"][suit], self.colors["ink"]
        if played:
            fill, ink = COLORS[letter]
            self._box((x + 2, y + 2, width, 21), fill, self.colors["soft" if letter == "W" else "line"], "", 5)
        elif name in frame["dead"]:
            ink = self.colors["soft"]
        elif name in frame["critical"]:
            self._box((x + 2, y + 2, width, 21), "none", self.colors["warn"], ' stroke-width="1.5"', 5)
            if copies[0] < 3:
                self.parts.append(glyphs(x + width - 4, y + 7.5, "!", 10, self.colors["warn"], 2.6, "middle"))
        self.parts.append(glyphs(x + 7, y + 7.5, name, 10, ink, 2.1))
        if name in frame["dead"] and not played:
            self.parts.append(f'<path d="M{x + 4:.4g} {y + 12.5:.4g}h20" stroke="{ink}" stroke-width="1.5"/>')
        count, gone = copies
        for index in range(count):
            fill = ink if index < gone[name] else "none"
            middle = x + 31 + index * 7.5
            self.parts.append(f'<circle cx="{middle:.4g}" cy="{y + 12.5:.4g}" r="2.6" fill="{fill}" stroke="{ink}"/>')
        last = frame["last"]
        if last is not None and last["target"] is None and not last["added"] and last["card"] == name:
            self._box((x + 2, y + 2, width, 21), "none", self.colors["accent"], ' stroke-width="3"', 5)

    def _policy(self, y: float) -> float:
        """What a player thinks: its most likely moves, and the points that it expects; returns where they end."""
        policy = self.frame["policy"]
        if policy is None:
            return y
        left = MARGIN + LEFT + GAP
        names = {move["action"]: move["text"] for move in self.frame["legal"]}
        likely = [row for row in (policy.get("probabilities") or {}).items() if row[1] >= 0.005]
        rows = sorted(likely, key=lambda row: -row[1])[:5]
        height = 28 + 20 * len(rows)
        self._box((left, y, RIGHT, height), self.colors["panel"], self.colors["line"], ' stroke-width="1.5"', 11)
        value = policy.get("value")
        head = str(policy.get("name", "policy")) + ("" if value is None else f" expects {value:+.1f} points")
        self._write(left + 10, y + 18, head, 12, "soft")
        for index, (action, share) in enumerate(rows):
            top = y + 25 + 20 * index
            self._box((left + 10, top, max(2, share * (RIGHT - 74)), 16), self.colors["accent"], "none", OPACITY, 4)
            weight = ' font-weight="600"' if action == policy.get("choice") else ""
            self._write(left + 16, top + 12, names.get(action, f"action {action}"), 12, more=weight)
            self._write(left + RIGHT - 10, top + 12, f"{100 * share:.0f} %", 12, "soft", ' text-anchor="end"')
        return y + height

    def _last(self, y: float) -> float:
        """The last turn in words; returns where it ends."""
        words = self.frame["words"]
        if self.frame["ending"] is not None:
            words += f". Game over: {self.frame['ending'].replace('_', ' ')}"
        self._write(MARGIN + 4, y + 14, words, 14)
        return y + 16

    def _arrows(self) -> None:
        """From the hand of the seat that moved, between the panels, to what it moved or hinted."""
        last = self.frame["last"]
        if last is None:
            return
        left, right, middle = self.ends[last["seat"]]
        if last["target"] is not None:
            self._hinted(last, left, middle)
            return
        suit = next(index for index, one in enumerate(self.frame["suits"]) if one["letter"] == last["card"][0])
        gutter = MARGIN + LEFT + GAP / 2
        if last["added"]:
            x, y = self.stacks[suit]
            self._arrow([(right, middle), (gutter, middle), (gutter, y + GAP / 2 + 1), (x, y + GAP / 2 + 1), (x, y)])
            return
        y = self.rows[suit]
        self._arrow([(right, middle), (gutter, middle), (gutter, y), (gutter + GAP / 2 + 4, y)])

    def _hinted(self, last: dict[str, Any], left: float, middle: float) -> None:
        """Arrows to the cards that a hint touched, or to the hand where it touched none."""
        target = last["target"]
        above = self.tops[target] - GAP / 2
        for x, y in [self.places[target, slot] for slot in last["touched"]] or [(left + 24, self.tops[target] + 6)]:
            self._arrow([(left, middle), (left, above), (x, above), (x, y - 4)])

    def _arrow(self, points: list[tuple[float, float]]) -> None:
        """An arrow along straight lines with round corners."""
        path, before = f"M{points[0][0]:.4g} {points[0][1]:.4g}", points[0]
        for corner, after in itertools.pairwise(points[1:]):
            near, far = _towards(corner, before), _towards(corner, after)
            path += f"L{near[0]:.4g} {near[1]:.4g}Q{corner[0]:.4g} {corner[1]:.4g} {far[0]:.4g} {far[1]:.4g}"
            before = corner
        (x, y), color = points[-1], self.colors["accent"]
        back_x, back_y = _towards(points[-1], points[-2], 7)
        wide_x, wide_y = (back_y - y) * 0.7, (x - back_x) * 0.7
        self.parts.append(
            f'<g fill="none" stroke="{color}" stroke-width="2.5" stroke-linecap="round">'
            f'<path d="{path}L{back_x:.4g} {back_y:.4g}"/><path stroke="none" fill="{color}" d="M{x:.4g} {y:.4g}L'
            f'{back_x + wide_x:.4g} {back_y + wide_y:.4g} {back_x - wide_x:.4g} {back_y - wide_y:.4g}z"/></g>'
        )


def _towards(corner: tuple[float, float], other: tuple[float, float], most: float = 5) -> tuple[float, float]:
    """The point at a distance from a corner on the way to another point, or half the way there."""
    x, y = other[0] - corner[0], other[1] - corner[1]
    length = max(abs(x), abs(y))
    share = min(most, length / 2) / length if length else 0.0
    return corner[0] + x * share, corner[1] + y * share
