"""Tracebacks show the user's frames: those of gradtape are removed where an error leaves the API.

A function at the boundary of the API catches what leaves it, calls `hide_frames`, and raises the error again by a bare
`raise`: unlike `raise error`, it adds no entry for the function itself. A `try` costs nothing until something is
raised.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache, wraps
from importlib.util import find_spec
from types import FrameType, FunctionType, TracebackType
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")
_C = TypeVar("_C", bound=type)

# Frames of these packages are removed below gradtape's: its kernels call them, and users did not.
_CALLED = sys.stdlib_module_names | set("array_api_compat jax jaxlib ml_dtypes numpy optree scipy torch".split())


CONVERTED = ("converted by AutoGraph",)  # a constant in the code of converted functions


class _Filtering:
    """The setting of `tf.debugging.enable_traceback_filtering`."""

    enabled = True


filtering = _Filtering()
_is_known: dict[str, bool] = {}  # by file: whether it is gradtape's


def hide_frames(error: BaseException) -> None:
    """Removes the frames of gradtape from the traceback of an error that is about to leave the API.

    An error that gradtape has handled is hidden with them, and the frames of converted code are once the message of the
    error `has_lines` of the user's source in their place.
    """
    if not filtering.enabled or getattr(error, "is_signal", False):
        return
    has_lines = getattr(error, "has_lines", False)
    error.__traceback__ = without_ours(error.__traceback__, has_lines)
    cause, context = error.__cause__, error.__context__
    if cause is not None:
        cause.__traceback__ = without_ours(cause.__traceback__, has_lines)
    while context is not None and not error.__suppress_context__:
        context.__traceback__ = without_ours(context.__traceback__, has_lines)
        if context.__traceback__ is not None:
            break
        context = error.__context__ = context.__context__


def without_ours(trace: TracebackType | None, hides_converted: bool = False) -> TracebackType | None:
    """Returns a traceback without gradtape's frames."""
    kept = []
    is_below = True  # below a frame of gradtape: the boundary itself is one
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if _is_ours(file) or (hides_converted and CONVERTED in trace.tb_frame.f_code.co_consts):
            is_below = True
        elif not is_below or not _is_called(trace.tb_frame):
            is_below = False
            kept.append(trace)
        trace = trace.tb_next
    following = None
    for trace in reversed(kept):
        trace.tb_next = following
        following = trace
    return following


def _is_called(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in _CALLED


def _is_ours(file: str) -> bool:
    known = _is_known.get(file)
    if known is None:
        known = _is_known[file] = file.startswith(own_places())
    return known


@cache
def own_places() -> tuple[str, ...]:
    """Returns how the names of gradtape's files begin, and of those that it generates: "<gradtape ...>"."""
    source = os.path.dirname(os.path.dirname(os.path.dirname(_is_ours.__code__.co_filename)))
    folders = [os.path.join(source, name) for name in ("gradtape", "gradtape_tensorflow", "keras_gradtape")]
    malt = find_spec("malt")  # AutoGraph
    if malt is not None:
        # In code that PyInstaller has frozen, the names of files are relative.
        folders += malt.submodule_search_locations or [] if os.path.isabs(source) else ["malt"]
    return ("<gradtape ", *(os.path.join(folder, "") for folder in folders))


def at_boundary(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorator: errors leave the function without the frames of gradtape. For functions that need not be fast."""

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            hide_frames(error)
            raise

    if getattr(function, "__annotate__", None) is None:  # assigned annotations, which `wraps` lacks from Python 3.14 on
        call.__annotations__ = getattr(function, "__annotations__", {})
    return call


def bounded(kind: _C) -> _C:
    """Decorator: `at_boundary` for the constructor, calls and public methods of a class that need not be fast.

    Methods that take foreign arguments stay as they are: they hide frames, and libraries register for the very method.
    """
    for name, method in list(vars(kind).items()):
        if not name.startswith("_") or name in ("__init__", "__call__"):
            function = method.__func__ if isinstance(method, staticmethod | classmethod) else method
            if type(function) is FunctionType and not hasattr(function, "takes_foreign_arguments"):
                front = at_boundary(function)
                setattr(kind, name, front if function is method else type(method)(front))
    return kind
