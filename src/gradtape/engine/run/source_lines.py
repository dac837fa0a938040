"""Source locations in the user's program: captured cheaply, resolved to file, line and function later."""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType
from typing import Any

from ...core.protocols import Line

LineReference = tuple[CodeType, int]  # a code object and an instruction offset, which `line_at` resolves

RULES = "<gradtape rule>"  # the file of generated rules
_LIBRARIES = (
    "gradtape.", "keras_gradtape.", "keras.", "numpy.", "scipy.", "torch.", "jax.", "pandas.", "sklearn.",
    "contextlib.", "optree.",
)  # fmt: skip
_AUTOGRAPH = ("gradtape.autograph.", "malt.")
_INSTALLED = {"site-packages", "dist-packages"}  # folders of libraries
_is_user: dict[str, bool] = {RULES: False}  # by file: whether it is user code rather than a library's


def declare_library(file: str) -> None:
    """Declares that generated code of this file name is not user code."""
    _is_user[file] = False


def here(depth: int = 2) -> LineReference:
    """Returns a reference to the innermost line of user code, at least `depth` calls up the stack."""
    frame = users_frame(depth + 1)
    return frame.f_code, frame.f_lasti


def users_frame(depth: int, _frame: Any = sys._getframe, _known: Any = _is_user.get) -> Any:
    """Returns the innermost frame of user code, at least `depth` calls up the stack."""
    frame = _frame(depth)
    while True:
        user = _known(frame.f_code.co_filename)
        if user or (user is None and _learn(frame.f_code.co_filename, frame.f_globals)):
            return frame
        above = frame.f_back
        if above is None:
            return frame
        frame = above


def own_caller(depth: int = 2) -> FrameType | None:
    """Returns the frame `depth - 1` calls up if its code is the user's own and belongs to no script; otherwise None.

    AutoGraph calls what converted code calls, so its frames do not count.
    """
    frame: Any = sys._getframe(depth)
    while f"{frame.f_globals.get('__name__', '')}.".startswith(_AUTOGRAPH):
        frame = frame.f_back
    file, names = line_at((frame.f_code, frame.f_lasti))[0], frame.f_globals
    if names.get("__name__") == "__main__" and "__file__" in names:
        return None
    if not _learn(frame.f_code.co_filename, names) or file.startswith("<doctest "):
        return None
    return None if _INSTALLED.intersection(file.split(os.sep)) else frame


def is_called_by_gradtape(depth: int = 2) -> bool:
    """Whether the method `depth - 1` calls up was called by gradtape rather than by user code, or by AutoGraph for it.

    Only gradtape's own functions may read the value of a traced tensor: they take tensors as sizes and axes.
    """
    frame: Any = sys._getframe(depth)
    while frame.f_globals.get("__name__") == "gradtape.state.variable":  # `bool(v)` reads the value of `v`
        frame = frame.f_back
    name = f"{frame.f_globals.get('__name__', '')}."
    is_ours = name.startswith(("gradtape.", "gradtape_tensorflow.", "keras_gradtape."))
    return is_ours and not name.startswith("gradtape.autograph.")


def _learn(file: str, names: dict[str, Any]) -> bool:
    user = not f"{names.get('__name__', '')}.".startswith(_LIBRARIES)
    if not file.startswith("<"):  # names such as "<stdin>" are not unique, so the result is not cached
        _is_user[file] = user
    return user


def line_at(reference: LineReference | Line) -> Line:
    """Resolves a reference to a source line."""
    if len(reference) == 3:  # already resolved
        return reference
    code, instruction = reference
    number = code.co_firstlineno
    for start, stop, line in code.co_lines():
        if start <= instruction < stop and line is not None:
            number = line
    return code.co_filename, number, code.co_name


def caller(depth: int = 2) -> Line:
    """Returns the innermost line of user code, at least `depth` calls above the caller."""
    frame = users_frame(depth + 2)
    code = frame.f_code
    return code.co_filename, frame.f_lineno or code.co_firstlineno, code.co_name
