"""Explains None gradients to people who type their program: the first None of each cause, in one line.

Only in interactive sessions, and only for the user's own calls of `gradient`: scripts and libraries compute None
gradients on purpose. `GRADTAPE_HINTS=0` turns the lines off.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any
from weakref import WeakValueDictionary

from ...core import modes
from ...engine.run.source_lines import own_caller
from ...engine.tape.tape import Tape
from ..records.never_raises import never_raises
from .explain import reasons_for
from .messages import names_of_sources
from .reasons import Cause
from .reported import Reporter


class _Hints:
    """What this session has been told."""

    def __init__(self) -> None:
        self.causes: set[Cause] = set()
        self.calls: WeakValueDictionary[tuple[int, int], CodeType] = WeakValueDictionary()  # by id and instruction


_hints = _Hints()


def hint_at_none(tape: Tape, targets: Sequence[Any], sources: Sequence[Any], gradients: Sequence[Any]) -> None:
    """Prints why the first None among these gradients is one, unless the session was told about its cause before."""
    if os.environ.get("GRADTAPE_HINTS") == "0" or "PYTEST_CURRENT_TEST" in os.environ:
        return
    frame = own_caller(3)
    if frame is None or modes.innermost(Reporter) is not None:  # which reports it
        return
    call = id(frame.f_code), frame.f_lasti
    if call not in _hints.calls:  # a loop calls `gradient` again and again
        _hints.calls[call] = frame.f_code
        _hint(tape, targets, sources, gradients, frame)


@never_raises()
def _hint(
    tape: Tape, targets: Sequence[Any], sources: Sequence[Any], gradients: Sequence[Any], frame: FrameType
) -> None:
    missing = [source for source, gradient in zip(sources, gradients, strict=True) if gradient is None]
    names = names_of_sources(sources, frame)
    name = next(name for name, gradient in zip(names, gradients, strict=True) if gradient is None)
    (reason,) = reasons_for(tape, targets, missing[:1], [name], frame)
    if reason.cause in _hints.causes or sys.stderr is None:
        return
    _hints.causes.add(reason.cause)
    others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
    print(
        f"gradtape: the gradient is None for {reason.source}{others}: {str(reason).partition(': ')[2].rstrip('.')}. "
        "See tape.explain(target, sources). GRADTAPE_HINTS=0 turns these hints off",
        file=sys.stderr,
    )
