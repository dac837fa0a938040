"""Signals wait while variables are between two values.

XLA writes new values into the memory of the old ones: a run that has begun must end with its results in the variables.
A handler may raise, as Python's own for Ctrl-C does, so none is called before the run is over.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

_NAMES = "SIGINT SIGALRM SIGTERM SIGHUP SIGUSR1 SIGUSR2 SIGVTALRM SIGPROF SIGCHLD"
_SIGNALS = [getattr(signal, name) for name in _NAMES.split() if hasattr(signal, name)]


class Uninterrupted:
    """A context that Python's handlers of signals are called after, instead of inside."""

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
        for number in dict.fromkeys(self._came):
            signal.raise_signal(number)
