"""`DistributedGradientTape`: a tape that averages its gradients over all processes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..api.tape import GradientTape
from ..api.tape_arguments import UnconnectedGradients
from ..core import nest
from ..core.slices import IndexedSlices
from ..core.tensor import Tensor, wrap
from ..engine.run import dispatch
from ..engine.run.convert import to_tensor
from ..engine.tape.log import Log
from ..engine.tape.validation import native
from .cluster.collectives import BUCKET_BYTES, Reduction
from .cluster.processes import reduce_op, reduced, size

NAMESPACES = ("distribute",)
__all__ = ["DistributedGradientTape"]

_SPARSE = ("gather", "gather_rows", "sparse_matmul")  # ops whose cotangents may be IndexedSlices


class DistributedGradientTape(GradientTape):
    """Wraps a tape; `gradient` returns the mean of the gradients of all ranks.

    All other methods are the tape's own, such as `watch` and Jacobians, which are those of this rank. Gradients are
    sent in buckets. If there is more than one bucket, eager code sends each as soon as it is complete, while the
    backward pass continues.

    >>> v = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     loss = v * v
    >>> tape = tf.distribute.DistributedGradientTape(tape)
    >>> float(tape.gradient(loss, v))
    6.0

    Args:
      compression: "bf16" or "fp16": float32 values are sent rounded to 16 bits.
      op: "mean", "sum", "min", "max" or "product".
      sparse_as_dense: convert an `IndexedSlices` to a dense tensor before sending.
      bucket_bytes: the amount to send at once.
    """

    __module__ = "gradtape.distribute"

    def __init__(
        self,
        gradtape: GradientTape,
        compression: str | None = None,
        op: Any = "mean",
        sparse_as_dense: bool = False,
        *,
        bucket_bytes: int = BUCKET_BYTES,
    ) -> None:
        if not isinstance(gradtape, GradientTape):
            raise TypeError(f"DistributedGradientTape wants a GradientTape, got {type(gradtape).__name__}")
        Reduction(reduce_op(op), compression)  # raises for missing attributes
        self.__dict__ = gradtape.__dict__  # two views of one tape
        self._reduced_as = (reduce_op(op), compression, sparse_as_dense, bucket_bytes)

    _reduced_as: tuple[str, str | None, bool, int]

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        *,
        nan_safe: bool = False,
        per: str | None = None,
        norms: bool = False,
        check_rows: bool = True,
    ) -> Any:
        """Returns `GradientTape.gradient` reduced over all ranks; with `per="example"`, that of this rank.
        """
        if size() == 1 or per is not None:
            return super().gradient(
                target, sources, output_gradients, unconnected_gradients, nan_safe=nan_safe, per=per, norms=norms,
                check_rows=check_rows,
            )  # fmt: skip
        op, compression, sparse_as_dense, bucket_bytes = self._reduced_as
        reduction = Reduction(op, compression, "gradients", bucket_bytes)
        with self._sending(sources, reduction, bucket_bytes, nan_safe) as sent:
            found = super().gradient(target, sources, output_gradients, unconnected_gradients, nan_safe=nan_safe)
        structure = list(sources) if nest.is_values_view(sources) else sources
        flat = nest.flatten(found)
        arrived = reduction.finish() if sent else {}
        late = {i: g for i, g in enumerate(flat) if sent.get(i) not in arrived}
        for i, position in sent.items():
            if position in arrived:
                flat[i] = wrap(arrived[position], flat[i].dtype)
        if sparse_as_dense:
            late = {i: to_tensor(g) if isinstance(g, IndexedSlices) else g for i, g in late.items()}
        for i, g in zip(late, reduced(list(late.values()), op, compression, "gradients"), strict=True):
            flat[i] = g
        return nest.pack_sequence_as(structure, flat)

    @contextmanager
    def _sending(
        self, sources: Any, reduction: Reduction, bucket_bytes: int, nan_safe: bool
    ) -> Iterator[dict[int, int]]:
        """Context manager: passes a gradient to `reduction` as soon as the sweep has finished it.

        Yields the tape position of each source, by its index, that is sent early: none if there is only one bucket, or
        if the sweep itself is recorded or traced.
        """
        log = self._log
        leaves = [native(source) for source in nest.flatten(sources)]
        sizes = sum(math.prod(x.dims) * x.dtype.size for x in leaves if hasattr(x, "dims"))
        if sizes <= bucket_bytes or nan_safe or log is None or not log.plain or not dispatch.unrecorded():
            yield {}
            return
        sparse = _positions_of_tables(log)
        places = {i: log.position(x) for i, x in enumerate(leaves) if hasattr(x, "dims")}
        sent = {i: place for i, place in places.items() if place is not None and place >= 0 and place not in sparse}
        hooks = {place: _adding(reduction, place) for place in sent.values()}
        for place, hook in hooks.items():
            self._hooks.setdefault(place, []).append(hook)
        try:
            yield sent
        finally:
            for place, hook in hooks.items():
                self._hooks[place].remove(hook)
                if not self._hooks[place]:
                    del self._hooks[place]


def _positions_of_tables(log: Log) -> set[int]:
    """Returns the positions of embedding tables: their gradients are sparse rows."""
    found: set[int] = set()
    for op, parents in zip(log.ops, log.parents, strict=True):
        if op is not None and getattr(op, "name", getattr(getattr(op, "op", None), "name", "")) in _SPARSE:
            found.update((parents,) if isinstance(parents, int) else parents)
    return found


def _adding(reduction: Reduction, place: int) -> Callable[[Tensor], None]:
    return lambda g: reduction.add(place, np.asarray(g.array))
