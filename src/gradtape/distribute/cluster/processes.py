"""Collectives between processes with Horovod's API: `gradtape.distribute` in place of `hvd`.

A program that runs in several processes (`gradtape launch -n 4 train.py`) reads `rank` and `size`, takes its share of
the data, and passes its gradients to `all_reduce` or its tape to `DistributedGradientTape`. In a single process,
collectives return their arguments. All functions are differentiable and can be traced.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...api.control.custom_gradient import custom_gradient
from ...core import nest
from ...core.dtypes import string
from ...core.errors import DataLossError, InvalidArgumentError
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor, wrap
from ...core.type_hints import TensorLike
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...state.specs import TensorSpec
from . import collectives
from . import membership as cluster

NAMESPACES = ("distribute",)
__all__ = [
    "Average", "Compression", "Max", "Min", "Product", "Sum", "all_reduce", "allgather", "allreduce", "barrier",
    "broadcast", "broadcast_object", "broadcast_variables", "grouped_allreduce", "init", "is_initialized", "local_rank",
    "local_size", "rank", "shutdown", "size",
]  # fmt: skip

Average, Sum, Min, Max, Product = "mean", "sum", "min", "max", "product"


class Compression:
    """How float32 gradients are sent: unchanged, or rounded to 16 bits. They are summed in 32 bits.

    >>> tf.distribute.all_reduce([tf.constant(1.0)], compression=tf.distribute.Compression.bf16)[0].numpy().item()
    1.0
    """

    __module__ = "gradtape.distribute"

    none: str | None = None
    fp16 = "fp16"
    bf16 = "bf16"


def init(
    address: str | None = None, size: int | None = None, rank: int | None = None, local_rank: int | None = None
) -> None:
    """Connects to the other processes of this job, as does the first collective; a no-op if repeated or alone.

    Rank and addresses are read from `gradtape launch`, `TF_CONFIG`, SLURM or Open MPI, otherwise from the arguments.

    Args:
      address: the address of rank 0, as "host:port".

    >>> tf.distribute.init()
    >>> tf.distribute.size()
    1
    """
    cluster.initialize(address, size, rank, local_rank)


def is_initialized() -> bool:
    """Returns whether this process is connected to the others, or is the only one.

    >>> tf.distribute.is_initialized()
    True
    """
    return cluster.identity().size == 1 or cluster.is_initialized()


def shutdown() -> None:
    """Does nothing: the end of the program waits for the other ranks.

    >>> tf.distribute.shutdown()
    """


def rank() -> int:
    """Returns the index of this process among all, from 0.

    >>> tf.distribute.rank()
    0
    """
    return cluster.identity().rank


def size() -> int:
    """Returns the number of processes.

    >>> tf.distribute.size()
    1
    """
    return cluster.identity().size


def local_rank() -> int:
    """Returns the index of this process on its host, from 0.

    >>> tf.distribute.local_rank()
    0
    """
    return cluster.identity().local_rank


def local_size() -> int:
    """Returns the number of processes on this host.

    >>> tf.distribute.local_size()
    1
    """
    return cluster.identity().local_size


def barrier() -> None:
    """Waits until all ranks have reached this call.

    >>> tf.distribute.barrier()
    """

    def act(arrays: list[Any]) -> list[Any]:
        collectives.barrier()
        return arrays

    nothing = to_tensor(np.zeros((), np.int32))
    _at_each_run(act, [nothing], [nothing])


def all_reduce(gradients: Any, op: Any = "mean", compression: str | None = None, name: str | None = None) -> Any:
    """Reduces each tensor of a nested structure over all ranks. None stays None; an `IndexedSlices` stays sparse.

    Small tensors are sent together in buckets.

    Args:
      op: "mean", "sum", "min", "max" or "product", or a `tf.distribute.ReduceOp`.
      compression: "bf16" or "fp16": float32 values are sent rounded to 16 bits.

    >>> gradients = {"w": tf.constant([1.0, 2.0]), "b": None}
    >>> tf.distribute.all_reduce(gradients)["w"].numpy().tolist()
    [1.0, 2.0]
    """
    flat = nest.flatten(gradients)
    return nest.pack_sequence_as(gradients, reduced(flat, reduce_op(op), compression, name or "all_reduce"))


def reduce_op(given: Any) -> str:
    """Returns the name of a reduction given in Horovod's, TensorFlow's or gradtape's form."""
    text = str(getattr(given, "value", given)).lower()
    text = "mean" if text == "average" else text
    if text not in collectives.OPS:
        raise ValueError(f"op must be one of {', '.join(collectives.OPS)}, got {given!r}")
    return text


