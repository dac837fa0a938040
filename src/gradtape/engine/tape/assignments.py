"""Logs that differentiate through assignments: a variable is a name for its latest value.

TensorFlow's tape ends a derivative where a variable is assigned: later reads refer to the variable itself. With
`GradientTape(track_assign=True)`, later reads refer to the assigned value, so an optimizer step, a running mean or a
memory that the program writes to is differentiated like any op. As a source, the variable means the value that it had
when the tape first saw it; as a target, its latest value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.protocols import OpLike, Outputs, VariableLike
from ...core.tensor import Tensor
from ..run.dispatch import entry
from .log import Log


class Tracking(Log):
    """A log that tracks variables through their assignments."""

    tracks = True

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        super().__init__(watch_accessed_variables)
        # By the `id` of an assigned variable: the variable, and the position of its value, -1 for a constant.
        self._latest: dict[int, tuple[VariableLike, int]] = {}

    def record(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs, attrs: dict[str, Any]) -> None:
        """Records any op; a graph's read of a variable that it assigned earlier refers to the assigned value."""
        super().record(getattr(op, "tracked", op), inputs, outputs, attrs)

    def assigned(self, variable: VariableLike, value: Tensor) -> None:
        """Records the position of the value that reads of the variable return from now on."""
        at = entry(value.tracers, self.key)
        self._latest[id(variable)] = (variable, -1 if at is None else at)
        if at is None:
            self.overwritten(variable)

    def is_constant(self, variable: VariableLike) -> bool:
        """Whether the latest value of a variable is not on the tape."""
        return self._latest.get(id(variable), (None, 0))[1] < 0

    def _read_at(self, variable: VariableLike) -> int:
        found = self._latest.get(id(variable))
        return super()._read_at(variable) if found is None else found[1]

    def position(self, x: object) -> int | None:
        """The position of a tensor, or of the latest value of a variable."""
        found = self._latest.get(id(x))
        if found is None or found[0] is not x:
            return super().position(x)
        return None if found[1] < 0 else found[1]

    def positions(self, sources: Sequence[object]) -> list[int | None]:
        """The position of each source; for a variable, that of its initial value."""
        return [super(Tracking, self).position(x) for x in sources]


def tracking(kind: type[Log]) -> type[Log]:
    """Returns the subclass of `kind` that also tracks assignments, creating it on first use."""
    if kind not in _kinds:
        _kinds[kind] = type(f"Tracking{kind.__name__}", (Tracking, kind), {})
    return _kinds[kind]


_kinds: dict[type[Log], type[Log]] = {Log: Tracking}
