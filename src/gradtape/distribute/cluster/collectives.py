"""Collectives on host arrays between processes: bucketed all-reduce, all-gather, broadcast and barrier.

For a single process each of them is the identity and needs no JAX.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...state.waits import waiting
from . import membership as cluster
from .transport import Array, Pending, bits_of, from_bits, transport

BUCKET_BYTES = 32 << 20  # gradients are fused into buckets of this size, as in Horovod and PyTorch's DDP
OPS = ("sum", "mean", "min", "max", "product")
HALVES = {"fp16": "float16", "bf16": "bfloat16"}
_HALF = tuple(np.dtype(kind.numpy) for kind in (dtypes.float16, dtypes.bfloat16))


def format_spec(x: Array) -> str:
    """Formats dtype and shape, as `float32[2,3]`."""
    return f"{x.dtype.name}[{','.join(map(str, x.shape))}]"


class Reduction:
    """A bucketed all-reduce of keyed arrays: full buckets are sent while later arrays are still being computed."""

    def __init__(
        self, op: str = "mean", compression: str | None = None, name: str = "allreduce", bucket_bytes: int | None = None
    ) -> None:
        if op not in OPS:
            raise ValueError(f"op must be one of {', '.join(OPS)}, got {op!r}")
        if compression not in (None, *HALVES):
            raise ValueError(f"compression must be None, 'fp16' or 'bf16', got {compression!r}")
        if compression and op not in ("sum", "mean"):
            raise ValueError(f"compression is for sums and means, got op={op!r}")
        self._op, self._compression, self._name = op, compression, name
        self._limit = bucket_bytes or BUCKET_BYTES
        self._open: dict[Any, list[tuple[Hashable, Array]]] = {}  # buckets not yet sent, by dtype
        self._bytes: dict[Any, int] = {}
        self._sent: list[tuple[list[tuple[Hashable, Array]], Pending]] = []

    def add(self, key: Hashable, x: Array) -> None:
        """Adds an array to the bucket of its dtype, and sends the bucket when it is full."""
        if x.dtype.kind not in "iufcV" and not (x.dtype.kind == "b" and self._op in ("min", "max")):
            raise errors.InvalidArgumentError(f"{self._name} cannot compute the {self._op} of {format_spec(x)}")
        bucket = self._open.setdefault(x.dtype, [])
        bucket.append((key, x))
        self._bytes[x.dtype] = self._bytes.get(x.dtype, 0) + x.nbytes
        if self._bytes[x.dtype] >= self._limit:
            self._send(x.dtype)

    def _send(self, dtype: Any) -> None:
        bucket = self._open.pop(dtype)
        self._bytes.pop(dtype)
        arrays = [x for _, x in bucket]
        what = "; ".join([self._name, " ".join(filter(None, (self._op, self._compression))), *map(format_spec, arrays)])
        travels_as = np.uint8 if dtype.kind == "b" else dtype
        self._sent.append((bucket, transport().start(what, self._kind(dtype), arrays, travels_as)))

    def _kind(self, dtype: Any) -> tuple[str, ...]:
        if dtype in _HALF and self._op in ("sum", "mean"):
            return "reduce in half", self._op, dtype.name
        if self._compression and dtype == np.float32:
            return "reduce in half", self._op, HALVES[self._compression]
        return "reduce", self._op

    def finish(self) -> dict[Hashable, Array]:
        """Sends the remaining buckets, waits for all of them and returns the results by key."""
        for dtype in list(self._open):
            self._send(dtype)
        results: dict[Hashable, Array] = {}
        for bucket, pending in self._sent:
            flat, at = pending.result(), 0
            for key, x in bucket:
                results[key] = flat[at : at + x.size].reshape(x.shape).astype(x.dtype, copy=False)
                at += x.size
        return results


def all_reduce(
    arrays: Sequence[Array], op: str = "mean", compression: str | None = None, name: str = "allreduce"
) -> list[Array]:
    """Returns the sum, mean, minimum, maximum or product of each array over all ranks."""
    reduction = Reduction(op, compression, name)
    if cluster.identity().size == 1:
        return list(arrays)
    for number, x in enumerate(arrays):
        reduction.add(number, x)
    found = reduction.finish()
    return [found[number] for number in range(len(arrays))]


def all_gather(x: Array, name: str = "allgather") -> Array:
    """Concatenates the arrays of all ranks along the first axis, whose size may differ between ranks."""
    if x.ndim == 0:
        raise errors.InvalidArgumentError(f"{name} joins along the first axis, and a scalar has none")
    me = cluster.identity()
    if me.size == 1:
        return x
    rest = np.broadcast_to(np.zeros((), x.dtype), x.shape[1:])
    rows = cluster.member().call(f"{name}; rows of {format_spec(rest)}", len(x), wait=True)
    assert rows is not None
    most = max(rows)
    padded = x if len(x) == most else np.concatenate([x, np.zeros((most - len(x), *x.shape[1:]), x.dtype)])
    found = transport().start(f"{name}; {most} rows; {format_spec(rest)}", ("gather",), [bits_of(padded)]).result()
    parts = [from_bits(bits, padded.shape, x.dtype)[:count] for bits, count in zip(found, rows, strict=True)]
    return np.concatenate(parts)


def broadcast(arrays: Sequence[Array], root: int = 0, name: str = "broadcast") -> list[Array]:
    """Returns the arrays of rank `root` on all ranks."""
    me = cluster.identity()
    if not 0 <= root < me.size:
        raise ValueError(f"root_rank must be from 0 to size - 1, which is {me.size - 1}, got {root}")
    if me.size == 1 or not arrays:
        return list(arrays)
    results: list[Array] = []
    bucket: list[Array] = []
    for number, x in enumerate(arrays):
        bucket.append(x)
        if sum(y.nbytes for y in bucket) >= BUCKET_BYTES or number == len(arrays) - 1:
            results += _broadcast_together(bucket, root, name)
            bucket = []
    return results


def _broadcast_together(arrays: list[Array], root: int, name: str) -> list[Array]:
    bits = [bits_of(x) for x in arrays]
    what = "; ".join([name, f"from rank {root}", *map(format_spec, arrays)])
    flat = transport().start(what, ("send", root), bits).result()
    results, at = [], 0
    for x, form in zip(arrays, bits, strict=True):
        results.append(from_bits(flat[at : at + form.size], x.shape, x.dtype))
        at += form.size
    return results


def exchange(value: Any, name: str) -> list[Any]:
    """All-gathers a small JSON value: returns the values of all ranks, in rank order."""
    if cluster.identity().size == 1:
        return [value]
    with waiting(name):
        found = cluster.member().call(name, value, wait=True)
    assert found is not None
    return found


def barrier(name: str = "barrier") -> None:
    """Waits until all ranks reach the barrier."""
    exchange(None, name)
