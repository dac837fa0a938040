"""Data types of explanations: a cause, a sentence and a source line for each source."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ...core.protocols import Line
from ..records.cells import cell_name
from ..records.html import render_list


class Cause(StrEnum):
    """The cause of a gradient's state."""

    CONNECTED = "connected"
    ZERO = "zero"
    NOT_FINITE = "not finite"
    NEVER_WATCHED = "never watched"
    WATCHED_LATE = "watched after use"
    NOT_TRAINABLE = "not trainable"
    INTEGER = "integer"
    BEFORE_TAPE = "before the tape"
    AFTER_BLOCK = "after the block"
    OUTSIDE_BLOCK = "outside the block"
    GRADIENT_OUTSIDE = "gradient outside the block"
    OTHER_TAPE = "another tape"
    OTHER_THREAD = "another thread"
    STOPPED = "while recording was stopped"
    RESET = "tape.reset"
    DATASET = "dataset.map"
    NUMPY = "left for NumPy or Python"
    PREDICT = "predict"
    NOT_DIFFERENTIABLE = "not differentiable"
    STOP_GRADIENT = "stop_gradient"
    ASSIGN = "assign"
    OVERWRITTEN = "overwritten"
    REBOUND = "rebound"
    SWAPPED = "swapped arguments"
    NO_RULE = "the rule gives none"
    LINEAR = "linear"
    NO_PATH = "no path"
    NO_SOURCES = "no sources"
    RELEASED = "tape released"

    @classmethod
    def _missing_(cls, value: object) -> Cause | None:
        """Returns the member of a label that a module of `families` has declared, the same one each time."""
        if value not in _declared:
            return None
        label = str(value)
        member = _declared[label]
        if member is None:
            member = _declared[label] = str.__new__(cls, label)
            member._name_, member._value_ = label.upper().replace(" ", "_"), label
        return member


_declared: dict[str, Cause | None] = {}


def declare(label: str) -> None:
    """Declares the label of a cause beyond those of the enumeration, so that `Cause(label)` is a member."""
    if label not in {cause.value for cause in Cause}:
        _declared.setdefault(label, None)


@dataclass(frozen=True)
class Reason:
    """Why the gradient of one source is what it is."""

    source: str
    cause: Cause
    sentence: str
    line: Line | None = None

    def __str__(self) -> str:
        return f"{self.source}: {self.sentence}{_where(self.line)}"


@dataclass(frozen=True)
class Explanation:
    """The reasons, one per source."""

    reasons: list[Reason] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join(map(str, self.reasons))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Returns what notebooks show."""
        return render_list([str(reason) for reason in self.reasons])

    def as_dicts(self) -> list[dict[str, Any]]:
        """Returns the reasons as JSON-serializable dictionaries."""
        return [
            {
                "source": r.source,
                "cause": r.cause.value,
                "sentence": r.sentence,
                "file": r.line and r.line[0],
                "line": r.line and r.line[1],
                "function": r.line and r.line[2],
            }
            for r in self.reasons
        ]


def _where(line: Line | None) -> str:
    if line is None:
        return ""
    file, number, function = line
    inside = "" if function == "<module>" else f", in {function}"
    shown = cell_name(file) or (os.path.relpath(file) if os.path.isfile(file) else file)
    return f" ({shown}:{number}{inside})"
