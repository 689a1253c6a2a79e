"""Compares how two training seeds answer hints and discards: a table and a picture of docs/baselines.md.

    python tools/update_conventions.py --games 500   # measure, draw docs/conventions.svg and write the table
    python tools/update_conventions.py               # the table alone

Each policy plays games with itself, and both policies answer every position of these games. The picture has a
position of each pair in which both are sure of their moves, and the moves differ.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from update_baselines import RESULTS, ROOT, STOP, markdown_table

import starmine
from starmine.look import frame_of
from starmine.look.svg import grid_svg, svg_of
from starmine.policies.load import load_own
from starmine.torch import unpack_bits

PAGE, PICTURE = ROOT / "docs" / "baselines.md", ROOT / "docs" / "conventions.svg"
FIGURES = RESULTS / "conventions.json"
START = "<!-- conventions of update_conventions.py -->\n"
PAIRS = [
    ("ippo-2p", "prototype-2p-2"),
    ("ippo-3p", "ippo-3p-seed-2"),
    ("ippo-4p", "ippo-4p-seed-2"),
    ("ippo-5p", "ippo-5p-seed-2"),
]
# What the seat before did, and the answers that count.
QUESTIONS = [
    ("a colour hint to me", "play"),
    ("a colour hint to two cards of mine", "the newer, of plays of the two"),
    ("a rank hint to me", "play"),
    ("a rank hint to two cards of mine", "the newer, of plays of the two"),
    ("a colour hint to the next seat", "play"),
    ("a rank hint to the next seat", "play"),
    ("a discard", "play"),
]
DRAWN = {  # of each number of players
    2: "a colour hint to two cards of mine",
    3: "a rank hint to the next seat",
    4: "a colour hint to two cards of mine",
    5: "a rank hint to two cards of mine",
}
SEED = 4


@dataclass
class Positions:
    """Positions of games of one policy, with what both policies would do."""

    games: starmine.games.Games
    game: NDArray[np.int64]
    turn: NDArray[np.int32]
    probabilities: NDArray[np.float32]  # (policies, positions, actions)
    touched: NDArray[np.bool_]  # (positions, slots), by the last hint
    asked: dict[str, NDArray[np.bool_]]  # the positions of each question


def player(name: str) -> str:
    """A shipped policy's name, or the file of a policy that results/ has."""
    file = RESULTS / name / "policy.safetensors"
    return str(file) if file.exists() else name


def positions(pair: tuple[str, str], plays: str, games: int) -> Positions:
    """Play games of one policy with itself, and ask both policies at each turn."""
    networks = [load_own(player(name)).network() for name in pair]
    variant = networks[0].variant
    played = starmine.play_games([player(plays)] * variant.players, games=games, seed=SEED, variant=variant)
    rows = played.replay(["obs", "action_mask", "game", "turn"], dtype="bits")
    layout = variant.layout("canonical")
    bits = torch.from_numpy(rows["obs"])
    seen = unpack_bits(bits, len(layout)).numpy() > 0
    kind, target, touched = (seen[:, layout[name].slice] for name in ("last_type", "last_target", "last_touched"))
    with torch.no_grad():
        logs = [network(network.read(bits), torch.from_numpy(rows["action_mask"]))[0] for network in networks]
    asked = {"a discard": kind[:, 1]}
    for column, hint in ((2, "a colour hint"), (3, "a rank hint")):
        asked[f"{hint} to me"] = kind[:, column] & target[:, 0]
        asked[f"{hint} to two cards of mine"] = kind[:, column] & target[:, 0] & (touched.sum(1) == 2)
        asked[f"{hint} to the next seat"] = kind[:, column] & target[:, 1]
    probabilities = np.stack([log.exp().numpy() for log in logs])
    return Positions(played, rows["game"], rows["turn"], probabilities, touched, asked)


def played_slots(at: Positions, policy: int) -> NDArray[np.int64]:
    """The slot of the card that a policy plays in each position; -1 for another move."""
    moves = [at.games.variant.move(action) for action in range(at.games.variant.num_actions)]
    slots = np.array([move.slot if move.kind == "play" else -1 for move in moves])
    answers: NDArray[np.int64] = slots[at.probabilities[policy].argmax(1)]
    return answers


def share(found: list[Positions], policy: int, question: str, counted: str) -> float | None:
    """The share of a policy's likeliest answers that count; None where nobody is asked."""
    counts = np.zeros(2)
    for at in found:
        asked = at.asked[question]
        slot, touched = played_slots(at, policy)[asked], at.touched[asked]
        is_play = slot >= 0
        if counted == "play":
            counts += is_play.sum(), len(slot)
        else:
            newer = touched.shape[1] - 1 - touched[:, ::-1].argmax(1)
            of_touched = is_play & touched[np.arange(len(slot)), slot]
            counts += (of_touched & (slot == newer)).sum(), of_touched.sum()
    return float(counts[0] / counts[1]) if counts[1] else None


def parting(pair: tuple[str, str], at: Positions, question: str) -> tuple[str, str]:
    """The position where both policies are surest of different moves: its picture, and the moves."""
    best = at.probabilities.argmax(2)
    differ = at.asked[question] & (best[0] != best[1])
    if "two cards" in question:
        differ &= (played_slots(at, 0) >= 0) & (played_slots(at, 1) >= 0)
    row = int(np.where(differ, at.probabilities.max(2).prod(0), 0).argmax())
    state = at.games.state(int(at.game[row]), turn=int(at.turn[row]))
    moves = [f"{state.variant.action_meaning(int(best[policy, row]))} (`{name}`)" for policy, name in enumerate(pair)]
    return svg_of(frame_of(state, state.current_player, legal=False)), " or ".join(moves)


def measure(games: int) -> dict[str, Any]:
    """Ask all pairs, and draw the picture."""
    pairs, pictures = [], []
    for pair in PAIRS:
        found = [positions(pair, plays, games) for plays in pair]
        answers = {
            question: [share(found, policy, question, counted) for policy in (0, 1)] for question, counted in QUESTIONS
        }
        players = found[0].games.variant.players
        picture, moves = parting(pair, found[0], DRAWN[players])
        pairs.append({"players": players, "policies": pair, "answers": answers, "drawn": moves})
        pictures.append(picture)
    PICTURE.write_text(grid_svg(pictures, columns=2) + "\n", encoding="utf-8")
    return {"games": games, "seed": SEED, "pairs": pairs}


def with_table() -> str:
    """The page with the table of the figures that are kept."""
    pairs = json.loads(FIGURES.read_text(encoding="utf-8"))["pairs"]

    def cell(shares: list[float | None]) -> str:
        return "" if None in shares else " / ".join(f"{share:.2f}" for share in shares)

    heads = ["the seat before made", "share of"] + [f"{pair['players']} players" for pair in pairs]
    rows = [
        " | ".join([question, counted, *(cell(pair["answers"][question]) for pair in pairs)])
        for question, counted in QUESTIONS
    ]
    rows.append(" | ".join(["the drawn position", "moves", *(pair["drawn"] for pair in pairs)]))
    before, rest = PAGE.read_text(encoding="utf-8").split(START)
    return before + START + markdown_table(heads, [f"| {row} |" for row in rows]) + STOP + rest.split(STOP, 1)[1]


@dataclass
class Args:
    """Measure, or write the table of what is measured."""

    games: int | None = None
    """games of each policy; None for the table alone"""


if __name__ == "__main__":
    if (games := tyro.cli(Args).games) is not None:
        FIGURES.write_text(json.dumps(measure(games), indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(with_table(), encoding="utf-8")
