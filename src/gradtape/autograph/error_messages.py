"""Adds the user's source lines to the messages of errors raised in traced functions.

An error propagates through the converted functions that called one another; each adds its line of the user's source.
The outermost raises an error of the same class with all of these lines before the message.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from types import CodeType, FrameType

from ..core.errors import OpError
from ..core.tracebacks import own_places


class Origin:
    """The origin of an error: the user's lines, innermost first, and the original message."""

    def __init__(self, error: Exception) -> None:
        self.lines: list[str] = []
        self.message = f"{type(error).__name__}: {error}"

    def passed(self, error: Exception, code: CodeType) -> None:
        """Adds the line at which the error left the converted function with the code."""
        innermost = not self.lines
        parts = set(map(id, _parts(code)))
        for frame, line in reversed(_frames(error)):
            if id(frame.f_code) in parts:
                self.lines.append(_format_frame(frame, line, "  *"))
                return
            if innermost and _is_users(frame):
                self.lines.append(_format_frame(frame, line))

    def explained(self, error: Exception) -> Exception:
        """Returns an error of the same class with the user's lines in its message."""
        indented = "\n".join(f"    {line}" for line in self.message.split("\n"))
        message = "\n".join(["in user code:", "", *reversed(self.lines), "", indented, ""])
        again = _with_message(error, message)
        again.__cause__, again.__suppress_context__ = error.__cause__, True
        again.has_lines = True  # type: ignore[attr-defined]
        return again.with_traceback(error.__traceback__)


def _frames(error: BaseException) -> list[tuple[FrameType, int]]:
    """Returns the frames of the error's traceback and their lines, outermost first."""
    frames = []
    entry = error.__traceback__
    while entry is not None:
        frames.append((entry.tb_frame, entry.tb_lineno))
        entry = entry.tb_next
    return frames


def _parts(code: CodeType) -> Iterator[CodeType]:
    """Yields the code of a function and of the functions that it defines."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)


def _is_users(frame: FrameType) -> bool:
    return not frame.f_code.co_filename.startswith(own_places())


def _format_frame(frame: FrameType, line: int, mark: str = "") -> str:
    code = frame.f_code
    text = linecache.getline(code.co_filename, line, frame.f_globals).strip() or "<source unavailable>"
    return f'    File "{code.co_filename}", line {line}, in {code.co_name}{mark}\n        {text}'


def _with_message(error: Exception, message: str) -> Exception:
    kind = type(error)
    if kind is KeyError:  # whose message would be shown as a literal, on one line
        from malt.pyct.error_utils import MultilineMessageKeyError

        again: Exception = MultilineMessageKeyError(message, error.args[0] if error.args else None)
    else:
        again = kind.__new__(kind, message)
        again.args = (message,)
    vars(again).update(vars(error))
    if isinstance(again, OpError):
        again.message = message
    if message not in str(again):  # a class that composes its own message
        error.add_note(message)
        return error
    return again


def note_propagation(error: Exception, code: CodeType) -> None:
    """Records that `error` propagates out of the converted function with the code."""
    origin = getattr(error, "autograph_origin", None)
    if origin is None:
        origin = error.autograph_origin = Origin(error)  # type: ignore[attr-defined]
    origin.passed(error, code)


def explain_error(error: Exception) -> Exception:
    """Returns the error to raise to the caller of a converted function."""
    origin = getattr(error, "autograph_origin", None)
    return error if origin is None else origin.explained(error)


def of_the_user(error: Exception) -> Exception:
    """Adds the user's lines to the message of an error raised in an unconverted function.

    Signals internal to the tracer, and errors that have their lines already, are returned unchanged.
    """
    if getattr(error, "is_signal", False) or hasattr(error, "autograph_origin"):
        return error
    origin = Origin(error)
    for frame, line in reversed(_frames(error)):
        if _is_users(frame):
            origin.lines.append(_format_frame(frame, line, "  *"))
    error.autograph_origin = origin  # type: ignore[attr-defined]
    return origin.explained(error) if origin.lines else error
