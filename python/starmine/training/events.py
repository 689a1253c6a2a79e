"""Scalars in TensorBoard's format.

TensorBoard's own writer writes in a thread, which prints a traceback of its own where the disk is full.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from starmine._util.durable import AppendedFile, new_run_id


class EventFile:
    """A new event file, to which scalars are appended.

    Args:
        folder: which exists.
        purge_step: from this step on, TensorBoard ignores what earlier event files of the folder hold.

    Raises:
        OSError: the file cannot be written.
    """

    def __init__(self, folder: Path, purge_step: int) -> None:
        seconds, nanoseconds = divmod(time.time_ns(), 10**9)
        now = seconds + nanoseconds / 1e9
        # TensorBoard reads the files of a folder in the order of their names.
        self._file = AppendedFile(folder / f"events.out.tfevents.{seconds:010}.{nanoseconds:09}.{new_run_id()}")
        self._writer = RecordWriter(self._file)
        try:
            self._write(Event(wall_time=now, file_version="brain.Event:2"))
            self._write(Event(wall_time=now, step=purge_step, session_log=SessionLog(status=SessionLog.START)))
        except OSError:
            self._file.close()
            raise

    def _write(self, event: Event) -> None:
        self._writer.write(event.SerializeToString())

    def add(self, scalars: Mapping[str, float], step: int) -> None:
        """Append scalars by name.

        Raises:
            OSError: they cannot be written.
        """
        values = [Summary.Value(tag=name, simple_value=value) for name, value in scalars.items()]
        self._write(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))

    def close(self) -> None:
        """Close the file."""
        self._file.close()
