"""Environment steps per second of `examples/ppo.py`, learning included, beside JaxMARL's IPPO on the same processor.

Both play 1,024 games of two players, 16 turns of each from update to update, and learn in two epochs. With JaxMARL's we
compare a network with two hidden layers of 256 and eight minibatches. JaxMARL learns from the turns of both seats, one
of which has no choice, so its minibatches have twice as many rows. Its training script is not in its package: it is
taken from a checkout. The network by colour, the script's default, has minibatches of 512 in one table with them, in
threads and in processes of one thread.

    python benchmarks/training_speed.py --jaxmarl-python .venv-jaxmarl/bin/python --jaxmarl-checkout ~/JaxMARL
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from measuring import ROOT, BenchmarkArgs, Case, Measure, Row, facts, markdown, run, spread, write

from starmine.training import matmul_dtype

WORKER = Path(__file__).with_name("jaxmarl_training_worker.py")
SCRIPT = Path("baselines", "IPPO", "ippo_ff_hanabi.py")
GAMES, TURNS, EPOCHS, MINIBATCHES, HIDDEN = 1024, 16, 2, 8, (256, 256)
START = 5.0  # seconds in which a process of PyTorch gets up to speed
PLAIN = {"network": "plain", "hidden": HIDDEN, "average": 0.0, "minibatch": GAMES * TURNS // MINIBATCHES}


def example() -> Any:
    """The training script as a module."""
    spec = spec_from_file_location("ppo", ROOT / "examples" / "ppo.py")
    assert spec
    assert spec.loader
    sys.modules["ppo"] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Ours:
    """A training run that measures where its time goes."""

    def __init__(self, threads: int, **given: Any) -> None:
        ppo = example()
        self.threads = threads
        torch.set_num_threads(threads)
        sizes = {"device": "cpu", "num_envs": GAMES, "rollout": TURNS, "epochs": EPOCHS}
        self.ppo = ppo.PPO(ppo.Args(**sizes | given))
        self.stepping = self.learning = self.total = 0.0
        for group in self.ppo.games.groups:
            group.receive = self.timed(group.receive, "stepping")
        self.ppo.learn = self.timed(self.ppo.learn, "learning")
        self.ppo.update(0.0)
        self.stepping = self.learning = 0.0

    def timed(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """The function, which adds the seconds that its callers wait for it to an attribute."""

        def call(*arguments: Any) -> Any:
            start = time.perf_counter()
            found = function(*arguments)
            setattr(self, name, getattr(self, name) + time.perf_counter() - start)
            return found

        return call

    def measure(self, seconds: float) -> float:
        """Environment steps per second."""
        torch.set_num_threads(self.threads)
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            self.ppo.update(0.0)
            steps += self.ppo.action.numel()
        took = time.perf_counter() - start
        self.total += took
        return steps / took


def ways(cores: int) -> list[tuple[str, int, str, dict[str, Any]]]:
    """What is measured in this process: its name, threads, dtype of products, and options of the script."""
    counts = sorted({1, cores})
    on_gpu = {"device": "cuda", "num_envs": None, "rollout": 16}
    gpu = [
        (f"network by colour ({widths[0]}, {widths[1]}) on a GPU", cores, "bfloat16", {**on_gpu, "hidden": widths})
        for widths in ((96, 256), (192, 512))
    ]
    return [
        *(gpu if torch.cuda.is_available() else []),
        *(("plain network", threads, "float32", PLAIN) for threads in counts),
        ("plain network", cores, "bfloat16", PLAIN),
        *(("network by colour", threads, "float32", {}) for threads in counts),
        ("network by colour", cores, "bfloat16", {}),
    ]


def processes(count: int, seconds: float) -> float:
    """Environment steps per second of as many processes, each with one thread and its share of the games."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--num-threads", 1, "--num-envs", GAMES // count, "--minibatch", 512 // count]
        script = ROOT / "examples" / "ppo_distributed.py"
        command = ["torch.distributed.run", "--standalone", "--nproc-per-node", count, script]
        budget = ["--minutes", (seconds + START) / 60, "--final-games", 10, "--out", folder]
        words = [sys.executable, "-m", *map(str, [*command, *options, *budget])]
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}\n{done.stderr[-4000:]}")
        rows = [json.loads(line) for line in Path(folder, "log.jsonl").read_text(encoding="utf-8").splitlines()]
    late = [row for row in rows if row["seconds"] > START]
    return float(np.median([row["steps_per_second"] for row in late]))


