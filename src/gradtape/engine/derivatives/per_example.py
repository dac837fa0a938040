"""Per-example and per-loss gradients from one sweep.

The cotangent of example `i` is zero in the rows of all other examples. So the cotangents of all examples fit into one
array: an `ExampleTensor`, whose first axis holds the rows of one example after the other. The sweep runs as it does for
the sum of the losses until a rule reduces over the examples, as the rule for a weight does. That op runs on the rows of
each example separately, and its result is a `BatchedTensor` with a leading axis of examples. An op declares how it
treats rows in `registry/examples.py`. An op without a declaration falls back to one cotangent per example, padded with
zeros, which is slower but always correct.

If the loss of an example depends on other examples, as with batch normalization in training, its gradient is that of no
example alone. The sweep sees it where the cotangent of an example reaches the rows of another: where it is added to the
example's own rows, or behind an op that fell back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import logger
from ...core.dtypes import DType, float32
from ...core.protocols import Attrs, Differentiables, OpLike, Tensors
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ..registry.batching import BatchedTensor, Proxy, ValuelessProxy, leave
from ..registry.cotangents import materialize
from ..registry.examples import KeptRows, SummedRows
from ..registry.families import conjugate
from ..registry.op import Op
from ..run import dispatch
from ..run.namespace import ops
from ..run.verification import verify
from ..tape.tape import Tape
from ..tape.validation import Differentiable

_unknown: set[str] = set()

_FEW_BYTES = 1 << 24  # chunk size of per-example gradients when only their norms are requested
_DEPENDENT_EXAMPLES = (
    "gradient(per='example'): the loss of an example depends on other examples (as with batch normalization in "
    "training, or a sum over the batch), so there is no gradient of each example alone. Call the layer with "
    "training=False, or use one that treats each example alone, such as LayerNormalization. check_rows=False computes "
    "the derivative of each loss"
)


class Examples:
    """The number of examples, the batching levels, and whether reductions over examples are deferred.

    Examples from `start` to `stop` get cotangents of their own, so that these fit into memory; by default all do. Each
    may have several, one for each of its `entries`: a batch at the level `entries_at`. It joins that of the examples
    where they go apart, because an op on one batch takes less time than on a batch of batches.
    """

    def __init__(
        self, count: int, sums_wait: bool = False, entries: int | None = None, start: int = 0, stop: int | None = None,
        check_rows: bool = False,
    ) -> None:  # fmt: skip
        self.count, self.check_rows = count, check_rows and count > 1
        self.start, self.stop = start, count if stop is None else stop
        self.entries = entries
        self.entries_at = dispatch.next_level()
        self.apart_at = dispatch.next_level()
        self.level = dispatch.next_level()
        self.sums_wait = sums_wait

    @property
    def size(self) -> int:
        """The number of cotangents once the examples are apart."""
        return (self.stop - self.start) * (1 if self.entries is None else self.entries)

    def split(self, x: Tensor) -> Tensor:
        """Gives the rows of each example, from `start` to `stop`, an axis of their own."""
        each = ops.reshape(x, shape=(self.count, x.dims[0] // self.count, *x.dims[1:]))
        return each if self.stop - self.start == self.count else each[self.start : self.stop]

    def check_own_rows(self, g: BatchedTensor, axes: Sequence[int] = (1,)) -> None:
        """Raises if cotangents in `g` reach other examples' rows, along each of the axes; in a trace, on every run."""
        verify(self._refuse_others, *(self._reached_rows(g, axis) for axis in axes))

    def together(self, g: Any, rows: tuple[int, ...]) -> Any:
        """Joins the cotangents behind an op that fell back again if each reaches the rows of its own example only.

        Raises if the op kept the shape `rows` and some cotangent reaches other rows, along whichever axis.
        """
        if type(g) is not BatchedTensor or g.level != self.apart_at:
            return g
        axes = [axis for axis, n in enumerate(g.value.dims) if axis and n and n % self.count == 0]
        known = type(g.value) is Tensor and dispatch.thread.trace is None
        if known and 1 in axes and not self._reach_others(self._reached_rows(g, 1).array):
            pairs = ops.reshape(g.value, shape=(self.count**2, g.dims[0] // self.count, *g.dims[1:]))
            own = pairs[:: self.count + 1]
            return ExampleTensor(ops.reshape(own, shape=g.dims), self)
        if axes and g.dims == rows:
            self.check_own_rows(g, axes)
        return g

    def _reached_rows(self, g: BatchedTensor, axis: int) -> Tensor:
        """The largest number in each row along an axis, for each example's cotangent."""
        others = tuple(i for i in range(1, len(g.value.dims)) if i != axis)
        return ops.max(ops.abs(g.value), axis=others, keepdims=False) if others else ops.abs(g.value)

    def _reach_others(self, largest: np.ndarray[Any, Any]) -> bool:
        reached = np.any((largest > 0).reshape(self.count, self.count, -1), axis=2)  # NaN is no sign
        return bool(np.any(reached & ~np.eye(self.count, dtype=bool)))

    def _refuse_others(self, *largest: np.ndarray[Any, Any]) -> None:
        if all(map(self._reach_others, largest)):
            raise ValueError(_DEPENDENT_EXAMPLES)

    def merge_entries(self, y: Tensor) -> Tensor:
        """Makes one batch of the examples and their entries."""
        if self.entries is None:
            return y
        by_entry = leave(leave(y, self.apart_at, self.stop - self.start), self.entries_at, self.entries)
        return BatchedTensor(ops.reshape(by_entry, shape=(self.size, *by_entry.dims[2:])), self.apart_at)


class ExampleTensor(ValuelessProxy):
    """The cotangents of all examples in one array: the first axis holds the rows of one example after the other."""

    __slots__ = ("examples",)
    reason = "the value of a cotangent is not known: it stands for those of many examples"

    def __init__(self, value: Tensor, examples: Examples) -> None:
        super().__init__(value, examples.level)
        self.examples = examples

    def interpret(self, op: OpLike, inputs: Tensors, attrs: Attrs) -> Any:
        """Runs `op` on all rows at once, on the rows of each example, or on one zero-padded cotangent per example."""
        flags = list(map(self._is_alike, inputs))
        if op.name == "after" and not flags[0]:  # a value that waits for a cotangent is not one itself
            return dispatch.run(op, [inputs[0], self.value], attrs)
        simple = not any(isinstance(x, Proxy) and not flag for x, flag in zip(inputs, flags, strict=True))
        rows = op.rows(inputs, flags, attrs, self.examples.count) if simple and op.rows is not None else None
        values = [x.value if flag else x for x, flag in zip(inputs, flags, strict=True)]  # type: ignore[attr-defined]
        if isinstance(rows, KeptRows):
            assert isinstance(op, Op)  # others declare no rows
            result = op(*values, **attrs)
            return tuple(map(self._like, result)) if type(result) is tuple else self._like(result)
        if rows is not None:
            return self._added_up(op, values, attrs, rows)
        if op.name not in _unknown:
            _unknown.add(op.name)
            logger.info("gradients of single examples: op %s falls back to one cotangent per example", op.name)
        examples = self.examples
        if examples.check_rows and op.name in ("add", "sub", "add_n"):
            for x in inputs:
                if type(x) is BatchedTensor and x.level == examples.apart_at and x.dims == self.dims:
                    examples.check_own_rows(x)
        apart = [x.apart() if flag else x for x, flag in zip(inputs, flags, strict=True)]  # type: ignore[attr-defined]
        result = dispatch.run(op, apart, attrs)
        return examples.together(result, self.dims) if examples.check_rows and simple else result

    def _like(self, value: Tensor) -> Tensor:
        return ExampleTensor(value, self.examples)

    def _added_up(self, op: OpLike, values: Tensors, attrs: Attrs, sums: SummedRows) -> Any:
        own = [x if k in sums.shared else self._of_each(x) for k, x in enumerate(values)]
        if self.examples.sums_wait and not sums.kept:
            return DeferredReduction(op, own, attrs, self.examples)
        result = dispatch.run(op, own, attrs)
        if type(result) is not tuple:
            return self.examples.merge_entries(result)
        merge = self.examples.merge_entries
        return tuple(self._together(y) if k in sums.kept else merge(y) for k, y in enumerate(result))

    def _of_each(self, x: Tensor) -> BatchedTensor:
        """Splits the rows by example, as a batch."""
        return BatchedTensor(self.examples.split(x), self.examples.apart_at)

    def _together(self, x: BatchedTensor) -> Tensor:
        """The inverse of `_of_each`; the rows of other examples are not needed, and 0."""
        first, count, each = self.examples.start, self.examples.count, x.dims[0]
        rows = ops.reshape(x.value, shape=(x.size * each, *x.dims[1:]))
        if x.size < count:
            key = (slice(first * each, (first + x.size) * each),)
            rows = ops.place(rows, key=key, shape=(count * each, *x.dims[1:]))
        return self._like(rows)

    def apart(self) -> Tensor:
        """Expands to one cotangent per example, with zeros in the rows of the others."""
        first, count = self.examples.start, self.examples.count
        own = self.examples.split(self.value)
        size, each, *rest = own.dims
        # Of all pairs of examples, every `count + 1`-th is one with itself; the others are 0, not 0 times a derivative.
        pairs = ops.place(own, key=(slice(first, None, count + 1),), shape=(size * count, each, *rest))
        found = BatchedTensor(ops.reshape(pairs, shape=(size, count * each, *rest)), self.examples.apart_at)
        return self.examples.merge_entries(found)


class DeferredReduction(Proxy):
    """A reduction over each example's rows that has not run yet: often only the norms of its results are needed."""

    __slots__ = ("_attrs", "_inputs", "_op", "examples")

    def __init__(self, op: OpLike, inputs: list[Any], attrs: Attrs, examples: Examples) -> None:
        self._op, self._inputs, self._attrs, self.examples = op, inputs, attrs, examples
        one = self._of(0, 1)
        super().__init__(one.value, examples.level)

    @property
    def dims(self) -> tuple[int, ...]:
        return self.value.dims[1:]

    def _of(self, start: int, stop: int) -> BatchedTensor:
        """The results of a range of examples."""
        own = [BatchedTensor(x.value[start:stop], x.level) if type(x) is BatchedTensor else x for x in self._inputs]
        return dispatch.run(self._op, own, self._attrs)

    def made(self) -> BatchedTensor:
        """The results of all examples."""
        return self._of(0, self.examples.count)

    def interpret(self, op: OpLike, inputs: Tensors, attrs: Attrs) -> Any:
        """Runs the deferred reductions, because `op` needs their results."""
        made = [x.made() if type(x) is DeferredReduction else x for x in inputs]
        apart = [x.apart() if type(x) is ExampleTensor else x for x in made]
        return dispatch.run(op, apart, attrs)

    def square_norms(self) -> Tensor:
        """The squared norm of each example's result, computed in chunks of examples."""
        together = max(1, _FEW_BYTES // max(1, math.prod(self.dims) * self.dtype.size))
        ranges = [(i, min(i + together, self.examples.count)) for i in range(0, self.examples.count, together)]
        return ops.concat(*[_square_norms(self._of(*span).value) for span in ranges], axis=0)


def gradients_apart(
    tape: Tape, targets: Differentiables, sources: Differentiables, per: str, norms: bool, check_rows: bool = True
) -> list[Tensor | None]:
    """For each source, the stacked gradients of all examples or losses, or their norms; None without a path.

    With `check_rows`, raises if the loss of an example depends on other examples.
    """
    if per == "loss":
        found = _gradients_of_losses(tape, targets, sources)
    else:
        found = _gradients_of_examples(tape, targets, sources, norms, check_rows)
    return [g if g is None or not norms else _norms(g) for g in found]


def _gradients_of_examples(
    tape: Tape, targets: Differentiables, sources: Differentiables, norms: bool, check_rows: bool
) -> list[Tensor | None]:
    count = targets[0].dims[0]
    if not count:
        found = Tape.vjp(tape, targets, [Tensor(np.ones(t.dims, t.dtype.numpy), t.dtype) for t in targets], sources)
        empty = [Tensor(np.zeros((0, *s.dims), s.dtype.numpy), s.dtype) for s in sources]
        return [None if g is None else rows for g, rows in zip(found, empty, strict=True)]
    examples = Examples(count, sums_wait=norms, check_rows=check_rows)
    seeds = [ExampleTensor(Tensor(np.ones(t.dims, t.dtype.numpy), t.dtype), examples) for t in targets]
    return [None if g is None else stacked(g, examples, norms) for g in Tape.vjp(tape, targets, seeds, sources)]


def _gradients_of_losses(tape: Tape, targets: Differentiables, sources: Differentiables) -> list[Tensor | None]:
    count, level = len(targets), dispatch.next_level()
    seeds = []
    for k, t in enumerate(targets):
        rows = np.zeros((count, *t.dims), t.dtype.numpy)
        rows[k] = 1
        seeds.append(BatchedTensor(Tensor(rows, t.dtype), level))
    found = Tape.vjp(tape, targets, seeds, sources)
    return [None if g is None else leave(materialize(ops, g), level, count) for g in found]


def cosines(gradients: Tensors, count: int, dtype: DType) -> Tensor:
    """Computes the cosine similarities between gradients of losses, stacked along the first axis for each source."""
    products = Tensor(np.zeros((count, count), dtype.numpy), dtype)
    for g in gradients:
        rows = ops.cast(ops.reshape(g, shape=(count, math.prod(g.dims[1:]))), dtype=dtype)
        products = products + ops.matmul(rows, rows, transpose_b=True)
    lengths = ops.sqrt(ops.take_diagonal(products, axes=(0, 1)))
    return ops.divide_no_nan(products, ops.reshape(lengths, shape=(count, 1)) * lengths)


def stacked(g: Tensor | IndexedSlices, examples: Examples, waiting: bool = False) -> Tensor:
    """The gradients of all examples, stacked along the first axis; deferred ones stay so if `waiting`."""
    found: Tensor = materialize(ops, g)
    if type(found) is DeferredReduction:
        return found if waiting else leave(found.made(), examples.apart_at, examples.count)
    return leave(found.apart() if type(found) is ExampleTensor else found, examples.apart_at, examples.size)


def _norms(g: Tensor) -> Tensor:
    """The norm of each row, in the real dtype of the rows."""
    return ops.cast(ops.sqrt(_square_norms(g)), dtype=g.dtype.real_dtype)


def _square_norms(g: Tensor) -> Tensor:
    """The squared norm of each row, as the row's product with itself: no array of squares is allocated.

    Squares of 16-bit floats overflow where the norm does not, so they are computed in float32.
    """
    if type(g) is DeferredReduction:
        return g.square_norms()
    rows = ops.reshape(g, shape=(g.dims[0], math.prod(g.dims[1:])))
    if g.dtype.size < 4:
        rows = ops.cast(rows, dtype=float32)
    found = ops.contract(conjugate(ops, rows), rows, equation="ni,ni->n")
    return ops.real(found) if g.dtype.is_complex else found


def zeros_apart(targets: Differentiables, source: Differentiable, per: str, norms: bool) -> Tensor:
    """The zeros that stand for the gradients of an unconnected source."""
    count = len(targets) if per == "loss" else targets[0].dims[0]
    dtype = source.dtype.real_dtype if norms else source.dtype
    return Tensor(np.zeros((count,) if norms else (count, *source.dims), dtype.numpy), dtype)
