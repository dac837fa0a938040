"""Where in the user's program something happens: file, line and function, found cheaply and written out later."""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any

Line = tuple[str, int, str]  # file, line number, function
LineReference = tuple[CodeType, int]  # a function's code and the instruction in it: what a source line is found from

origins: dict[str, dict[int, Line]] = {}  # by file and line of source that was generated: the user's line it stands for

RULES = "<gradtape rule>"  # the file of generated rules
_LIBRARIES = ("gradtape.", "keras_gradtape.", "keras.", "numpy.", "contextlib", "optree.")
_is_user: dict[str, bool] = {RULES: False}  # by file: whether its code is the user's, not a library's


def here(depth: int = 2) -> LineReference:
    """The innermost source line of the user's code, `depth` calls or more above this one."""
    frame = users_frame(depth + 1)
    return frame.f_code, frame.f_lasti


def users_frame(depth: int, _frame: Any = sys._getframe, _known: Any = _is_user.get) -> Any:
    """The innermost frame of the user's code, `depth` calls or more above this one."""
    frame = _frame(depth)
    while True:
        user = _known(frame.f_code.co_filename)
        if user or (user is None and _learn(frame.f_code.co_filename, frame.f_globals)):
            return frame
        above = frame.f_back
        if above is None:
            return frame
        frame = above


def _learn(file: str, names: dict[str, Any]) -> bool:
    user = not str(names.get("__name__", "")).startswith(_LIBRARIES)
    if not file.startswith("<"):  # what was not read from a file may have any name
        _is_user[file] = user
    return user


def line_at(reference: LineReference | Line) -> Line:
    """The source line that is meant; for generated source, the user's line it stands for."""
    if len(reference) == 3:  # found already
        return reference
    code, instruction = reference
    number = code.co_firstlineno
    for start, stop, line in code.co_lines():
        if start <= instruction < stop and line is not None:
            number = line
    return _users_line(code, number)


def _users_line(code: CodeType, number: int) -> Line:
    file = code.co_filename
    known = origins.get(file)
    if known is not None:
        nearest = max((n for n in known if n <= number), default=None)
        if nearest is not None:
            return known[nearest]
    return file, number, code.co_name


def caller(depth: int = 2) -> Line:
    """The innermost source line of the user's code, `depth` calls or more above the one that asks."""
    frame = users_frame(depth + 2)
    code = frame.f_code
    number = frame.f_lineno or code.co_firstlineno
    return _users_line(code, number) if code.co_filename in origins else (code.co_filename, number, code.co_name)
