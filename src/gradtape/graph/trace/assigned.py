"""The op `assigned`: a read of a variable after an assignment in the same graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.protocols import OpNamespace
from ...core.tensor import Tensor
from ...engine.registry.op import Unregistered


class _Assigned(Unregistered):
    """`assigned(value, variable)` reads `value` from the variable; the cotangent goes to the variable, not to `value`.

    Forward mode propagates the tangent of the assigned value.
    """

    name = title = "assigned"
    family = "linear"
    tracked: _Assigned

    def numpy(self, value: Any, variable: object) -> Any:
        """Returns the value."""
        return value

    def forwards_inputs(self, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Any, ...]:
        """Returns the value, which is the first input."""
        return (inputs[0],)

    def vjp(self, m: OpNamespace, g: object, saved: tuple[Any, ...], parents: Sequence[int]) -> tuple[Any, Any]:
        """Pass the whole cotangent to the variable."""
        return None, g

    vjp_raw = vjp

    def jvp(self, m: OpNamespace, inputs: Sequence[Tensor], y: object, attrs: dict[str, Any], ts: Sequence[Any]) -> Any:
        """Returns the tangent of the assigned value."""
        return ts[0]


class _Followed(_Assigned):
    """The variant for a tape with `track_assign`: the cotangent goes to the assigned value."""

    def vjp(self, m: OpNamespace, g: object, saved: tuple[Any, ...], parents: Sequence[int]) -> tuple[Any, Any]:
        """Pass the whole cotangent to the value."""
        return g, None

    vjp_raw = vjp


assigned = _Assigned()
assigned.tracked = _Followed()
