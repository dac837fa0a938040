"""Sharding constraints: require an intermediate value of a program to have a given sharding on a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.protocols import OpNamespace
from ....core.tensor import Tensor
from ....engine.registry.op import Unregistered
from ....engine.run.dispatch import thread


class _Constrained(Unregistered):
    """The identity, `constrained(x, sharding=...)`; where XLA partitions the program, it fixes the sharding of `x`."""

    name = title = "sharding_constraint"
    family = "linear"

    def numpy(self, x: object, *, sharding: object) -> Any:
        return x

    def outcome(self, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Sequence[Any], bool]:
        return [(inputs[0].dims, inputs[0].dtype)], False

    def vjp(self, m: OpNamespace, g: object, saved: tuple[Any, ...], parents: Sequence[int]) -> tuple[Any]:
        return (g,)

    vjp_raw = vjp

    def jvp(self, m: OpNamespace, inputs: Sequence[Tensor], y: object, attrs: dict[str, Any], ts: Sequence[Any]) -> Any:
        return ts[0]


constrained = _Constrained()


def laid_out(x: Tensor, sharding: object) -> Tensor:
    """Constrain the sharding of `x` in the program being traced; in eager mode, return `x` as is."""
    trace = thread.trace
    return x if trace is None else trace.run(constrained, (x,), {"sharding": sharding})
