"""A line on standard error about work that takes long: a compilation, a memory plan, a large buffer.

On a terminal the line appears after two seconds, counts the seconds, and stays. Elsewhere it is written once, after 20
seconds, so that a log shows why nothing else happens. `GRADTAPE_PROGRESS=0` turns it off. At most one line is shown at
a time; the line of the outer work shows what work inside it does.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from ...core.locks import fork_safe_lock

TERMINAL_DELAY_SECONDS = 2.0
PLAIN_DELAY_SECONDS = 20.0
_REFRESH_SECONDS = 0.5
_ERASE = "\r\x1b[K"  # back to the first column, and clear the line

_shown = fork_safe_lock()  # held by the one piece of work whose line is on the terminal
_of_thread = threading.local()


class Progress:
    """Work that is under way; `total` is the number of its steps, if known."""

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what, self.total, self.done = what, total, 0
        self._began = perf_counter()
        self._ended = threading.Event()

    def advance(self, count: int = 1) -> None:
        """Notes that `count` more steps are done."""
        self.done += count

    def line(self) -> str:
        """Returns the text of the line.

        >>> Progress("checking programs", 3).line()
        'gradtape: checking programs, 0 of 3, 0 s'
        """
        steps = f", {self.done} of {self.total}" if self.total else ""
        return f"gradtape: {self.what}{steps}, {perf_counter() - self._began:.0f} s"

    def end(self) -> None:
        """Ends the work, and its line."""
        self._ended.set()

    def show(self) -> None:
        """Waits until the work has taken long or has ended; shows the line until it ends."""
        is_terminal = _is_terminal()
        if self._ended.wait(TERMINAL_DELAY_SECONDS if is_terminal else PLAIN_DELAY_SECONDS):
            return
        if not is_terminal:
            _write(f"gradtape: {self.what} takes longer than {PLAIN_DELAY_SECONDS:.0f} s\n")
        elif _shown.acquire(blocking=False):
            try:
                self._refresh()
            finally:
                _shown.release()

    def _refresh(self) -> None:
        import shutil  # imported lazily: few programs take so long

        width = shutil.get_terminal_size().columns - 1
        while not self._ended.wait(_REFRESH_SECONDS):
            _write(_ERASE + self.line()[:width])
        _write(f"{_ERASE}{self.line()[:width]}\n")


@contextmanager
def reporting(what: str, total: int | None = None) -> Iterator[Progress]:
    """Shows a line about the work in the block if it takes long; `what` is a participle, as in "compiling f"."""
    outer: Progress | None = getattr(_of_thread, "current", None)
    if outer is not None:
        before, outer.what = outer.what, what
        try:
            yield Progress(what, total)
        finally:
            outer.what = before
        return
    if os.environ.get("GRADTAPE_PROGRESS") == "0":
        yield Progress(what, total)
        return
    progress = Progress(what, total)
    display = threading.Thread(target=progress.show, name="gradtape-progress", daemon=True)
    try:
        _of_thread.current = progress
        display.start()
        yield progress
    finally:
        _of_thread.current = None
        progress.end()
        if _shown.locked() and display.is_alive():  # its line ends before the program writes the next one
            display.join()


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # closed, or None
        return False


def _write(text: str) -> None:
    """Writes to standard error; a progress line is not worth an error."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        pass
