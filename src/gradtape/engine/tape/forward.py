"""Forward mode: every value that depends on a primal carries a tangent in its tracer, and no residuals are saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import nest
from ...core.tensor import Tensor, is_tensor_like
from ..registry.batching import BatchedTensor
from ..registry.cotangents import finished
from ..run import dispatch
from ..run.convert import to_tensor
from ..run.namespace import ops
from .backprop import SparseCotangents, sweep
from .log import Log, living, new_key
from .validation import UnconnectedGradients, native, ones, unconnected_mode, warn_not_floating, zeros_like


class ForwardAccumulator(dispatch.Block, dispatch.Recorder):
    """Computes Jacobian-vector products ("JVP"s) using forward-mode autodiff, while the computation runs.

    >>> import gradtape as tf
    >>> x = tf.constant([1.0, 2.0])
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    ...     y = x * x
    >>> acc.jvp(y).numpy().tolist()
    [2.0, 0.0]

    Args:
      primals: a tensor, a variable, or a nested structure of them, to watch.
      tangents: the directions: tensors with the structure, shapes and dtypes of `primals`.
    """

    _STILL = "Accumulator is already recording."

    def __init__(self, primals: Any, tangents: Any) -> None:
        self.key = new_key(self)
        nest.assert_same_structure(primals, tangents)
        self.level = 0
        self._variables: dict[int, tuple[Any, Any]] = {}
        self._tensors: list[tuple[Tensor, Tensor]] = []
        seen: set[int] = set()
        for primal, tangent in zip(nest.flatten(primals), nest.flatten(tangents), strict=True):
            if id(primal) in seen:
                raise ValueError(
                    f"Tensor {primal!r} was specified as a primal multiple times. This may indicate an error. If it "
                    "was intended, please sum the corresponding tangents."
                )
            seen.add(id(primal))
            self._watch(primal, tangent)

    @classmethod
    def _batch_accumulator(cls, primals: Any, tangents: Any) -> ForwardAccumulator:
        """Returns an accumulator for a batch of tangents: each tangent has one more leading axis than its primal."""
        return _BatchAccumulator(primals, tangents)

    def _watch(self, primal: Any, tangent: Any) -> None:
        """Sets the tangent of a primal, or adds to the one that it has."""
        primal = native(primal)
        if not is_tensor_like(primal):
            raise AttributeError(
                f"'{type(primal).__name__}' object has no attribute 'dtype': a primal must be a tensor or a variable, "
                f"got {primal!r}"
            )
        if not primal.dtype.differentiable:
            warn_not_floating("primal", primal.dtype)
            return
        t = to_tensor(tangent, dtype=primal.dtype)
        self._check(primal, t)
        if t is primal:
            t = ops.identity(t)  # a tensor whose tracer refers to itself would be a reference cycle
        if not isinstance(primal, Tensor):
            before = self._of_variable(primal)
            self._variables[id(primal)] = (primal, t if before is None else before + t)
        elif self._recording:
            before = dispatch.entry(primal.tracers, self.key)
            primal.tracer = (self.key, t if before is None else before + t, living(primal.tracers))
        else:
            self._tensors.append((primal, t))

    def _check(self, primal: Any, tangent: Tensor) -> None:
        if tangent.dims != primal.dims:
            raise ValueError(
                f"a tangent must have the shape of its primal, {primal.shape}, got {tangent.shape}. Use "
                "tf.broadcast_to where repetition is meant"
            )

    def _begin(self) -> None:
        self.level = dispatch.next_level()
        for primal, tangent in self._tensors:
            primal.tracer = (self.key, tangent, living(primal.tracers))
        self._tensors = []
        self._recording = True
        dispatch.set_recorders((*dispatch.thread.recorders, self))

    def _end(self) -> None:
        dispatch.leave(self)
        self._recording = False

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Returns the Jacobian-vector product of `primals`, values computed inside the block, with the tangents."""
        unconnected = unconnected_mode(unconnected_gradients)

        def tangent(x: Any) -> Any:
            x = native(x)
            found = dispatch.entry(x.tracers, self.key) if isinstance(x, Tensor) else self._of_variable(x)
            if found is None and unconnected is UnconnectedGradients.ZERO:
                return zeros_like(x)
            return found

        return nest.map_structure(tangent, primals)

    def _of_variable(self, variable: Any) -> Any:
        return self._variables.get(id(variable), (variable, None))[1]

    def record(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        """Computes the tangents of an op's outputs."""
        tangents = [dispatch.entry(x.tracers, self.key) for x in inputs]
        if op.vjp is None or all(t is None for t in tangents):
            return
        outer = tuple(r for r in dispatch.thread.recorders if r.level < self.level)
        with dispatch.recorded_by(outer):
            jvp = op.jvp or _transposed(op)
            result = jvp(ops, inputs, outputs, attrs, tangents)
        if type(outputs) is not tuple:
            outputs, result = (outputs,), (result,)
        for y, t in zip(outputs, result or (None,) * len(outputs), strict=True):
            if t is not None and y.dtype.differentiable:
                y.tracer = (self.key, t, y.tracers)

    def tracer_of(self, variable: Any, rest: Any) -> Any:
        """Returns the tracer of a value read from `variable` now, chained to `rest`."""
        entry = self._variables.get(id(variable))
        return rest if entry is None or entry[1] is None else (self.key, entry[1], rest)

    def assigned(self, variable: Any, value: Tensor) -> None:
        """Replaces the variable's tangent with that of the assigned value."""
        tangent = dispatch.entry(value.tracers, self.key)
        if tangent is not None or id(variable) in self._variables:
            self._variables[id(variable)] = (variable, tangent)


class _BatchAccumulator(ForwardAccumulator):
    """A `ForwardAccumulator` for a batch of tangents; `jvp` returns the results stacked along a new first axis."""

    _batch: int | None = None  # the batching level of the tangents, set on first entry

    def _check(self, primal: Any, tangent: Tensor) -> None:
        if tangent.dims[1:] != primal.dims or not tangent.dims:
            raise ValueError(
                f"a batch of tangents must have the shape of its primal, {primal.shape}, and one more axis in front, "
                f"got {tangent.shape}"
            )

    def _begin(self) -> None:
        if self._batch is None:
            level = dispatch.next_level()
            self._tensors = [(x, BatchedTensor(t, level)) for x, t in self._tensors]
            self._variables = {at: (x, BatchedTensor(t, level)) for at, (x, t) in self._variables.items()}
            self._batch = level
        super()._begin()

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Returns the Jacobian-vector product for each tangent of the batch."""
        found = super().jvp(primals, unconnected_gradients)
        return nest.map_structure(lambda t: t.value if type(t) is BatchedTensor else t, found)


def _transposed(op: Any) -> Any:
    """Derives a forward rule from the reverse rule: `vjp` is linear in the cotangent, and its transpose is the jvp.

    This is the double-backward trick: the vjp is recorded at a zero cotangent, then differentiated with respect to it.
    """

    def jvp(m: Any, inputs: Any, outputs: Any, attrs: Any, tangents: Any) -> Any:
        several = type(outputs) is tuple
        log = Log(watch_accessed_variables=False)
        blanks = [zeros_like(y) for y in (outputs if several else (outputs,))]
        for g in blanks:
            if g.dtype.differentiable:
                log.watch(g)
        parents = tuple(-1 if t is None else 0 for t in tangents)
        with dispatch.recorded_by((*dispatch.thread.recorders, log)):
            saved = op.keep(inputs, outputs, attrs)
            cotangents = op.vjp(ops, tuple(blanks) if several else blanks[0], saved, parents)
            terms = [_inner(c, t) for c, t in zip(cotangents, tangents, strict=True) if c is not None and t is not None]
            total = sum(terms[1:], terms[0]) if terms else None
        position = None if total is None else log.position(total)
        if total is None or position is None:
            return (None,) * len(blanks) if several else None
        at = [log.position(g) for g in blanks]
        grads = SparseCotangents({position: ones(total)})
        wanted = {i for i in at if i is not None}
        sweep(log, grads, wanted, m=ops, order=range(position, -1, -1), need=None, release=False, hooks={})
        found = tuple(None if i is None else grads[i] for i in at)
        return found if several else found[0]

    return jvp


def _inner(cotangent: Any, tangent: Tensor) -> Tensor:
    cotangent = finished(ops, cotangent)
    if cotangent.dtype.is_complex:
        cotangent = ops.conj(cotangent)
    return ops.sum(cotangent * tangent, axis=tuple(range(len(tangent.dims))), keepdims=False)
