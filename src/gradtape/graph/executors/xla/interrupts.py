"""Defers signals while a run owns the buffers of variables.

XLA writes new values into donated buffers: once a run has begun, its results must reach the variables. A signal
handler may raise, as Python's own for Ctrl-C does, so handlers run only after the run.
"""

from __future__ import annotations

import signal
import threading
from contextlib import ExitStack
from types import FrameType, TracebackType
from typing import Any

_NAMES = "SIGINT SIGALRM SIGTERM SIGHUP SIGUSR1 SIGUSR2 SIGVTALRM SIGPROF SIGCHLD"
_SIGNALS = [getattr(signal, name) for name in _NAMES.split() if hasattr(signal, name)]


class Uninterrupted:
    """A context manager that defers Python's signal handlers to its end (main thread only)."""

    def __enter__(self) -> None:
        self._came: list[int] = []
        self._handlers: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                handler = signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came.append(number)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        with ExitStack() as stack:  # which raises the first signal first, and all of them even if a handler raises
            for number in reversed(dict.fromkeys(self._came)):
                stack.callback(signal.raise_signal, number)