def theirs(python: Path, checkout: Path) -> tuple[str, Measure] | None:
    """JaxMARL in another process on all cores; None where it does not start."""
    sizes = [GAMES, TURNS, EPOCHS, MINIBATCHES, *HIDDEN]
    command = [str(python), str(WORKER), str(checkout / SCRIPT), *map(str, sizes)]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert worker.stdin
    assert worker.stdout
    requests, answers = worker.stdin, worker.stdout
    print("compiling JaxMARL's training", flush=True)
    release = answers.readline().strip()
    if not release:
        return None

    def measure(seconds: float) -> float:
        print(seconds, file=requests, flush=True)
        return float(answers.readline())

    return release, measure


@dataclass
class Args(BenchmarkArgs):
    """The command line."""

    seconds: float = 20.0
    jaxmarl_python: Path | None = None
    """the interpreter of JaxMARL's environment"""
    jaxmarl_checkout: Path | None = None
    """its repository, for the training script"""


def main() -> None:
    """Measure, print the table and write it."""
    given = tyro.cli(Args, description=__doc__)
    wanted = given.effort
    cores = os.cpu_count() or 1
    ours = {
        (what, threads, dtype): Ours(threads, dtype=dtype, **options) for what, threads, dtype, options in ways(cores)
    }
    cases = [
        Case(f"starmine, {what}", 2, run.measure, GAMES, dtype, threads) for (what, threads, dtype), run in ours.items()
    ]
    if cores > 1:
        what, dtype = f"starmine, network by colour, {cores} processes", matmul_dtype("auto", torch.device("cpu"))
        cases.append(Case(what, 2, partial(processes, cores), GAMES, str(dtype).removeprefix("torch."), 1))
    found = None
    if given.jaxmarl_python and given.jaxmarl_checkout and (given.jaxmarl_checkout / SCRIPT).exists():
        found = theirs(given.jaxmarl_python, given.jaxmarl_checkout)
    if found:
        cases.append(Case(f"JaxMARL {found[0]}, its IPPO", 2, found[1], GAMES, "float32", cores))
    else:
        print("JaxMARL is left out: it is not installed, or no checkout was given", flush=True)
    rows = run(cases, wanted)
    about = facts(wanted) | {"torch": torch.__version__}
    sections = [
        f"Environment steps per second of training: {GAMES:,} games, {TURNS} turns an update, {EPOCHS} epochs; plain "
        f"networks and JaxMARL's: {MINIBATCHES} minibatches, hidden layers {' and '.join(map(str, HIDDEN))}; networks "
        "by colour: minibatches of 512.",
        table(rows, ours),
    ]
    write("training", wanted, about, sections, rows)


def table(rows: Sequence[Row], ours: Mapping[tuple[str, int, str], Ours]) -> str:
    """A line for each way to train."""
    lines = []
    for row in rows:
        mine = ours.get((row.what.removeprefix("starmine, "), row.threads or 0, row.dtype or ""))
        shares = [f"{mine.stepping / mine.total:.1%}", f"{mine.learning / mine.total:.1%}"] if mine else ["", ""]
        lines.append([row.what, row.dtype, row.threads, f"{row.median:,.0f}", spread(row), *shares])
    heads = ("what", "products in", "threads", "steps/s (median)", "spread", "of it in the environment", "in learning")
    return markdown(heads, lines)


if __name__ == "__main__":
    main()
