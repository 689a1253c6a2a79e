"""Evaluates training runs, keeps what is worth keeping of them in results/, and writes the tables of all that is there.

    python tools/update_baselines.py ippo-2p=runs/2p     # a run by the name that it is to have
    python tools/update_baselines.py --ship ippo-2p=runs/2p   # its policy goes into the package, with a model card
    python tools/update_baselines.py --after ippo-2p-100m ippo-2p=runs/2p   # a run that went on with that one, by
                                                        # --resume, or by --start with the policy of that one
    python tools/update_baselines.py                     # the tables alone

A run is a folder of an example script. It gets a row in results/runs.csv (the command, its cost, and the scores over
common decks), and a folder results/NAME. That has `log.csv` (the means over stretches of updates), `config.json`,
`policy.safetensors` and, of a run with partners, `partners.csv`. A policy that is shipped also needs its row in
src/nn/policy/shipped_policies.rs. Runs named agree-SETTING-SEED have a table with a line for all seeds of a setting.
A run of a program that is not in this repository has no command. Its policy file names the `program`, its `settings`
and the `machine`.
results/crossplay/GROUP-SETTING.csv, a matrix of `starmine eval`, shows how its seeds play together.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tyro
import update_bots
from tyro.conf import Positional

import starmine
from starmine.policies import TrainedPolicy
from starmine.policies.load import load_own
from starmine.training import read_partners

if TYPE_CHECKING:
    from starmine.torch import ModulePolicy

    Trained = TrainedPolicy | ModulePolicy

ROOT = Path(__file__).parents[1]
POLICIES = ROOT / "python" / "starmine" / "policies"
RESULTS, PUBLISHED = ROOT / "results", ROOT / "tools" / "published_baselines.json"
RUNS = RESULTS / "runs.csv"
PAGES = (ROOT / "README.md", ROOT / "docs" / "baselines.md")
START, STOP = "<!-- {} of update_baselines.py -->\n", "<!-- end -->\n"
SEED = 0
ROWS = 200  # of log.csv
SCRIPTS = {"OBL": "obl"}  # of methods that learn values
NO_FLAGS = ("compile",)  # options that take True or False, since their default depends on the device
# The columns of runs.csv; those of scores stand for likeliest moves ("greedy") and for drawn ones ("sampled").
FACTS = (
    *("name", "method", "variant", "players", "partner", "max_score", "seed", "after", "steps", "seconds"),
    *("cpu_seconds", "machine", "date", "version", "program", "games"),
)
SCORES = ("score", "score_error", "kept", "kept_error", "perfect", "lost")
NUMBERS = ("players", "max_score", "seed", "steps", "seconds", "cpu_seconds", "games")
COUNTS = ("update", "steps", "seconds")
LOSSES = ("policy_loss", "value_loss", "explained_variance", "clipped", "gradient_norm")
COLUMNS = (
    *(*COUNTS, "cpu_seconds", "steps_per_second", "kept", "score", "lost", "greedy", "entropy", "kl", "lr"),
    *("entropy_weight", *LOSSES),
)


def command(script: str, arguments: dict[str, Any]) -> str:
    """What repeats a run."""
    words = ["python", script]
    for name, value in arguments.items():
        option = name.replace("_", "-")
        if isinstance(value, bool) and name not in NO_FLAGS:
            words.append(f"--{option}" if value else f"--no-{option}")
        else:
            words += [f"--{option}", *map(str, value if isinstance(value, list) else [value])]
    return shlex.join(words)


def today() -> str:
    """The date."""
    return datetime.now(UTC).date().isoformat()


def machine() -> str:
    """The processor's model and the number of cores."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores"


def scores(policy: Trained, partners: Sequence[Any], variant: starmine.Variant, games: int) -> dict[str, float]:
    """How a policy plays with itself, or with each partner in equally many games, in every seat of the same decks."""
    seats = range(variant.players)
    tables = [[policy if seat == own else partner for seat in seats] for partner in partners for own in seats]
    return scores_of_tables(tables or [[policy] * variant.players], variant, games)


