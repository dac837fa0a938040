"""Defers signals while a run owns the buffers of variables.

XLA writes new values into donated buffers: once a run has begun, its results must reach the variables. A signal
handler may raise, as Python's own for Ctrl-C does, so handlers run only after the run.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

_NAMES = "SIGINT SIGALRM SIGTERM SIGHUP SIGUSR1 SIGUSR2 SIGVTALRM SIGPROF SIGCHLD"
_SIGNALS = [getattr(signal, name) for name in _NAMES.split() if hasattr(signal, name)]


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A context that defers Python's signal handlers to its end (main thread only)."""
    pending: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()
    handlers = {n: handler for n in _SIGNALS if is_main and callable(handler := signal.getsignal(n))}
    try:
        for number in handlers:
            signal.signal(number, lambda number, frame: pending.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if pending:
            with ExitStack() as stack:  # which raises the first signal first, and all even if a handler raises
                for number in reversed(dict.fromkeys(pending)):
                    stack.callback(signal.raise_signal, number)
