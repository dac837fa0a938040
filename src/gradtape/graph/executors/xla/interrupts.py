"""An interrupt from the keyboard waits while variables are between two values.

XLA writes new values into the memory of the old ones: a run that has begun must end with its results in the variables.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType


class Uninterrupted:
    """A context that `KeyboardInterrupt` is raised after, instead of inside; another handler of the signal is left."""

    def __enter__(self) -> None:
        self._came = False
        self._waits = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if self._waits:
            signal.signal(signal.SIGINT, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._waits:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if self._came:
                raise KeyboardInterrupt