def scores_of_tables(tables: list[list[Any]], variant: starmine.Variant, games: int) -> dict[str, float]:
    """How tables of players play in equally many games of the same decks."""
    decks = games // len(tables)
    played = [starmine.play_games(table, games=decks, seed=SEED, variant=variant) for table in tables]
    found: dict[str, float] = {"games": decks * len(tables)}
    for name, of_tables in (("score", [it.scores for it in played]), ("kept", [it.fireworks for it in played])):
        values = np.mean(of_tables, axis=0)
        found[name] = float(values.mean())
        found[f"{name}_error"] = float(values.std(ddof=1) / decks**0.5)
    perfect, exhausted = (float(np.mean([it.share(end) for it in played])) for end in ("perfect", "deck_exhausted"))
    return found | {"perfect": perfect, "lost": max(1 - perfect - exhausted, 0.0)}


CARD = """\
# {name}

{method} for Hanabi ({variant}, {players} players), trained with {script}.

| {games:,} games | score (a lost game counts 0) | points kept | perfect | lost |
|---|---|---|---|---|
{rows}

Scores are means with their standard errors, of at most {max_score} points, on the decks of seed {seed}; the seats are
held by {seats}.

- Training: {training}{after}
- {steps:,} turns in {minutes:.0f} min on {machine}; a single seed of training.{commit}
- Network: {layers}; {encoder} observations; {size:,.0f} kB, float16.{speed}
- {lost_games}
- {partners}

Licensed like Starmine, MIT or Apache-2.0.
"""


def configuration(run: Path) -> dict[str, Any] | None:
    """The contents of a run's config.json; None for a program that is not in this repository."""
    path = run / "config.json"
    contents: dict[str, Any] | None = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return contents


def card(facts: dict[str, Any], policy: TrainedPolicy, config: dict[str, Any] | None) -> str:
    """The model card."""
    rows = []
    for how, moves in {"greedy": "likeliest moves", "sampled": "drawn moves"}.items():
        if (found := facts[how]) is None:
            continue
        means = [f"{found[name]:.3f} ± {found[name + '_error']:.3f}" for name in ("score", "kept")]
        cells = [moves, *means, *(f"{found[name]:.1%}" for name in ("perfect", "lost"))]
        rows.append(markdown_row(cells))
    partner = facts["partner"]
    return CARD.format(
        **{key: facts[key] for key in ("name", "method", "variant", "players", "max_score", "steps")},
        script=facts["program"] or f"Starmine's `{facts['command'].split()[1]}`",
        training=f"`{facts['command']}`" if facts["command"] else policy.about["settings"],
        after=f", from `{facts['after']}` (`results/runs.csv`)" if facts["after"] else "",
        machine=facts["machine"],
        commit=f" Commit {config['commit']}." if config and "commit" in config else "",  # until version 0.4
        rows="\n".join(rows),
        games=facts["greedy"]["games"],
        seed=SEED,
        seats="this policy" if partner is None else f"this policy, and {partner} in all others",
        minutes=facts["seconds"] / 60,
        layers="by colour, towers of {} and a trunk of {}".format(*policy.options["hidden"]),
        encoder=policy.encoder,
        size=len(policy.data) / 1e3,
        speed=speed(facts["name"]),
        lost_games=lost_games({"points_taken": 1.0} | policy.about["arguments"]),
        partners=meant_for(facts["method"], partner),
    )


def speed(name: str) -> str:
    """What a model card says of the small version of a policy, or of the policy that it is the small version of."""
    wide = name.removesuffix("-small")
    if name != wide:
        return f" Meant as a partner: a move of `{wide}`, which scores more, takes about three times as long."
    if (POLICIES / f"{name}-small.md").exists():
        return f" A move takes about three times as long as one of `{name}-small`, which is meant as a partner."
    return ""


