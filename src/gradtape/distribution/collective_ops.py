"""Ops of a program for all replicas: its own number, and sums and rows over the replicas, with their derivatives.

TensorFlow's rules: the gradient of a sum over replicas is the sum of the gradients over replicas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import dtypes
from ..core.tensor import Tensor
from ..engine.registry.op import Unregistered
from ..engine.run.dispatch import thread
from ..graph.executors.xla.table import lowering
from ..graph.trace.traced import Untraceable

AXIS = "replica"  # the axis of the mesh


class _Across(Unregistered):
    """A linear op over the replicas; `transposed` is the name of the op that takes cotangents back."""

    family = "linear"

    def __init__(self, name: str, transposed: str) -> None:
        self.name = self.title = name
        self.transposed = transposed

    def numpy(self, *arrays: Any, **attrs: Any) -> Any:
        """Nobody knows the values of all replicas while the program is made."""
        raise Untraceable("Python looks at a value that the replicas make together, or that differs between them")

    def outcome(self, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Sequence[Any], bool]:
        """The shape and the dtype of the result."""
        x = inputs[0]
        axis, size = attrs.get("axis", 0), list(x.dims)
        if self.name == "replica_rows":
            size[axis] *= attrs["count"]
        elif self.name == "replica_part":
            size[axis] //= attrs["count"]
        return [(tuple(size), x.dtype)], False

    def vjp(self, m: Any, g: Any, saved: Any, parents: Any) -> tuple[Any]:
        """The cotangent, by way of the transposed op."""
        return (_run(_OPS[self.transposed], g, saved[0]),)

    def keep(self, inputs: Any, outputs: Any, attrs: Any) -> tuple[Any, ...]:
        """The attributes."""
        return (attrs,)

    def jvp(self, m: Any, inputs: Any, y: Any, attrs: Any, ts: Any) -> Any:
        """The same of the tangent."""
        return _run(self, ts[0], attrs)


class _Number(_Across):
    """The number of the replica."""

    family = "constant"

    def outcome(self, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Sequence[Any], bool]:
        return [((), dtypes.int32)], False


_OPS = {
    "replica_sum": _Across("replica_sum", "replica_sum"),
    "replica_rows": _Across("replica_rows", "replica_part"),
    "replica_part": _Across("replica_part", "replica_rows"),
}
_number = _Number("replica_id", "")


def is_collective(op: Any) -> bool:
    """Whether all replicas must come to an op together."""
    return isinstance(op, _Across) and op is not _number


def differs_between_replicas(op: Any, inputs: bool) -> bool:
    """Whether what an op gives differs between replicas, if its inputs do or not."""
    return op.name in ("replica_id", "replica_part") if isinstance(op, _Across) else inputs


def _run(op: Any, x: Any, attrs: dict[str, Any]) -> Tensor:
    result: Tensor = thread.trace.run(op, (x,), attrs)
    return result


def number() -> Tensor:
    """The number of the replica that runs the program."""
    result: Tensor = thread.trace.run(_number, (), {})
    return result


def all_sum(x: Tensor) -> Tensor:
    """The sum over all replicas."""
    return _run(_OPS["replica_sum"], x, {})


def all_rows(x: Tensor, axis: int, count: int) -> Tensor:
    """The values of all `count` replicas, one after the other along `axis`."""
    return _run(_OPS["replica_rows"], x, {"axis": axis, "count": count})


@lowering("replica_sum")
def _sum(x: Any) -> Any:
    import jax

    return jax.lax.psum(x, AXIS) if x.dtype != bool else jax.lax.psum(x.astype("int32"), AXIS)


@lowering("replica_rows")
def _rows(x: Any, *, axis: int, count: int) -> Any:
    import jax

    return jax.lax.all_gather(x, AXIS, axis=axis, tiled=True)


@lowering("replica_part")
def _part(x: Any, *, axis: int, count: int) -> Any:
    import jax

    return jax.lax.psum_scatter(x, AXIS, scatter_dimension=axis, tiled=True)


@lowering("replica_id")
def _id() -> Any:
    import jax

    return jax.lax.axis_index(AXIS)
