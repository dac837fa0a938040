"""The events of a profiling session, and the files that they are written to."""

from __future__ import annotations

import gzip
import json
import os
import socket
import threading
import time
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

from ...core import modes
from ...core.protocols import FunctionLike, OpLike, Outputs
from ...core.protos.records import encoded
from ...core.tensor import Tensor

_PICOSECONDS = 1000  # in a nanosecond


class Event(NamedTuple):
    """A period of time in a thread. Times are those of `time.time_ns`."""

    thread: int
    name: str
    start: int
    end: int
    stats: dict[str, Any]


class Timeline(modes.Mode):
    """Collects events while it is active: ops, calls of functions, and the scopes of `Trace`.

    Ops are reported when they end. The event of an op starts where the previous event of its thread ended, so that it
    includes the Python code that led to the op.
    """

    def __init__(self, ops: bool = True) -> None:
        self.start = time.time_ns()
        self.events: list[Event] = []
        self.threads: dict[int, str] = {}
        self._ops = ops
        self._last: dict[int, int] = {}

    def op_finished(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs) -> None:
        """Adds the event of an op."""
        if self._ops:
            self._add(op.name, self._last.get(threading.get_ident(), self.start), {})

    def function_called(
        self, function: FunctionLike, args: tuple[Any, ...], kwargs: dict[str, Any], result: object
    ) -> None:
        """Adds the event of a call of a `tf.function`."""
        name = getattr(function, "__name__", type(function).__name__)
        self._add(f"tf.function {name}", self._last.get(threading.get_ident(), self.start), {})

    def scope_entered(self) -> int:
        """Notes that a scope begins, and returns the time."""
        now = time.time_ns()
        self._last[threading.get_ident()] = now
        return now

    def scope_left(self, name: str, start: int, stats: dict[str, Any]) -> None:
        """Adds the event of a scope."""
        self._add(name, start, stats)

    def _add(self, name: str, start: int, stats: dict[str, Any]) -> None:
        here = threading.current_thread()
        number, now = threading.get_ident(), time.time_ns()
        self.threads.setdefault(number, here.name)
        self.events.append(Event(number, name, start, now, stats))
        self._last[number] = now

    def write(self, logdir: str) -> str:
        """Writes the files of TensorBoard's profile plugin, and returns their folder."""
        run = time.strftime("%Y_%m_%d_%H_%M_%S", time.localtime(self.start / 1e9))
        xspace = self.xspace()
        for i in count():  # another session of this host may have started in the same second
            folder = os.path.join(logdir, "plugins", "profile", f"{run}_{i}" if i else run)
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, socket.gethostname())
            try:
                with open(f"{path}.xplane.pb", "xb") as file:
                    file.write(xspace)
                break
            except FileExistsError:
                continue
        with gzip.open(f"{path}.trace.json.gz", "wt") as text:
            json.dump({"displayTimeUnit": "ns", "traceEvents": self.trace_events()}, text)
        return folder

    def trace_events(self) -> list[dict[str, Any]]:
        """Returns the events in the format of Chrome's trace viewer and Perfetto."""
        named: list[dict[str, Any]] = [
            {"ph": "M", "pid": 1, "tid": i, "name": "thread_name", "args": {"name": self.threads[number]}}
            for i, number in enumerate(self.threads)
        ]
        lines = {number: i for i, number in enumerate(self.threads)}
        for event in self.events:
            start, length = (event.start - self.start) / 1e3, (event.end - event.start) / 1e3  # microseconds
            stats = {key: str(value) for key, value in event.stats.items()}
            named.append(
                {
                    "ph": "X",
                    "pid": 1,
                    "tid": lines[event.thread],
                    "name": event.name,
                    "ts": start,
                    "dur": length,
                    "args": stats,
                }
            )
        return named

    def xspace(self) -> bytes:
        """Returns the events as a serialized `XSpace`, TensorFlow's format of profiles."""
        names = {name: i for i, name in enumerate(dict.fromkeys(event.name for event in self.events), 1)}
        keys = {key: i for i, key in enumerate(dict.fromkeys(key for event in self.events for key in event.stats), 1)}
        lines = []
        for i, (number, title) in enumerate(self.threads.items(), 1):
            found = [
                {
                    "metadata_id": names[event.name],
                    "offset_ps": (event.start - self.start) * _PICOSECONDS,
                    "duration_ps": (event.end - event.start) * _PICOSECONDS,
                    "stats": [_stat(keys[key], value) for key, value in event.stats.items()],
                }
                for event in self.events
                if event.thread == number
            ]
            lines.append({"id": i, "name": title, "timestamp_ns": self.start, "events": found})
        plane = {
            "id": 1,
            "name": "/host:CPU",
            "lines": lines,
            "event_metadata": {i: {"id": i, "name": name} for name, i in names.items()},
            "stat_metadata": {i: {"id": i, "name": key} for key, i in keys.items()},
        }
        return encoded("tensorflow.profiler.XSpace", {"planes": [plane], "hostnames": [socket.gethostname()]})


def _stat(key: int, value: Any) -> dict[str, Any]:
    if isinstance(value, int):  # and bool
        return {"metadata_id": key, "int64_value": int(value)}
    if isinstance(value, float):
        return {"metadata_id": key, "double_value": value}
    return {"metadata_id": key, "str_value": str(value)}
