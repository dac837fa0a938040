"""Tapes on which an assignment counts: a variable is a name for its latest value.

TensorFlow's tape ends a derivative where a variable is assigned: whatever is read from it later belongs to the variable
itself. With `GradientTape(track_assign=True)` what is read later belongs to what was assigned, so an optimizer's step,
a running mean or a memory that is written to is differentiated like any op. The variable as a source is the value that
it had when the tape first met it; as a target, the latest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ..run.dispatch import entry
from .log import Log


class Tracking(Log):
    """A log that follows variables through their assignments."""

    tracks = True

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        super().__init__(watch_accessed_variables)
        # By the `id` of a variable that was assigned: the variable, and where its value stands, -1 for a constant.
        self._latest: dict[int, tuple[Any, int]] = {}

    def record(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        """Records any op; a value that a graph reads after it was assigned is that value."""
        super().record(getattr(op, "tracked", op), inputs, outputs, attrs)

    def assigned(self, variable: Any, value: Tensor) -> None:
        """Notes where the value stands that reads of the variable give from now on."""
        at = entry(value.tracers, self.key)
        self._latest[id(variable)] = (variable, -1 if at is None else at)
        if at is None:
            self.overwritten(variable)

    def is_constant(self, variable: Any) -> bool:
        """Whether the latest value of a variable is one that is not on the tape."""
        return self._latest.get(id(variable), (None, 0))[1] < 0

    def _read_at(self, variable: Any) -> int:
        found = self._latest.get(id(variable))
        return super()._read_at(variable) if found is None else found[1]

    def position(self, x: Any) -> int | None:
        """Where a tensor stands, or the latest value of a variable."""
        found = self._latest.get(id(x))
        if found is None or found[0] is not x:
            return super().position(x)
        return None if found[1] < 0 else found[1]

    def positions(self, sources: Sequence[Any]) -> list[int | None]:
        """Where each of these stands; variables with the value that they had at first."""
        return [super(Tracking, self).position(x) for x in sources]


def tracking(kind: type[Log]) -> type[Log]:
    """The kind of log that does what `kind` does, and follows assignments."""
    if kind not in _kinds:
        _kinds[kind] = type(f"Tracking{kind.__name__}", (Tracking, kind), {})
    return _kinds[kind]


_kinds: dict[type[Log], type[Log]] = {Log: Tracking}
