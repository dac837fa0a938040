"""Adds the user's source lines to the messages of errors raised in traced functions.

An error propagates through the converted functions that called one another; each adds its line of the user's source.
The outermost raises an error of the same class with all of these lines before the message.
"""

from __future__ import annotations

from typing import Any

from ..core.errors import OpError
from ..core.tracebacks import GENERATED, own_places


def _frames(error: BaseException) -> Any:
    """Returns the frames of the error's traceback, outermost first."""
    import traceback  # deferred: a large import that most programs never need

    return traceback.extract_tb(error.__traceback__)



class Origin:
    """The origin of an error: the user's lines, innermost first, and the original message."""

    def __init__(self, error: Exception) -> None:
        self.lines: list[str] = []
        self.message = f"{type(error).__name__}: {error}"

    def passed(self, error: Exception, source_map: dict[Any, Any]) -> None:
        """Adds the line of a converted function that the error left, mapped to the user's source by `source_map`."""
        from malt.pyct.origin_info import LineLocation

        innermost = not self.lines
        for frame in reversed(_frames(error)):
            origin = source_map.get(LineLocation(frame.filename, frame.lineno))
            if origin is not None:
                where = origin.loc
                self.lines.append(_format_frame(where.filename, where.lineno, f"{origin.function_name}  *", origin[2]))
                return
            if innermost and _is_users(frame.filename):
                self.lines.append(_format_frame(frame.filename, frame.lineno, frame.name, frame.line))

    def explained(self, error: Exception) -> Exception:
        """Returns an error of the same class with the user's lines in its message."""
        indented = "\n".join(f"    {line}" for line in self.message.split("\n"))
        message = "\n".join(["in user code:", "", *reversed(self.lines), "", indented, ""])
        again = _with_message(error, message)
        again.__cause__, again.__suppress_context__ = error.__cause__, True
        again.has_lines = True  # type: ignore[attr-defined]
        return again.with_traceback(error.__traceback__)


def _is_users(filename: str) -> bool:
    return not filename.startswith(own_places()) and GENERATED not in filename


def _format_frame(filename: str, line: int | None, function: str, code: str | None) -> str:
    return f'    File "{filename}", line {line}, in {function}\n        {(code or "<source unavailable>").strip()}'


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


def note_propagation(error: Exception, source_map: dict[Any, Any]) -> None:
    """Records that `error` propagates out of a converted function."""
    origin = getattr(error, "autograph_origin", None)
    if origin is None:
        origin = error.autograph_origin = Origin(error)  # type: ignore[attr-defined]
    origin.passed(error, source_map)


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
    for frame in reversed(_frames(error)):
        if _is_users(frame.filename):
            origin.lines.append(_format_frame(frame.filename, frame.lineno, f"{frame.name}  *", frame.line))
    error.autograph_origin = origin  # type: ignore[attr-defined]
    return origin.explained(error) if origin.lines else error