def reduced(flat: Sequence[Any], op: str, compression: str | None, name: str) -> list[Any]:
    """Reduces the entries of a list over all ranks; see `all_reduce`."""
    if size() == 1:
        return [x if x is None or isinstance(x, IndexedSlices) else to_tensor(x) for x in flat]
    # If one rank has None and another does not, they would wait in different collectives, so it is part of the name.
    kinds = "".join("." if x is None else "s" if isinstance(x, IndexedSlices) else "d" for x in flat)
    label = name if set(kinds) <= {"d"} else f"{name} of {kinds}"
    dense = [to_tensor(x) for x, kind in zip(flat, kinds, strict=True) if kind == "d"]
    results = iter(_reduce_together(dense, op, compression, label) if dense else ())
    return [
        next(results) if kind == "d" else None if kind == "." else _reduce_slices(x, op, label)
        for x, kind in zip(flat, kinds, strict=True)
    ]


def _reduce_together(tensors: list[Tensor], op: str, compression: str | None, name: str) -> list[Tensor]:
    @custom_gradient
    def reduce(*xs: Any) -> Any:
        def backward(*gs: Any) -> Any:
            if op not in ("sum", "mean"):
                raise LookupError(f"The {op} over ranks has no gradient; the sum and the mean do")
            found = _reduce_together([to_tensor(g) for g in gs], op, compression, f"gradient of {name}")
            return found if len(found) > 1 else found[0]

        results = _at_each_run(lambda arrays: collectives.all_reduce(arrays, op, compression, name), xs, xs)
        return tuple(results) if len(results) > 1 else results[0], backward

    found = reduce(*tensors)
    return list(found) if isinstance(found, tuple | list) else [found]


def _reduce_slices(slices: IndexedSlices, op: str, name: str) -> IndexedSlices:
    """The sum of sparse rows is the concatenation of the rows of all ranks."""
    if op not in ("sum", "mean"):
        raise InvalidArgumentError(f"The {op} of IndexedSlices over ranks is not there: use tf.convert_to_tensor first")
    values, indices = (
        _at_each_run(lambda arrays, what=what: [collectives.all_gather(arrays[0], f"{name}, {what}")], [x])[0]
        for what, x in (("values", to_tensor(slices.values)), ("indices", to_tensor(slices.indices)))
    )
    return IndexedSlices(values / size() if op == "mean" else values, indices, slices.dense_shape)


def _at_each_run(act: Callable[..., list[Any]], tensors: Sequence[Any], like: Sequence[Any] | None = None) -> list[Any]:
    """Runs `act` on the arrays of tensors, now or in each run of a traced function; the dtypes stay the same.

    The results have the shapes of `like`, if given.
    """
    tensors = [to_tensor(x) for x in tensors]
    if any(x.dtype is string for x in tensors):
        raise InvalidArgumentError("Strings do not travel between ranks as tensors: use broadcast_object")

    def call(xs: Sequence[Tensor]) -> list[Tensor]:
        results = act([np.asarray(x.array) for x in xs])
        return [wrap(y, x.dtype) for y, x in zip(results, tensors, strict=True)]

    if dispatch.thread.trace is None:
        return call(tensors)
    from ...graph.control_flow.python_calls import traced_call

    outputs = [x.dtype for x in tensors]
    if like is not None:
        outputs = [TensorSpec(shaped.shape, x.dtype) for shaped, x in zip(map(to_tensor, like), tensors, strict=True)]
    return traced_call(call, tensors, outputs, differentiable=False)


def allreduce(
    tensor: TensorLike,
    average: bool | None = None,
    op: Any = None,
    compression: str | None = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    name: str | None = None,
) -> Tensor:
    """Returns the mean of a tensor over all ranks, or the reduction `op`; its gradient is reduced in the same way.

    >>> tf.distribute.allreduce(tf.constant([1.0, 2.0]), op=tf.distribute.Sum).numpy().tolist()
    [1.0, 2.0]
    """
    if average is not None and op is not None:
        raise ValueError("The op parameter supersedes average. Please provide only one of them.")
    chosen = reduce_op(op) if op is not None else "sum" if average is False else "mean"
    before = tensor if prescale_factor == 1.0 else _scale(tensor, prescale_factor)
    (found,) = reduced([before], chosen, compression, name or "allreduce")
    return found if postscale_factor == 1.0 else _scale(found, postscale_factor)


def _scale(x: Any, factor: float) -> Any:
    if isinstance(x, IndexedSlices):
        return IndexedSlices(x.values * factor, x.indices, x.dense_shape)
    return to_tensor(x) * factor


