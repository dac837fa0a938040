"""Collective ops of SPMD programs: replica id, all-reduce, all-gather and reduce-scatter, with their derivatives.

Derivatives follow TensorFlow: the gradient of a sum over replicas is the sum of the gradients over replicas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import dtypes
from ..core.tensor import Tensor
from ..engine.registry.op import Unregistered
from ..graph.executors.xla.table import lowering
from ..graph.trace.trace import present_trace
from ..graph.trace.traced import Untraceable

AXIS = "replica"  # name of the mesh axis


class _Across(Unregistered):
    """A linear collective; `transposed` names the op that transposes it, which computes the cotangent of its input."""

    family = "linear"

    def __init__(self, name: str, transposed: str) -> None:
        self.name = self.title = name
        self.transposed = transposed

    def numpy(self, *arrays: Any, **attrs: Any) -> Any:
        """Raises: while the program is traced, the values of the replicas are not available."""
        raise Untraceable("Python code reads a value that is reduced over the replicas, or that differs between them")

    def outcome(self, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Sequence[Any], bool]:
        """Infers shape and dtype of the result."""
        x = inputs[0]
        axis, size = attrs.get("axis", 0), list(x.dims)
        if self.name == "replica_rows":
            size[axis] *= attrs["count"]
        elif self.name == "replica_part":
            size[axis] //= attrs["count"]
        return [(tuple(size), x.dtype)], False

    def vjp(self, m: Any, g: Any, saved: Any, parents: Any) -> tuple[Any]:
        """Computes the cotangent with the transposed op."""
        return (_run(_OPS[self.transposed], g, saved[0]),)

    def keep(self, inputs: Any, outputs: Any, attrs: Any) -> tuple[Any, ...]:
        """Saves the attributes, the only residuals."""
        return (attrs,)

    def jvp(self, m: Any, inputs: Any, y: Any, attrs: Any, ts: Any) -> Any:
        """Applies the op to the tangent: it is linear."""
        return _run(self, ts[0], attrs)


class _Number(_Across):
    """The id of the replica that runs the program."""

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
    """Returns whether an op is a collective, which all replicas must execute together."""
    return isinstance(op, _Across) and op is not _number


def differs_between_replicas(op: Any, inputs: bool) -> bool:
    """Returns whether the outputs of an op may differ between replicas; `inputs` says whether its inputs may."""
    return op.name in ("replica_id", "replica_part") if isinstance(op, _Across) else inputs


def _run(op: Any, x: Any, attrs: dict[str, Any]) -> Tensor:
    result: Tensor = present_trace().run(op, (x,), attrs)
    return result


def number() -> Tensor:
    """Returns the id of the replica that runs the program."""
    result: Tensor = present_trace().run(_number, (), {})
    return result


def all_sum(x: Tensor) -> Tensor:
    """All-reduce: returns the sum over all replicas."""
    return _run(_OPS["replica_sum"], x, {})


def all_rows(x: Tensor, axis: int, count: int) -> Tensor:
    """All-gather: concatenates the values of all `count` replicas along `axis`."""
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
