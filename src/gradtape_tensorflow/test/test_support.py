"""Test helpers: threads whose errors fail the test, and captured streams."""

from __future__ import annotations

import os
import tempfile
import threading
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class CheckedThread(threading.Thread):
    """A thread for a test: if its target raises, `join` fails the test."""

    def __init__(self, case: unittest.TestCase, target: Callable[..., Any], args: Any, kwargs: Any) -> None:
        super().__init__(daemon=True)
        self._case = case
        self._call = (target, args, kwargs)
        self._error: Exception | None = None

    def run(self) -> None:
        """Runs the target and stores its exception."""
        target, args, kwargs = self._call
        try:
            target(*args, **kwargs)
        except Exception as error:
            self._error = error

    def join(self, timeout: float | None = None) -> None:
        """Waits for the end; fails if the target has raised."""
        super().join(timeout)
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error}")


class Writes:
    """The text written to a stream."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._text: str | None = None

    def end(self) -> None:
        """Ends the capture."""
        self._text = self.contents()

    def contents(self) -> str:
        """Returns everything written so far."""
        if self._text is not None:
            return self._text
        self._file.flush()
        self._file.seek(0)
        return self._file.read().decode()


@contextmanager
def captured(stream: Any) -> Iterator[Writes]:
    """Context manager: captures what is written to the stream, or to its file descriptor."""
    stream.flush()
    number = stream.fileno()
    with tempfile.TemporaryFile() as file:
        writes = Writes(file)
        before = os.dup(number)
        os.dup2(file.fileno(), number)
        try:
            yield writes
        finally:
            stream.flush()
            os.dup2(before, number)
            os.close(before)
            writes.end()
