"""Strategies over several processes: the cooperation of this process's replicas with the others.

In a traced function, all replicas form one SPMD program over the devices of all processes (`spmd`). Where replicas run
sequentially, each process runs its own, and reductions and gathers between processes use `collectives`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor, wrap
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...graph.control_flow.python_calls import traced_call
from ...state.specs import TensorSpec
from ...state.variable import Variable
from . import collectives
from . import membership as cluster


def _perform(act: Callable[[Sequence[Tensor]], list[Tensor]], tensors: Sequence[Tensor]) -> list[Tensor]:
    """Calls `act`, which keeps shapes and dtypes: immediately, or at each run of the function being traced."""
    if dispatch.thread.trace is None:
        return act(tensors)
    return traced_call(act, tensors, [TensorSpec(x.shape, x.dtype) for x in tensors], differentiable=False)


class Workers:
    """The worker processes of a strategy: their number, the rank of this one, and the replicas per worker."""

    def __init__(self, local: int) -> None:
        me = cluster.initialize()
        self.count, self.rank, self.local = me.size, me.rank, local
        self.first = me.rank * local  # the id of this process's first replica
        counts = collectives.exchange(local, "number of replicas")
        if len(set(counts)) > 1:
            raise ValueError(
                f"All workers must have the same number of devices, got {counts}. Set CUDA_VISIBLE_DEVICES, or call "
                "tf.config.set_logical_device_configuration, identically on all of them"
            )

    def sums(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Sums each tensor over all processes: immediately, or at each run of the function being traced."""

        def act(xs: Sequence[Tensor]) -> list[Tensor]:
            found = collectives.all_reduce([np.asarray(x.array) for x in xs], "sum", None, "sum over replicas")
            return [wrap(y, x.dtype) for y, x in zip(found, xs, strict=True)]

        return _perform(act, tensors)

    def rows(self, x: Tensor, axis: int = 0) -> Tensor:
        """Concatenates the tensors of all processes along `axis`."""
        order = [axis, *[i for i in range(len(x.dims)) if i != axis]]
        moved = ops.transpose(x, perm=tuple(order)) if axis else x

        def act(xs: Sequence[Tensor]) -> list[Tensor]:
            return [wrap(collectives.all_gather(np.asarray(xs[0].array), "rows of replicas"), x.dtype)]

        if dispatch.thread.trace is None:
            (found,) = act([moved])
        else:
            (found,) = traced_call(act, [moved], [x.dtype], differentiable=False)
        back = tuple(np.argsort(order).tolist())
        return ops.transpose(found, perm=back) if axis else found

    def rows_before(self, count: int) -> int:
        """Returns the number of rows of the processes with lower rank."""
        return sum(collectives.exchange(int(count), "rows of a replica")[: self.rank])

    def of_each(self, value: Any, name: str) -> list[Any]:
        """Returns a small value of each process, in rank order."""
        return collectives.exchange(value, name)

    def agree(self, value: Any, name: str) -> bool:
        """Returns whether all processes have the same value."""
        found = collectives.exchange(value, name)
        return all(other == found[0] for other in found)

    def first_value(self, value: object) -> Tensor:
        """Broadcasts the first process's tensor."""

        def act(xs: Sequence[Tensor]) -> list[Tensor]:
            (own,) = xs
            if own.dtype is dtypes.string:
                raise errors.InvalidArgumentError("The first replica's strings cannot be sent to other processes")
            (first,) = collectives.broadcast([np.asarray(own.array)], 0, "value of the first replica")
            return [wrap(first[()], own.dtype)]

        return _perform(act, [to_tensor(value)])[0]

    def begin(self, variable: Variable) -> None:
        """Initializes a variable with its value on the first process."""
        with dispatch.traced_by(None):
            value = np.asarray(variable._storage.host())
            if value.dtype.kind != "O":
                variable._storage.take(collectives.broadcast([value], 0, f"variable {variable.name}")[0][()])

    @staticmethod
    def described(name: str, graph: Any) -> str:
        """Describes a program, so that the coordinator can compare it between processes."""
        text = " ".join(node.op.name for node in graph.nodes)
        shapes = ", ".join(f"{v.dtype.name}{list(v.shape)}" for v in graph.inputs)
        return f"program of {name}; inputs {shapes}; {len(graph.nodes)} ops, {zlib.crc32(text.encode()):08x}"

    @contextmanager
    def running(self, what: str) -> Iterator[None]:
        """Context manager for a program that must be the same on all processes; errors may stem from another rank."""
        member = cluster.member()
        member.call(what)
        try:
            yield
        except (RuntimeError, ValueError):  # raised by XLA
            member.failure_soon()
            raise
