"""The figure of the sweep: steps per second against the size of the batch, drawn from `sweep.json`.

python benchmarks/speed_figure.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from measuring import RESULTS, machine_class

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

COLORS = {"float32": "#1f5fa8", "bits": "#c2571a"}
FLOORS = {"float32": "floor: filling the float32 array", "bits": "floor: filling the bits array"}


def short(number: float, _: object = None) -> str:
    """A short text for a number of steps."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:g} {name}"
    return f"{number:g}"


def rounded(number: float) -> float:
    """A number rounded to three digits."""
    return float(f"{number:.3g}")


def panel(axes: Axes, rows: list[dict[str, Any]], players: int) -> None:
    """Draws the lines for one number of players."""
    for dtype, color in COLORS.items():
        for kind, style in (("batch", "-"), ("floor", "--")):
            line = [row for row in rows if (row["dtype"], row["more"]["kind"]) == (dtype, kind)]
            games, medians = [row["games"] for row in line], [row["median"] for row in line]
            label = f"starmine, {dtype}" if kind == "batch" else FLOORS[dtype]
            if kind == "batch":
                spread = [row["lowest"] for row in line], [row["highest"] for row in line]
                axes.fill_between(games, *spread, color=color, alpha=0.15, linewidth=0)
                best = max(line, key=lambda row: row["median"])
                axes.annotate(
                    f"{short(rounded(best['median']))}/s",
                    (best["games"], best["median"]),
                    xytext=(0, 8 if dtype == "bits" else -8),
                    textcoords="offset points",
                    ha="center",
                    va="bottom" if dtype == "bits" else "top",
                    color=color,
                )
            marker = "o" if kind == "batch" else ""
            axes.plot(games, medians, style, color=color, marker=marker, markersize=5, linewidth=1.8, label=label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    sizes = sorted({row["games"] for row in rows})
    axes.set_xticks(sizes, [f"{games:,}" for games in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(short))
    axes.set_title(f"{players} players", fontsize=11)
    axes.set_xlabel("games in the batch")
    axes.grid(which="major", color="#d8d8d8", linewidth=0.8)
    axes.grid(which="minor", color="#eeeeee", linewidth=0.5)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw(folder: Path) -> None:
    """Draws `speed.png` beside the sweep's JSON."""
    about = json.loads((folder / "sweep.json").read_text())
    figure, all_axes = plt.subplots(1, 2, figsize=(11, 5.2), sharey=True, layout="constrained")
    for axes, players in zip(all_axes, (2, 5), strict=True):
        panel(axes, [row for row in about["rows"] if row["players"] == players], players)
    all_axes[0].set_ylabel("steps per second, one thread")
    best_set = about["instruction sets"].split()[-1]
    title = f"starmine Batch.step_into: {about['machine']}, {best_set}, {about['date']}"
    figure.suptitle(f"{title}\nmedians of {about['rounds']} rounds; bands from the lowest to the highest", fontsize=11)
    handles, labels = all_axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(folder / "speed.png", dpi=150)
    plt.close(figure)
    print("drawn: speed.png", flush=True)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS / machine_class())
