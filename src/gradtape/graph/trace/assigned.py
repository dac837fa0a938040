"""`assigned`: a value that is read from a variable after it was written, in one graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.registry.op import Unregistered


class _Assigned(Unregistered):
    """`assigned(value, variable)` is `value` read from a variable: its cotangent belongs to the variable.

    Forward mode follows the value that was assigned.
    """

    name = title = "assigned"
    family = "linear"
    tracked: _Assigned

    def numpy(self, value: Any, variable: Any) -> Any:
        """The value."""
        return value

    def forwards_inputs(self, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Any, ...]:
        """The value."""
        return (inputs[0],)

    def vjp(self, m: Any, g: Any, saved: Any, parents: Any) -> tuple[Any, Any]:
        """The variable gets it all."""
        return None, g

    vjp_raw = vjp

    def jvp(self, m: Any, inputs: Any, y: Any, attrs: Any, ts: Any) -> Any:
        """The tangent of what was assigned."""
        return ts[0]


class _Followed(_Assigned):
    """The same on a tape with `track_assign`: its cotangent belongs to what was assigned."""

    def vjp(self, m: Any, g: Any, saved: Any, parents: Any) -> tuple[Any, Any]:
        """The value gets it all."""
        return g, None

    vjp_raw = vjp


assigned = _Assigned()
assigned.tracked = _Followed()
