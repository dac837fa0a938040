"""Transfers host arrays between processes by XLA programs over one device per process.

A single thread runs the programs in the order of their start, which is the same on all ranks. The calling thread
continues to compute meanwhile, and its wait can end with another rank's failure, although XLA itself cannot be
interrupted.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import errors
from ...core.locks import fork_safe_lock
from ...graph.executors.xla.mesh import prepare
from ...state.waits import waiting
from . import membership as cluster
from .coordination import GRACE, Member

Array = NDArray[Any]
_ALIGNED = 64  # bytes; JAX does not copy buffers with this alignment
_FEW = 1 << 16  # entries; shorter lengths are rounded up to bound the number of compiled programs


class Pending:
    """A collective in progress; `result` waits for it."""

    def __init__(self, member: Member, what: str) -> None:
        self._member, self._what = member, what
        self._done = threading.Event()
        self._value: Any = None
        self._error: BaseException | None = None

    def _finish(self, work: Callable[[], Any]) -> None:
        try:
            self._value = work()
        except BaseException as error:
            self._error = error
        self._done.set()

    def result(self) -> Any:
        """Waits for the result; raises if a rank has failed meanwhile."""
        with waiting(self._what):
            return self._waited_for()

    def _waited_for(self) -> Any:
        limit = time.monotonic() + self._member.timeout + GRACE
        while not self._done.wait(0.05):
            self._member.check()
            if time.monotonic() > limit:
                raise errors.DeadlineExceededError(
                    f"{self._what} did not end within {self._member.timeout:g} s. GRADTAPE_TIMEOUT, or the option "
                    "--timeout of `gradtape launch`, sets this limit"
                )
        if self._error is not None:
            self._member.failure_soon()
            raise errors.UnavailableError(f"{self._what} failed: {self._error}") from self._error
        return self._value


class Transport:
    """Compiled collectives, the thread that runs them, and a pool of send buffers."""

    def __init__(self, member: Member) -> None:
        import jax

        prepare()
        self._member, self._size = member, member.size
        first: dict[int, Any] = {}
        for device in jax.devices():
            first.setdefault(device.process_index, device)
        mesh = jax.sharding.Mesh(np.array([first[rank] for rank in range(member.size)]), ("rank",))
        self._mesh = mesh
        self._device = first[member.rank]
        self._split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rank"))
        self._free: dict[tuple[Any, int], list[Array]] = {}
        self._waiting: queue.SimpleQueue[tuple[Pending, Callable[[], Any]]] = queue.SimpleQueue()
        self._program = cache(self._compiled)
        self.seconds = 0.0
        self.bytes = 0
        threading.Thread(target=self._serve, name="gradtape collectives", daemon=True).start()

    def start(self, what: str, kind: tuple[Any, ...], arrays: Sequence[Array], dtype: Any = None) -> Pending:
        """Starts the collective `kind` on arrays, fused into one buffer; its result is one flat array.

        `what` describes it to the other ranks, which must start the same collective.
        """
        pending = Pending(self._member, what.partition(";")[0])
        dtype = np.dtype(dtype or arrays[0].dtype)
        count = sum(x.size for x in arrays)
        length = self._length(count)
        buffer = self._buffer(dtype, length)
        at = 0
        for x in arrays:
            buffer[at : at + x.size] = x.reshape(-1)
            at += x.size
        buffer[at:] = 0  # the buffer comes from a pool, with old content

        def work() -> Array:
            began = time.perf_counter()
            result = self._run(kind, buffer)
            self._free.setdefault((dtype, length), []).append(buffer)
            self.seconds += time.perf_counter() - began
            self.bytes += buffer.nbytes
            return result[..., :count]

        self._member.call(what, then=lambda: self._waiting.put((pending, work)))
        return pending

    def _length(self, count: int) -> int:
        """Rounds a length up to a multiple of twice the number of ranks, and to a power of two of these if short."""
        step = 2 * self._size
        steps = max(1, -(-count // step))
        return step * (1 << (steps - 1).bit_length() if count < _FEW else steps)

    def _buffer(self, dtype: Any, length: int) -> Array:
        free = self._free.get((dtype, length))
        if free:
            return free.pop()
        memory = np.empty(length * dtype.itemsize + _ALIGNED, np.uint8)
        start = -memory.ctypes.data % _ALIGNED
        return memory[start : start + length * dtype.itemsize].view(dtype)

    def _serve(self) -> None:
        while True:
            pending, work = self._waiting.get()
            pending._finish(work)
            del pending, work

    def _run(self, kind: tuple[Any, ...], buffer: Array) -> Array:
        import jax

        with jax.enable_x64(True):
            program = self._program(kind, buffer.dtype, buffer.size)
            mine = jax.device_put(buffer, self._device, may_alias=True)
            whole = (self._size * buffer.size,)
            result = program(jax.make_array_from_single_device_arrays(whole, self._split, [mine]))
            return np.asarray(result.addressable_data(0))

    def _compiled(self, kind: tuple[Any, ...], dtype: Any, length: int) -> Callable[..., Any]:
        import jax

        operation = _OPERATIONS[kind[0]](self._size, *kind[1:])
        spec = jax.sharding.PartitionSpec
        mapped = jax.shard_map(operation, mesh=self._mesh, in_specs=spec("rank"), out_specs=spec(), check_vma=False)
        return jax.jit(mapped)


def _compile_reduction(size: int, op: str) -> Callable[[Any], Any]:
    import jax
    from jax import lax

    if op == "min":
        return lambda x: lax.pmin(x, "rank")
    if op == "max":
        return lambda x: lax.pmax(x, "rank")
    if op == "product":
        return lambda x: jax.numpy.prod(lax.all_gather(x, "rank"), 0, dtype=x.dtype)
    if op == "mean":
        return lambda x: _divide(lax.psum(x, "rank"), size)
    return lambda x: lax.psum(x, "rank")


def _divide(x: Any, size: int) -> Any:
    return x // size if x.dtype.kind in "iu" else x / size


def _compile_half_reduction(size: int, op: str, half: str) -> Callable[[Any], Any]:
    """Returns a sum or mean with 16-bit transfers and 32-bit accumulation: a reduce-scatter, then an all-gather."""
    import jax
    from jax import lax

    dtype = jax.numpy.dtype(half)

    def reduce(x: Any) -> Any:
        bits = lax.bitcast_convert_type(x.astype(dtype).reshape(size, -1, 2), np.uint32)
        mine = lax.all_to_all(bits, "rank", 0, 0)
        total = lax.bitcast_convert_type(mine, dtype).astype(np.float32).sum(0)
        total = total / size if op == "mean" else total
        bits = lax.bitcast_convert_type(total.astype(dtype), np.uint32)
        return lax.bitcast_convert_type(lax.all_gather(bits, "rank"), dtype).reshape(-1).astype(x.dtype)

    return reduce


def _compile_gather(size: int) -> Callable[[Any], Any]:
    from jax import lax

    return lambda x: lax.all_gather(x, "rank")


def _compile_broadcast(size: int, root: int) -> Callable[[Any], Any]:
    """Returns a broadcast from `root`: a sum to which the other ranks contribute zeros."""
    import jax
    from jax import lax

    return lambda x: lax.psum(jax.numpy.where(lax.axis_index("rank") == root, x, 0), "rank")


_OPERATIONS: dict[str, Callable[..., Callable[[Any], Any]]] = {
    "reduce": _compile_reduction,
    "reduce in half": _compile_half_reduction,
    "gather": _compile_gather,
    "send": _compile_broadcast,
}


def bits_of(x: Array) -> Array:
    """Views an array as 32-bit words, zero-padded to a multiple of four bytes."""
    raw = np.ascontiguousarray(x).reshape(-1).view(np.uint8)
    if raw.size % 4:
        raw = np.concatenate([raw, np.zeros(-raw.size % 4, np.uint8)])
    return raw.view(np.uint32)


def from_bits(bits: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    """Inverse of `bits_of`."""
    dtype = np.dtype(dtype)
    raw = np.ascontiguousarray(bits).view(np.uint8)[: math.prod(shape) * dtype.itemsize]
    return raw.view(dtype).reshape(shape)


@cache
def _create_transport() -> Transport:
    return Transport(cluster.member())


_making = fork_safe_lock()


def transport() -> Transport:
    """Returns the transport of this process."""
    with _making:
        return _create_transport()