def lost_games(arguments: dict[str, Any]) -> str:
    """How training counted a lost game, by the share of points taken and arguments that differ from the defaults."""
    penalty = arguments.get("lost_game_penalty", 1.0)
    if arguments.get("lost_game_score") == "zero" and penalty == 0:
        return "In training a lost game scored zero, as it counts here."
    taken = arguments.get("lost_points_share", arguments["points_taken"])  # its name until version 0.3
    share = f" and a share of the points that grew from 0 to {taken:g}" if taken else ""
    return f"In training a lost game kept its points, except for a penalty of {penalty:g}{share}."


def meant_for(method: str, partner: str | None) -> str:
    """Which partners a policy plays well with."""
    if method.startswith("OBL"):
        return GROUNDED if method == "OBL-1" else READER
    return SELF_PLAY if partner is None else BEST_RESPONSE.format(partner=partner)


GROUNDED = (
    "It reads a hint as the rules say it and gives no hint another meaning. So it plays with partners that it has "
    "never met, unless they take its hints for signals of a convention."
)
READER = (
    "It reads a move as one of a policy of the level below; level 1 reads a hint as the rules say it. In training it "
    "has only met itself."
)
SELF_PLAY = "It has only met itself: with partners of other conventions it scores less."
BEST_RESPONSE = "It has only met `{partner}`, whose conventions it answers: with other partners it scores less."


def arguments_of(about: dict[str, Any], after: str | None) -> dict[str, Any]:
    """The arguments of a run; a policy that it began with is named by the run that it is kept of."""
    arguments: dict[str, Any] = about["arguments"]
    name = begun_with(arguments)
    if name is None:
        return arguments
    if after is None:
        raise SystemExit(f"the run began with {arguments[name]!r}: expected --after with the name of that policy's run")
    return arguments | {name: f"runs/{after}/policy.safetensors"}


def begun_with(arguments: dict[str, Any]) -> str | None:
    """The argument of a run that names the policy that it began with; None for a run from random weights."""
    return next((name for name in ("start", "below") if arguments.get(name) is not None), None)


def of_policy(name: str, policy: Trained, run: Path, games: int, after: str | None) -> dict[str, Any]:
    """What is kept of a run that wrote a policy file, which is evaluated here."""
    drawn = load_own(run / "policy.safetensors", sampled=True)
    variant = starmine.Variant(**{**policy.variant.parameters(), "lost_game_score": "zero"})
    arguments, before = arguments_of(policy.about, after), {"steps": 0, "seconds": 0}
    if after and begun_with(arguments):  # a resumed run counts the training before it itself
        before = kept_run(after)
    partners = [partner.player for partner in read_partners(variant, arguments.get("partners"))[0]]
    learns = policy.about["method"].partition("-")[0]
    of_values = learns in SCRIPTS
    name_of_script = SCRIPTS.get(learns, "ppo_recurrent" if policy.recurrent else "ppo")
    script = f"examples/{name_of_script}.py"
    program = policy.about.get("program")
    config = configuration(run)
    device = config["arguments"]["device"] if config else "cpu"
    repeated = command(script, {"out": f"runs/{name}"} | arguments | {"device": device})
    repeated += " --resume" if after and not begun_with(arguments) else ""
    return {
        "name": name,
        "method": policy.about["method"],
        "variant": policy.about["arguments"].get("variant", "standard"),
        "players": variant.players,
        "partner": arguments.get("partners"),
        "max_score": variant.max_score,
        "seed": arguments.get("seed", 1),
        "program": program,
        "command": None if program else repeated,
        "after": after,
        "steps": before["steps"] + policy.about["steps"],
        "seconds": before["seconds"] + policy.about["seconds"],
        "machine": policy.about.get("machine") or machine(),
        "date": today(),
        "greedy": scores(policy, partners, variant, games),
        # Values of actions are no probabilities to draw by.
        "sampled": None if of_values else scores(drawn, partners, variant, games),
    }