def grouped_allreduce(
    tensors: Sequence[Any], average: bool | None = None, op: Any = None, compression: str | None = None,
    name: str | None = None,
) -> list[Any]:  # fmt: skip
    """`allreduce` of a list of tensors, sent together.

    >>> [float(x) for x in tf.distribute.grouped_allreduce([tf.constant(1.0), tf.constant(2.0)])]
    [1.0, 2.0]
    """
    if average is not None and op is not None:
        raise ValueError("The op parameter supersedes average. Please provide only one of them.")
    chosen = reduce_op(op) if op is not None else "sum" if average is False else "mean"
    return reduced(list(tensors), chosen, compression, name or "grouped_allreduce")


def allgather(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Concatenates the tensors of all ranks along the first axis, whose size may differ between ranks.

    >>> tf.distribute.allgather(tf.constant([[1, 2]])).numpy().tolist()
    [[1, 2]]
    """
    x = to_tensor(tensor)
    if not x.dims:
        raise InvalidArgumentError(
            "allgather joins along the first axis, and a scalar has none: use tf.reshape(x, [1])"
        )
    if size() == 1:
        return x
    label = name or "allgather"

    def share(arrays: list[Any]) -> list[Any]:
        """Returns the rows of this rank in the sum of all cotangents."""
        (total,) = collectives.all_reduce(arrays, "sum", None, f"gradient of {label}")
        counts = collectives.exchange(x.dims[0], f"gradient of {label}, rows")
        first = sum(counts[: rank()])
        return [total[first : first + x.dims[0]]]

    @custom_gradient
    def gather(x: Any) -> Any:
        (whole,) = _at_each_run(lambda arrays: [collectives.all_gather(arrays[0], label)], [x])
        return whole, lambda g: _at_each_run(share, [g], [x])[0]

    return gather(x)


def broadcast(tensor: TensorLike, root_rank: int = 0, name: str | None = None) -> Tensor:
    """Returns the tensor of rank `root_rank` on all ranks; it receives the gradients of all of them.

    >>> float(tf.distribute.broadcast(tf.constant(3.0), root_rank=0))
    3.0
    """
    x = to_tensor(tensor)
    _check_root(root_rank)
    if size() == 1:
        return x
    label = name or "broadcast"

    @custom_gradient
    def send(x: Any) -> Any:
        def backward(g: Any) -> Any:
            (total,) = _reduce_together([to_tensor(g)], "sum", None, f"gradient of {label}")
            return total if rank() == root_rank else ops.zeros_like(total)

        return _at_each_run(lambda arrays: collectives.broadcast(arrays, root_rank, label), [x], [x])[0], backward

    return send(x)


def _check_root(root_rank: int) -> None:
    if not 0 <= root_rank < size():
        raise ValueError(f"root_rank must be from 0 to size - 1, which is {size() - 1}, got {root_rank}")


def broadcast_variables(variables: Iterable[Any], root_rank: int = 0) -> None:
    """Assigns the values of rank `root_rank` to the variables of all ranks, usually at the start of training.

    >>> tf.distribute.broadcast_variables([tf.Variable(1.0)], root_rank=0)
    """
    given: list[Any] = [variable.value if _is_keras(variable) else variable for variable in variables]
    _check_root(root_rank)
    if size() == 1 or not given:
        return
    found = _at_each_run(
        lambda arrays: collectives.broadcast(arrays, root_rank, "broadcast_variables"),
        given,
        list(map(to_tensor, given)),
    )
    for variable, value in zip(given, found, strict=True):
        variable.assign(value)


def _is_keras(variable: Any) -> bool:
    return hasattr(variable, "value") and not callable(variable.value)


def broadcast_object(obj: Any, root_rank: int = 0, name: str | None = None) -> Any:
    """Returns a picklable Python value of rank `root_rank` on all ranks.

    >>> tf.distribute.broadcast_object({"epoch": 3})
    {'epoch': 3}
    """
    _check_root(root_rank)
    if size() == 1:
        return obj
    label = name or "broadcast_object"
    content = pickle.dumps(obj) if rank() == root_rank else b""
    # XLA moves the bytes without authentication. The digest travels between authenticated members.
    described = [len(content), hashlib.sha256(content).hexdigest()]
    size_in_bytes, digest = collectives.exchange(described, f"{label}, size")[root_rank]
    buffer = np.frombuffer(content, np.uint8) if rank() == root_rank else np.zeros(size_in_bytes, np.uint8)
    received = collectives.broadcast([buffer], root_rank, label)[0].tobytes()
    if hashlib.sha256(received).hexdigest() != digest:
        raise DataLossError(
            f"{label}: what arrived at rank {rank()} is not what rank {root_rank} sent, and is not unpickled. Does "
            "something else send to the ports of this job?"
        )
    return pickle.loads(received)
