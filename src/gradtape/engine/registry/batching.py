"""Vectorized execution: an op on batched tensors runs once, over a leading axis, by its batching rule.

As under JAX's `vmap`, a `BatchedTensor` represents many tensors of the same shape, and has the shape of one for the
code that computes with it. Recorders entered after the batch record the batched op; those entered before record the ops
that its rule runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import errors, logger, nest
from ...core.protocols import Differentiable, OpLike, OpNamespace
from ...core.tensor import Tensor
from ..run import dispatch
from ..run.namespace import ops

_looped: set[str] = set()


class Proxy(Tensor):
    """A tensor that represents another, its `value`, and interprets ops itself, at one level."""

    __slots__ = ("level", "value")

    def __init__(self, value: Tensor, level: int) -> None:
        self.value, self.level = value, level
        self.dtype = value.dtype
        self.tracer = None

    def interpret(self, op: OpLike, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        """Runs `op` on the inner values; recorders entered before this level record what runs."""
        kind, level = type(self), self.level
        flags = list(map(self._is_alike, inputs))
        values = [x.value if flag else x for x, flag in zip(inputs, flags, strict=True)]  # type: ignore[attr-defined]
        recorders = dispatch.thread.recorders
        outer = tuple([r for r in recorders if r.level < level])
        if len(outer) == len(recorders):
            result = self._run(op, values, flags, attrs)
        else:
            with dispatch.recorded_by(outer):
                result = self._run(op, values, flags, attrs)
        several = type(result) is tuple
        outputs: Any = tuple([kind(y, level) for y in result]) if several else kind(result, level)
        inner = tuple([r for r in recorders if r.level > level])
        if inner and any(x.tracer is not None for x in inputs):
            dispatch.RecorderGroup(inner).record(op, inputs, outputs, attrs)
        return outputs

    def apart(self) -> Tensor:
        """What the tensor represents, as a batch if that is many tensors."""
        return self

    def _is_alike(self, x: Tensor) -> bool:
        return isinstance(x, Proxy) and type(x) is type(self) and x.level == self.level

    def _run(self, op: OpLike, values: list[Tensor], flags: list[bool], attrs: dict[str, Any]) -> Any:
        """Runs `op` on the inner values; `flags` says which inputs belong to this level."""
        raise NotImplementedError


class TransparentProxy(Proxy):
    """A proxy of a tensor of the same shape; reading its value reads the inner tensor's."""

    __slots__ = ()

    @property
    def dims(self) -> tuple[int, ...]:
        return self.value.dims

    def __getattr__(self, name: str) -> Any:
        if name == "array":
            return self.value.array
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


class ValuelessProxy(TransparentProxy):
    """A proxy of a tensor of the same shape whose value must not be read; `reason` says why."""

    __slots__ = ()
    reason: str

    def __getattr__(self, name: str) -> Any:
        if name == "array":
            raise NeedsValue(self.reason)
        return object.__getattribute__(self, name)  # raises AttributeError

    def __bool__(self) -> bool:
        return bool(self.array)


class BatchedTensor(Proxy):
    """Represents `value[i]` for every i at once, at one level of batching."""

    __slots__ = ()

    @property
    def dims(self) -> tuple[int, ...]:
        return self.value.dims[1:]

    @property
    def size(self) -> int:
        """The number of tensors that it represents: the batch size."""
        return self.value.dims[0]

    def __getattr__(self, name: str) -> Any:
        if name == "array":
            raise NeedsValue(
                "the value of a tensor inside vectorized_map, or of a Jacobian's cotangent, is not known: it stands "
                "for many. Use tf.where or tf.cond instead of Python's if, and tf ops instead of NumPy"
            )
        return object.__getattribute__(self, name)  # raises

    def __bool__(self) -> bool:
        return bool(self.array)

    def __repr__(self) -> str:
        return f"<batched tf.Tensor: {self.size} times shape={self.shape}, dtype={self.dtype.name}>"

    __str__ = __repr__

    def _run(self, op: OpLike, values: list[Tensor], flags: list[bool], attrs: dict[str, Any]) -> Any:
        """Runs `op` for the whole batch of this level."""
        result = NotImplemented if op.batch is None else op.batch(ops, self.size, values, flags, attrs)
        return loop(op, self.size, values, flags, attrs) if result is NotImplemented else result


class NeedsValue(TypeError):
    """The code reads the value of a batched tensor."""


class NeedsEachMember(NeedsValue):
    """A function of TensorFlow's, such as `tf.cond`, needs one member of the batch at a time."""


def check_unbatched(function: str, *values: object) -> None:
    """Raises `NeedsEachMember` if what `function` decides by is batched."""
    if any(isinstance(value, BatchedTensor) for value in values):
        raise NeedsEachMember(f"{function} decides by a value that differs between the members of a batch")