def keep(name: str, run: Path, given: Args) -> None:
    """Evaluate a run and put it into results/, and where it is to be shipped, its policy into the package."""
    after = given.after
    policy = load_own(run / "policy.safetensors")
    facts = of_policy(name, policy, run, given.games, after)
    facts["machine"] = given.machine or facts["machine"]
    rows = [json.loads(line) for line in (run / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    if after is None and all("cpu_seconds" in row for row in rows):
        facts["cpu_seconds"] = round(sum(row["cpu_seconds"] for row in rows))
    facts["version"] = starmine.__version__
    write_runs({**runs(), name: facts})
    folder = RESULTS / name
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(run / "policy.safetensors", folder / "policy.safetensors")
    if (run / "partners.csv").exists():
        shutil.copy(run / "partners.csv", folder / "partners.csv")
    if (config := configuration(run)) is not None:
        for begun in (config, *config["resumed"]):
            begun.pop("command", None)  # it has paths of the machine; runs.csv has the command
        config["arguments"]["out"] = f"runs/{name}"
        (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    with (folder / "log.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        with_partners = sorted({column for row in rows for column in row if column.startswith("score with ")})
        columns = [*COLUMNS, *with_partners]
        writer.writerow(columns)
        for stretch in np.array_split(np.array(rows, dtype=object), min(ROWS, len(rows))):
            writer.writerow([number(column, list(stretch)) for column in columns])
    if given.ship:
        if not isinstance(policy, TrainedPolicy):
            raise SystemExit("PyTorch plays the policy: expected one of a ColorNetwork without recurrence to ship")
        POLICIES.mkdir(exist_ok=True)
        about = policy.about | {"arguments": arguments_of(policy.about, after)}
        policy.network().save(POLICIES / f"{name}.safetensors", **about)
        (POLICIES / f"{name}.md").write_text(card(facts, policy, configuration(run)), encoding="utf-8")
        (folder / "policy.safetensors").unlink()  # the package has it
    print(f"{name}: {facts['greedy']}")


def runs() -> dict[str, dict[str, Any]]:
    """All runs of runs.csv, by name."""
    found = {}
    with RUNS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            facts: dict[str, Any] = {key: row[key] or None for key in (*FACTS, "command")}
            facts |= {key: int(float(row[key])) for key in NUMBERS if row[key]}
            for how in ("greedy", "sampled"):
                scores = {key: float(row[f"{how}_{key}"]) for key in SCORES if row[f"{how}_{key}"]}
                facts[how] = {"games": facts["games"], **scores} if scores else None
            found[row["name"]] = facts
    return found


def write_runs(found: dict[str, dict[str, Any]]) -> None:
    """Write runs.csv."""
    heads = [*FACTS, *(f"{how}_{key}" for how in ("greedy", "sampled") for key in SCORES), "command"]
    with RUNS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, heads, lineterminator="\n")
        writer.writeheader()
        for name, facts in sorted(found.items()):
            row = {key: facts.get(key) for key in (*FACTS, "command")}
            seed = re.search(r"--seed (\d+)", facts["command"] or "")
            row |= {"name": name, "seed": int(seed[1]) if seed else facts.get("seed", 1)}
            row["games"] = facts["greedy"]["games"]
            for how in ("greedy", "sampled"):
                scores = facts[how] or {}
                row |= {f"{how}_{key}": round(scores[key], 6) for key in SCORES if key in scores}
            writer.writerow(row)


def kept_run(name: str) -> dict[str, Any]:
    """What is kept of a run."""
    return runs()[name]


def training(steps: float, seconds: float) -> str:
    """What a run cost."""
    return f"{round(steps / 1e6, 1):g} M in {seconds / 60:.0f} min"


def number(column: str, rows: list[dict[str, float]]) -> str:
    """A column over a stretch of updates: how far they came, or the mean of what they showed."""
    values = [row[column] for row in rows if column in row]
    if not values:
        return ""
    return f"{values[-1]:.6g}" if column in COUNTS else f"{np.mean(values):.5g}"


def line(facts: dict[str, Any]) -> str:
    """A row of the table."""
    greedy, sampled, most = facts["greedy"], facts["sampled"], facts.get("max_score", 25)
    game = facts["variant"] if most == 25 else f"{facts['variant']} (at most {most})"
    cells = [
        f"`{facts['name']}`",
        f"{game}, {facts['players']}",
        facts["partner"] or "itself",
        training(facts["steps"], facts["seconds"]) + " on a GPU" * ("NVIDIA" in facts["machine"]),
        f"{greedy['score']:.2f} ± {greedy['score_error']:.2f}",
        f"{greedy['perfect']:.1%}",
        f"{greedy['lost']:.1%}",
        f"{sampled['score']:.2f}" if sampled else "",
        f"`{checksum(facts['name'])[:12]}`",
    ]
    return markdown_row(cells)


def checksum(name: str) -> str:
    """SHA-256 of a shipped policy's file, in hexadecimal digits."""
    return hashlib.sha256((POLICIES / f"{name}.safetensors").read_bytes()).hexdigest()


def markdown_row(cells: list[str]) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def markdown_table(heads: list[str], rows: list[str]) -> str:
    """A Markdown table of lines."""
    return "\n".join([markdown_row(heads), "|---" * len(heads) + "|", *rows]) + "\n"


def table(names: list[str]) -> str:
    """The shipped policies of these names, a line each."""
    heads = ["run", "game, players", "partner", "training", "greedy", "perfect", "lost", "sampled", "SHA-256"]
    return markdown_table(heads, [line(kept_run(name)) for name in names])


def best_scores() -> str:
    """The policies of each number of players, for the README: one trained on a GPU, and a small one of a CPU."""
    rows = []
    for players in (2, 3, 4, 5):
        cells = [str(players)]
        for name in (f"ippo-{players}p", f"ippo-{players}p-small"):
            run = kept_run(name)
            greedy = run["greedy"]
            cells += [training(run["steps"], run["seconds"]), f"{greedy['score']:.2f} ± {greedy['score_error']:.2f}"]
        rows.append(markdown_row([*cells, update_bots.score("smart", players)]))
    wide, small = "wide network: turns, time on one H200", "small network: turns, time on one CPU thread"
    heads = ["players", wide, "mean score", small, "mean score", "bot `smart`"]
    return markdown_table(heads, rows)


def mean_of_seeds(scores: list[float]) -> str:
    """The mean with its standard error over seeds; a single seed has none."""
    mean, count = np.mean(scores), len(scores)
    return f"{mean:.2f} ± {np.std(scores, ddof=1) / count**0.5:.2f}" if count > 1 else f"{mean:.2f}"


def together(name: str) -> str:
    """The mean score and the range of the pairs of seeds, if they have been paired, as `Method.all_pairs` has them.

    `name` is that of the seeds without their number. A pair counts once, in both seatings.
    """
    path = RESULTS / "crossplay" / f"{name}.csv"
    if not path.exists():
        return ""
    with path.open(encoding="utf-8") as file:
        scores = {(row["player"], row["partner"]): float(row["score"]) for row in csv.DictReader(file)}
    found = [(scores[one, other] + scores[other, one]) / 2 for one, other in scores if one < other]
    return f"{np.mean(found):.2f}" + (f" ({min(found):.2f} to {max(found):.2f})" if len(found) > 1 else "")


def seeds(names: list[str]) -> str:
    """A table of runs that differ in their seed, which ends their names: a line for all seeds of one setting.

    Minutes are processor time for runs that logged it, else elapsed time.
    """
    heads = ["setting", "seeds", "training of each", "mean score"]
    settings = [(name, list(runs)) for name, runs in groupby(names, lambda name: name.rpartition("-")[0])]
    pairs = [together(setting) for setting, _ in settings]
    heads += ["with other seeds"] * any(pairs)
    lines = []
    for (setting, runs), paired in zip(settings, pairs, strict=True):
        facts = [kept_run(name) for name in runs]
        greedy = [run["greedy"]["score"] for run in facts]
        cells = [
            f"`{setting.partition('-')[2]}`",
            str(len(facts)),
            training(facts[0]["steps"], float(np.mean([run["cpu_seconds"] or run["seconds"] for run in facts]))),
            mean_of_seeds(greedy),
            *[paired] * any(pairs),
        ]
        lines.append(markdown_row(cells))
    return markdown_table(heads, lines)


def pairs_of_seeds() -> str:
    """How policies of the same number of players that differ in their seed play together, a line for each pair.

    The pairs of a prototype's policies are left out, except those with `ippo-2p`, which has no other seed.
    """
    rows = []
    for players in (2, 3, 4, 5):
        with (RESULTS / "crossplay" / f"ippo-{players}p.csv").open(encoding="utf-8") as file:
            pairs = {(row["player"], row["partner"]): row for row in csv.DictReader(file)}
        for first, second in pairs:
            if first < second and ("prototype" not in first + second or first == "ippo-2p"):
                cells = [(first, first), (second, second), (first, second), (second, first)]
                found = [pairs[cell] for cell in cells]
                scores = [f"{float(it['score']):.2f} ± {float(it['standard_error']):.2f}" for it in found]
                rows.append(markdown_row([str(players), f"`{first}`", f"`{second}`", *scores]))
    heads = ["players", "A", "B", "A alone", "B alone", "one A, others B", "one B, others A"]
    return markdown_table(heads, rows)


# What each mark on a page is filled with, and the runs that it takes.
GROUPS = {**dict.fromkeys(("results", "scores", "pairs"), ""), "agreements": "agree"}
WRITERS = {
    "results": lambda names: table([name for name in names if name in starmine.policies.shipped()]),
    "scores": lambda names: best_scores(),
    "pairs": lambda names: pairs_of_seeds(),
    "agreements": seeds,
}


def group(name: str) -> str:
    """Which of the groups a run belongs to by its name."""
    start = name.partition("-")[0]
    return start if start in GROUPS.values() else ""


def with_tables(page: Path) -> str:
    """A page with its tables filled, each with the runs whose names begin as its mark says."""
    known = sorted(runs(), key=lambda it: (it[:4] != "ippo", it))
    text = page.read_text(encoding="utf-8")
    for what in WRITERS:
        mark = START.format(what)
        if mark not in text:
            continue
        names = [name for name in known if group(name) == GROUPS[what]]
        filled = WRITERS[what](names)
        before, rest = text.split(mark)
        text = before + mark + filled + STOP + rest.split(STOP, 1)[1]
    return text


def write_tables() -> None:
    """Fill the tables of all pages."""
    for page in PAGES:
        page.write_text(with_tables(page), encoding="utf-8")


def named_folder(text: str) -> tuple[str, Path]:
    """The name and the folder of the argument NAME=FOLDER."""
    name, _, folder = text.partition("=")
    if not (name and folder):
        raise SystemExit(f"{text!r}: expected NAME=FOLDER")
    return name, Path(folder)


@dataclass
class Args:
    """The command line."""

    runs: Positional[tuple[str, ...]] = ()
    """NAME=FOLDER: runs to evaluate and keep"""
    ship: bool = False
    """put their policies into the package"""
    after: str | None = None
    """the run whose checkpoint they went on with"""
    machine: str | None = None
    """that trained them, if it is not this one"""
    games: int = 10_000
    """of an evaluation"""


def main() -> None:
    """Evaluate what was given, and write."""
    given = tyro.cli(Args, description=__doc__)
    if given.after and given.after not in runs():
        raise SystemExit(f"--after={given.after}: expected the name of a run in {RUNS.name}")
    for name, folder in map(named_folder, given.runs):
        keep(name, folder, given)
    write_tables()


if __name__ == "__main__":
    main()
