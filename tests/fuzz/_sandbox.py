"""Runs calls that may hang, raise or write a file, and reports what they did."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gradtape as tf

SECONDS = 8.0  # seconds of CPU time, after which a load counts as endless, independently of machine load
_WAITING_SECONDS = 60.0  # seconds after which a waiting call counts as endless


class Hang(BaseException):
    """The time limit was exceeded."""


class Outcome:
    """The outcome of a call: a value, a documented error, or a description of a problem."""

    def __init__(self) -> None:
        self.value: Any = None
        self.error: Exception | None = None
        self.problem: str | None = None


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise Hang

    timers = {signal.ITIMER_PROF: (signal.SIGPROF, seconds), signal.ITIMER_REAL: (signal.SIGALRM, _WAITING_SECONDS)}
    before = {number: signal.signal(number, stop) for number, _ in timers.values()}
    for timer, (_, limit) in timers.items():
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for timer in timers:
            signal.setitimer(timer, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def is_documented(error: Exception) -> bool:
    """Returns whether readers of files may raise this error: TensorFlow's, the system's, or a plain ValueError."""
    return isinstance(error, tf.errors.OpError | OSError | NotImplementedError) or type(error) is ValueError


def attempt(act: Callable[[], Any], documented: Callable[[Exception], bool] = is_documented) -> Outcome:
    """Calls a function and returns the outcome."""
    outcome = Outcome()
    try:
        with _time_limit(SECONDS):
            outcome.value = act()
    except Hang:
        outcome.problem = f"did not end within {SECONDS:.0f} s"
    except Exception as error:
        outcome.error = error
        if not documented(error):
            outcome.problem = f"raised {type(error).__name__}: {str(error)[:300]}"
        elif not str(error):
            outcome.problem = f"raised {type(error).__name__} without a message"
    return outcome


@contextmanager
def folder() -> Iterator[Path]:
    """Context manager: a new current folder, two levels below one that is monitored for files named MARK."""
    top = Path(tempfile.mkdtemp())
    inner = top / "a" / "b"
    inner.mkdir(parents=True)
    before = os.getcwd()
    os.chdir(inner)
    try:
        yield inner
    finally:
        os.chdir(before)
        shutil.rmtree(top, ignore_errors=True)


def marks(inner: Path) -> list[str]:
    """Returns a message for every file that only text from a damaged file can have created."""
    return [f"made the file {path}" for path in [*inner.parents[1].rglob("*MARK*"), Path("/MARK")] if path.exists()]