def loop(op: OpLike, size: int, values: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any]) -> Any:
    """Runs an op without a batching rule once per batch member and stacks the results."""
    if op.name not in _looped:
        _looped.add(op.name)
        logger.info("op %s has no batching rule and is run in a loop over %d members", op.name, size)

    def member(i: int) -> Any:
        return dispatch.run(op, [x[i] if flag else x for x, flag in zip(values, flags, strict=True)], attrs)

    if not size:
        blanks = [Tensor(np.zeros(x.dims[1:], x.dtype.numpy), x.dtype) for x in values]
        one = [blank if flag else x for x, blank, flag in zip(values, blanks, flags, strict=True)]
        example = dispatch.run(op, one, attrs)
        return nest.map_structure(lambda y: ops.constant(np.zeros((0, *y.dims), y.dtype.numpy)), example)
    results = [member(i) for i in range(size)]
    if op.shaped_by_values and len({tuple(y.dims for y in nest.flatten(result)) for result in results}) > 1:
        raise NeedsValue(
            f"the shape of what op {op.name} gives depends on the value of a tensor inside vectorized_map, or of a "
            "Jacobian's cotangent, and differs between its members. Use tf.where with three arguments instead"
        )
    if type(results[0]) is tuple:
        return tuple(ops.stack(*column, axis=0) for column in zip(*results, strict=True))
    return ops.stack(*results, axis=0)


def broadcast_batch(m: OpNamespace, x: Tensor, flag: bool, size: int) -> Tensor:
    """Returns `x` with a leading batch axis, broadcast if it has none."""
    return x if flag else m.broadcast_to(x, shape=(size, *x.dims))


def align_ranks(m: OpNamespace, inputs: Sequence[Tensor], flags: Sequence[bool]) -> list[Tensor]:
    """Aligns the inputs of a broadcasting op: inserts axes of size 1 after the batch axis where ranks differ."""
    rank = max(len(x.dims) - flag for x, flag in zip(inputs, flags, strict=True))
    found = []
    for x, flag in zip(inputs, flags, strict=True):
        missing = rank + 1 - len(x.dims)
        if flag and missing:
            x = m.reshape(x, shape=(x.dims[0], *(1,) * missing, *x.dims[1:]))
        found.append(x)
    return found


def fold(op: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a batching rule for an op whose first input has a leading axis of independent examples.

    The rule folds the batch into that axis; it applies when no other input is batched.
    """

    def batch(m: OpNamespace, size: int, inputs: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any]) -> Any:
        if any(flags[1:]):
            return NotImplemented
        x = inputs[0]
        merged = m.reshape(x, shape=(x.dims[0] * x.dims[1], *x.dims[2:]))
        result = op(merged, *inputs[1:], **attrs)

        def unmerged(y: Tensor) -> Tensor:
            return m.reshape(y, shape=(size, y.dims[0] // max(size, 1) if size else x.dims[1], *y.dims[1:]))

        return tuple(map(unmerged, result)) if type(result) is tuple else unmerged(result)

    return batch


def batched_identity(target: Differentiable, start: int, stop: int, factor: complex = 1) -> BatchedTensor:
    """Returns rows `start` to `stop` of `factor` times the identity, shaped like `target`: a Jacobian's cotangents."""
    rows = np.zeros((stop - start, math.prod(target.dims)), target.dtype.numpy)
    rows[np.arange(stop - start), np.arange(start, stop)] = factor
    return BatchedTensor(Tensor(rows.reshape(stop - start, *target.dims), target.dtype), dispatch.next_level())


def vectorize(fn: Callable[[Any], Any], elems: object) -> Any:
    """Applies `fn` to all elements along the first axis of `elems`, a nest of tensors, at once.

    A first axis of size 1 is broadcast. Raises `NeedsValue` where `fn` reads the value of an element.
    """
    from ..run.randomness import drawing_for_each

    level = dispatch.next_level()
    flat = nest.flatten(elems)
    size = common_size(flat)
    entered = [x[0] if x.dims[0] == 1 < size else enter(x, level) for x in flat]

    def states(draw: Callable[[], Any], take: object) -> Tensor:
        drawn = [ops.constant(draw()) for _ in range(size)]
        return enter(ops.stack(*drawn, axis=0) if drawn else Tensor(np.zeros((0, 3), np.uint64)), level)

    with drawing_for_each(states):
        result = fn(nest.pack_sequence_as(elems, entered))
    return nest.map_structure(lambda y: None if y is None else leave(ops.constant(y), level, size), result)


def common_size(tensors: Sequence[Tensor]) -> int:
    """Returns the number of elements along the first axes, which must agree or be 1."""
    sizes = {x.dims[0] for x in tensors}
    size = max(sizes - {1}, default=1)
    if sizes - {1, size}:
        raise errors.InvalidArgumentError(
            f"vectorized_map needs the same number of elements in every tensor, or 1, got {sorted(sizes)} along the "
            "first axes"
        )
    return size


def enter(x: Tensor, level: int) -> BatchedTensor:
    """Makes the first axis of `x` the batch of `level`; nested batches of a tensor are ordered by level."""
    if type(x) is BatchedTensor and x.level > level:
        return BatchedTensor(enter(exchanged(ops, x.value), level), x.level)
    return BatchedTensor(x, level)


def leave(y: Tensor, level: int, size: int) -> Tensor:
    """Inverse of `enter`; a value that does not depend on the batch is broadcast."""
    if type(y) is BatchedTensor and y.level == level:
        return y.value
    if type(y) is BatchedTensor and y.level > level:
        return BatchedTensor(exchanged(ops, leave(y.value, level, size)), y.level)
    return ops.broadcast_to(y, shape=(size, *y.dims))


def exchanged(m: OpNamespace, x: Tensor) -> Tensor:
    """Swaps the first two axes of `x`."""
    return m.transpose(x, perm=(1, 0, *range(2, len(x.dims))))
