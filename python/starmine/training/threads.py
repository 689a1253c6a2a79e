"""How many threads a network uses on a machine with other work."""

from __future__ import annotations

import os
import time
from pathlib import Path

import torch

_STAT = Path("/proc/stat")
_SHORTEST = 0.5  # seconds: the clock of /proc/stat ticks a hundred times a second
_IDLE = 0.25  # cores that other processes may use on a machine that counts as quiet


def own_cores() -> int:
    """The cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class FreeCores:
    """Finds how many cores other processes leave free.

    PyTorch's threads wait for each other in each operation. Two threads on two cores are therefore several times slower
    than one thread where another process uses one of the cores. Needs Linux's /proc/stat.

    Attributes:
        most: PyTorch's number of threads when this object was made.
    """

    def __init__(self) -> None:
        self.most = torch.get_num_threads()
        self._threads = 1 if _STAT.exists() else self.most
        self._before = self._times() if _STAT.exists() else None

    def threads(self) -> int:
        """The number of threads for the next update, 1 to `most`.

        It is 1 until half a second has been observed. On a system without /proc/stat it is always `most`.
        """
        if self._before is None:
            return self.most
        now = self._times()
        seconds, busy, own = (after - before for after, before in zip(now, self._before, strict=True))
        if seconds >= _SHORTEST:
            free = own_cores() - (busy - own) / seconds
            self._threads, self._before = max(1, min(self.most, int(free + _IDLE))), now
        return self._threads

    @staticmethod
    def _times() -> tuple[float, float, float]:
        """Seconds of the clock, of work on the cores of this process, and of this process's own work."""
        cores = {f"cpu{core}" for core in os.sched_getaffinity(0)}
        busy = 0
        for line in _STAT.read_text().splitlines():
            name, _, numbers = line.partition(" ")
            if name in cores:
                user, nice, system, _idle, _waiting, *interrupts = map(int, numbers.split()[:8])
                busy += user + nice + system + sum(interrupts)
        return time.perf_counter(), busy / os.sysconf("SC_CLK_TCK"), time.process_time()
