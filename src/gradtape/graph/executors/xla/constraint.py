"""A value in the middle of a program that is to lie on the devices of a mesh in a certain way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.tensor import Tensor
from ....engine.registry.op import Unregistered
from ....engine.run.dispatch import thread


class _Constrained(Unregistered):
    """`constrained(x, sharding=...)` is `x`; where XLA partitions the program, it is laid out so."""

    name = title = "sharding_constraint"
    family = "linear"

    def numpy(self, x: Any, *, sharding: Any) -> Any:
        """The value."""
        return x

    def outcome(self, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Sequence[Any], bool]:
        """The shape and the dtype of the value."""
        return [(inputs[0].dims, inputs[0].dtype)], False

    def vjp(self, m: Any, g: Any, saved: Any, parents: Any) -> tuple[Any]:
        """The cotangent."""
        return (g,)

    vjp_raw = vjp

    def jvp(self, m: Any, inputs: Any, y: Any, attrs: Any, ts: Any) -> Any:
        """The tangent."""
        return ts[0]


constrained = _Constrained()


def laid_out(x: Tensor, sharding: Any) -> Tensor:
    """`x`, which a program that is being traced is to lay out so. Outside of functions values are whole: `x` itself."""
    trace: Any = thread.trace
    if trace is None:
        return x
    result: Tensor = trace.run(constrained, (x,), {"sharding": sharding})
    return result
