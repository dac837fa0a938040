"""`GradientTape`: TensorFlow's arguments, warnings and errors around the engine's tape."""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np

from ..core import modes, nest
from ..core.composites import composites_of_gradients, tensors_for_gradients
from ..core.tensor import Tensor
from ..engine.derivatives import hessians, jacobians
from ..engine.derivatives.jacobian_modes import as_matrix, is_small, no_entries, sparse_jacobians
from ..engine.derivatives.nan_safe import is_nan, nan_safe_gradients
from ..engine.derivatives.per_example import cosines, gradients_apart, zeros_apart
from ..engine.run import dispatch
from ..engine.tape import queries
from ..engine.tape.assignments import tracking
from ..engine.tape.log import Log
from ..engine.tape.queries import QueryResult
from ..engine.tape.results import OptionalGradient
from ..engine.tape.tape import Tape
from ..engine.tape.validation import Differentiable, differentiable, is_watchable, native, zeros_like
from .tape_arguments import (
    UnconnectedGradients,
    are_leaves,
    check_jacobian_mode,
    check_per,
    flat_sources,
    flat_targets,
    flat_vectors,
    is_leaf,
    single,
    unconnected_mode,
    warn_not_floating,
)  # fmt: skip

logger = logging.getLogger("gradtape")

_USED_UP = (
    "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians). Use "
    "GradientTape(persistent=True) to ask more than once"
)
_NONE = UnconnectedGradients.NONE

if TYPE_CHECKING:
    from ..state.variable import Variable

    _Source = Tensor | Variable
    _S = TypeVar("_S", bound=_Source)
    _K = TypeVar("_K")

_is_none = partial(operator.is_, None)


def _inspect() -> ModuleType:
    """The package that explains tapes, imported when it is first needed: most programs never need it."""
    from .. import inspect

    return inspect


class GradientTape(Tape):
    """Records operations for automatic differentiation.

    Operations are recorded if they are executed within this context manager and at least one of their inputs is being
    watched. Trainable variables are watched automatically when they are read; tensors are watched when `watch` is
    called on them.

    >>> import gradtape as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> print(tape.gradient(y, x))
    tf.Tensor(6.0, shape=(), dtype=float32)

    Args:
      persistent: whether the tape keeps its records until it is deleted, so that `gradient` and the other methods can
        be called more than once. By default, the first call releases the records.
      watch_accessed_variables: whether the tape automatically watches every trainable variable that is read.
      trace: whether the tape records the source line of every op.
      track_assign: whether assignments to variables are differentiated. A variable passed as a source then means the
        value that it had when the tape first read or watched it.
      check: "nan" makes `gradient` raise an error if a target or a gradient is not finite, and report the op that
        produced the first such value.
      memory_budget: the memory for values saved for the backward pass: a number of bytes, a string such as "2GB", or a
        fraction of what would be saved. Budgets below 2 MB are raised to 2 MB. Values that do not fit are dropped and
        recomputed in the backward pass, with bitwise identical results.
      spill: a directory for values that take longer to recompute than to read from disk.
    """

    _warned_inside = False
    _trace = False
    _check: str | None = None
    _track_assign = False
    _finishers: tuple[Callable[[list[Any], list[Any]], list[Any]], ...] = ()

    def __init__(
        self,
        persistent: bool = False,
        watch_accessed_variables: bool = True,
        *,
        trace: bool = False,
        check: str | None = None,
        track_assign: bool = False,
        memory_budget: int | float | str | None = None,
        spill: Any = None,
    ) -> None:
        super().__init__(persistent, watch_accessed_variables)
        if check not in (None, "nan"):
            raise ValueError(f"check must be None or 'nan', got {check!r}")
        if memory_budget is not None or spill is not None:
            from ..engine.tape.budgets import checked_budget  # imported lazily: few tapes need it

            self._budget = checked_budget(memory_budget, spill, trace or check is not None)
        elif trace or check is not None:
            self._budget = None  # such a tape keeps every value, whatever budget is in force
        self._track_assign = track_assign
        self._check = check
        if trace:
            self._trace = True
            self._note_creation()
            self._event_log_lease = _inspect().event_log.EventLogLease()

    def _log_class(self) -> type[Log]:
        kind = super()._log_class()
        if kind is Log and (self._trace or self._check):
            kind = _inspect().event_log.TracingLog if self._trace else _inspect().checked.CheckedLog
        return tracking(kind) if self._track_assign else kind

    def _open_log(self, doing: str) -> Log:
        if self._log is None:
            if self._entered:
                raise RuntimeError(_USED_UP)
            raise RuntimeError(f"Cannot {doing}: this GradientTape was never entered. Use `with tape:` first")
        return self._log

    def watch(self, tensor: Any) -> None:
        """Ensures that `tensor` is being traced by this tape.

        Args:
          tensor: a tensor, a variable, or a nested structure of them.

        >>> import gradtape as tf
        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = tf.reduce_sum(x * x)
        >>> tape.gradient(y, x).numpy().tolist()
        [2.0, 4.0]
        """
        leaves = [tensor] if type(tensor) is Tensor else nest.flatten(tensor, expand_composites=True)
        for leaf in leaves:
            if type(leaf) is Tensor:
                continue
            if not is_watchable(leaf):
                raise ValueError(
                    f"Passed in object {leaf!r} of type '{type(leaf).__name__}', not tf.Tensor or tf.Variable or "
                    "ExtensionType."
                )
        if self._log is None:
            state = "already used up" if self._entered else "not entered yet"
            raise AttributeError(f"watch needs a recording tape, and this one is {state}. Call it inside `with tape:`")
        for leaf in map(native, leaves):
            if not leaf.dtype.differentiable:
                warn_not_floating("tensor", leaf.dtype)
            if not isinstance(leaf, Tensor):
                self._log.watch_variable(leaf)
            elif leaf.dtype.differentiable:
                self._log.watch(leaf)
            if not leaf.dtype.differentiable:
                self._log.refuse_watch(leaf)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Temporarily stops recording operations on this tape: nothing executed inside the block is recorded."""
        if self._log is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def reset(self) -> None:
        """Clears all information stored in this tape and continues recording."""
        self.pause()
        before, self._log, self._hooks = self._log, None, {}
        self.resume()
        if before is not None and self._log is not None:
            self._log.continue_from(before)

    def watched_variables(self) -> tuple[Any, ...]:
        """Returns the variables watched by this tape, in order of their creation."""
        watched = self._watched if self._log is None else self._log.variables
        return tuple(sorted(watched, key=lambda variable: variable._created))

    @contextmanager
    def attach(self) -> Iterator[GradientTape]:
        """Records on this tape what another thread executes inside the block.

        Recording is per thread: call this method in the other thread. Two threads must not record at the same time.
        """
        log = self._open_log("attach")
        with dispatch.recorded_by((*dispatch.thread.recorders, log)):
            yield self

    def on_gradient(self, x: Any, hook: Callable[[Any], Any]) -> None:
        """Registers a backward hook: `hook(gradient)` is called when the gradient with respect to `x` is complete.

        It is called before the gradient propagates to the inputs of `x`. If the hook returns a value, it replaces the
        gradient.

        >>> import gradtape as tf
        >>> v = tf.Variable(2.0)
        >>> with tf.GradientTape() as tape:
        ...     y = v * v
        ...     tape.on_gradient(y, lambda g: 10.0 * g)
        >>> float(tape.gradient(y, v))
        40.0
        """
        log = self._open_log("add a gradient hook")
        x = native(x)
        position = log.position(x)
        if position is None and not isinstance(x, Tensor) and is_watchable(x):
            position = log.watch_variable(x)
        if position is None or position < 0:
            raise ValueError(f"{x!r} is not on this tape: watch it, or compute it from something watched, first")
        self._hooks.setdefault(position, []).append(hook)

    def on_finished(self, finish: Callable[[list[Any], list[Any]], list[Any]]) -> None:
        """Registers `finish(sources, gradients)`, which `gradient` calls on the flat lists before it returns.

        The function returns the list of gradients to use instead. Use it for an all-reduce, for checks or for logging.
        """
        self._finishers = (*self._finishers, finish)
        self._releases_early = False  # an error in `finish` leaves the tape usable

    @overload
    def gradient(
        self, target: Any, sources: _Source, output_gradients: Any = ..., *,
        unconnected_gradients: Literal[UnconnectedGradients.ZERO],
        nan_safe: bool = ..., per: str | None = ..., norms: bool = ...,
    ) -> Tensor: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Any, sources: list[_S], output_gradients: Any = ..., *,
        unconnected_gradients: Literal[UnconnectedGradients.ZERO],
        nan_safe: bool = ..., per: str | None = ..., norms: bool = ...,
    ) -> list[Tensor]: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Any, sources: dict[_K, _S], output_gradients: Any = ..., *,
        unconnected_gradients: Literal[UnconnectedGradients.ZERO],
        nan_safe: bool = ..., per: str | None = ..., norms: bool = ...,
    ) -> dict[_K, Tensor]: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Any, sources: _Source, output_gradients: Any = ..., unconnected_gradients: Any = ..., *,
        nan_safe: bool = ..., per: str | None = ..., norms: bool = ...,
    ) -> Tensor | None: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Any, sources: list[_S], output_gradients: Any = ..., unconnected_gradients: Any = ..., *,
        nan_safe: bool = ..., per: str | None = ..., norms: bool = ...,
    ) -> list[Tensor | None]: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Any, sources: dict[_K, _S], output_gradients: Any = ..., unconnected_gradients: Any = ..., *,
        nan_safe: bool = ..., per: str | None = ..., norms: bool = ...,
    ) -> dict[_K, Tensor | None]: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = ..., unconnected_gradients: Any = ..., *,
        nan_safe: bool = ..., per: str | None = ..., norms: bool = ...,
    ) -> Any: ...  # fmt: skip
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
    ) -> Any:
        """Computes the gradient using operations recorded in context of this tape.

        A target that is not a scalar is differentiated as the sum of its entries, a nested structure of targets as the
        sum over all of them.

        Args:
          target: a tensor or a nested structure of tensors to be differentiated.
          sources: a tensor, a variable, or a nested structure of them. `target` is differentiated against the elements
            in `sources`; the result has the same structure.
          output_gradients: the cotangent of each target: one weight for each of its entries. Defaults to ones.
          unconnected_gradients: a value of `tf.UnconnectedGradients`: whether a source that the target does not depend
            on gets None (the default) or zeros.
          nan_safe: whether a cotangent of exactly 0 stays 0 where it is multiplied by an infinite or NaN derivative. If
            a target is NaN itself, a warning is logged.
          per: "example" computes the gradient of each entry of a vector of losses, "loss" that of each target, stacked
            along a new first axis, in a single backward pass.
          norms: whether to return only the norms of the gradients selected by `per`, one vector for each source,
            without keeping the gradients.

        >>> import gradtape as tf
        >>> w, b = tf.Variable([[2.0]]), tf.Variable([1.0])
        >>> with tf.GradientTape() as tape:
        ...     loss = tf.reduce_sum(tf.constant([[3.0]]) @ w + b)
        >>> dw, db = tape.gradient(loss, [w, b])
        >>> dw.numpy().tolist(), db.numpy().tolist()
        ([[3.0]], [1.0])
        """
        log = self._log or self._open_log("compute a gradient")
        unconnected = _NONE if unconnected_gradients is _NONE else unconnected_mode(unconnected_gradients)
        targets: list[Any]
        cotangents: list[Tensor | None]
        if output_gradients is None and is_leaf(target):
            targets, cotangents = [target], [None]
        else:
            targets, cotangents = flat_targets(target, output_gradients)
        one = is_leaf(sources)
        known = one or are_leaves(sources)
        leaves = [sources] if one else sources if known else nest.flatten(sources)
        flat = leaves if known else tensors_for_gradients(leaves)
        wanted = flat if known else [differentiable(s, "source") for s in flat]
        if self._recording:
            self._before_query()
        if per is None and not norms and not nan_safe:
            grads = self.vjp(targets, cotangents, wanted)
        elif per is not None or norms:
            check_per(per, norms, targets, output_gradients is not None)
            grads = list(gradients_apart(self, targets, wanted, str(per), norms))
        else:
            if any(map(is_nan, targets)):
                _inspect().checked.warn_of_nan(partial(self.diagnose, targets, wanted))
            grads = nan_safe_gradients(self, targets, cotangents, wanted)
        if log.retain or self._finishers:
            grads = self._checked(log, targets, cotangents, list(flat), grads)
        missing = any(map(_is_none, grads))
        self.release(explainable=missing)
        if missing:
            queries.note_missing(self, targets, wanted)
        if modes.active:
            modes.results_found(self, QueryResult(targets, list(flat), grads, unconnected is _NONE))
        if missing and unconnected is UnconnectedGradients.ZERO:
            zeros = zeros_like if per is None else partial(zeros_apart, targets, per=per, norms=norms)
            grads = [zeros(s) if g is None else g for s, g in zip(wanted, grads, strict=True)]
        if one:
            return grads[0]
        return grads if known and not self._finishers else _packed(sources, leaves, flat, grads)

    def _checked(
        self,
        log: Log,
        targets: list[Any],
        cotangents: list[Tensor | None],
        sources: list[Any],
        grads: list[OptionalGradient],
    ) -> list[OptionalGradient]:
        """Remembers the query if the log is kept, checks the results, and applies the callbacks of `on_finished`."""
        if log.retain:
            log.last_query = (targets, cotangents, sources)
            if self._check:
                grads = _inspect().checked.checked(targets, grads, self.diagnose)
        for finish in self._finishers:
            grads = finish(list(sources), grads)
        return grads

    def _before_query(self) -> None:
        """Stops the recording of a tape that serves one query; warns that a persistent one records the query."""
        if not self._recording:
            return
        if not self._persistent:
            self.pause()
        elif not GradientTape._warned_inside:
            GradientTape._warned_inside = True
            logger.warning(
                "Calling GradientTape.gradient on a persistent tape inside its context is significantly less "
                "efficient than calling it outside the context (it causes the gradient ops to be recorded on the "
                "tape, leading to increased CPU and memory usage). Only call GradientTape.gradient inside the "
                "context if you actually want to trace the gradient in order to compute higher order derivatives."
            )

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
        *,
        mode: str | None = None,
        sparse: bool | str = False,
        max_bytes: int | None = None,
    ) -> Any:
        """Computes the jacobian using operations recorded in context of this tape.

        The result for each source has the shape of `target` followed by that of the source. All rows are computed
        together, in vectorized form.

        Args:
          target: a tensor to be differentiated.
          sources: a tensor, a variable, or a nested structure of them.
          unconnected_gradients: a value of `tf.UnconnectedGradients`: whether a source that the target does not depend
            on gets None (the default) or zeros.
          parallel_iterations: ignored; accepted for compatibility with TensorFlow.
          experimental_use_pfor: if False, computes one row at a time.
          mode: "reverse" computes the Jacobian by rows, one sweep for each entry of the target; "forward" by columns,
            one for each entry of the sources; "auto" chooses the mode with fewer sweeps. The default is "reverse", or
            "auto" if `sparse`.
          sparse: whether to detect the sparsity pattern first and to compute structurally orthogonal rows or columns
            together. The result is a SciPy array in CSR format with a row for each entry of the target (half precision
            becomes float32), or with "tensor" a `SparseTensor` of the dense Jacobian's shape. "auto" returns the SciPy
            array too, but skips the detection for sources with few entries, where it takes longer than it saves.
            `sweeps` is the number of sweeps used.
          max_bytes: the number of rows or columns computed together is limited so that each array in the sweep fits in
            this.

        >>> import gradtape as tf
        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.jacobian(y, x).numpy().tolist()
        [[2.0, 0.0], [0.0, 4.0]]
        """
        self._open_log("compute a jacobian")
        unconnected = unconnected_mode(unconnected_gradients)
        target = single(target, "target")
        flat = flat_sources(sources)
        mode = mode or ("auto" if sparse else "reverse")
        check_jacobian_mode(mode, sparse, target, flat)
        if not experimental_use_pfor and not self._persistent:
            raise RuntimeError(
                "GradientTape must be created with persistent=True to compute the jacobian with eager execution "
                "enabled and with  experimental_use_pfor set to False."
            )
        together = jacobians.CHUNK_BYTES if max_bytes is None else max_bytes
        self._before_query()
        self._sweeps = 0
        small = is_small(sparse, flat)
        compressed = bool(sparse) and not small
        if compressed:
            found: list[Any] = sparse_jacobians(self, target, flat, mode, together)
        else:
            found = jacobians.jacobians(self, target, flat, mode, together if experimental_use_pfor else 0)
        self.release()
        modes.results_found(self, QueryResult([target], flat, found, unconnected is _NONE))
        if unconnected is UnconnectedGradients.ZERO:
            zeros = no_entries if compressed else jacobians.zero_jacobian
            found = [zeros(target, x) if y is None else y for x, y in zip(flat, found, strict=True)]
        if small:
            found = [as_matrix(y, x.dims) for x, y in zip(flat, found, strict=True)]
        elif sparse == "tensor":
            found = [_sparse_tensor(y, target.dims, x) for x, y in zip(flat, found, strict=True)]
        return nest.pack_sequence_as(sources, found)

    @property
    def sweeps(self) -> int:
        """The number of sweeps of the last Jacobian or Hessian: one for each row, column, or color of a sparse one.

        Sweeps are vectorized as far as memory allows, so this is a measure of work, not of time. The detection of a
        sparsity pattern is not counted.

        >>> import gradtape as tf
        >>> x = tf.Variable(tf.range(1.0, 1001.0))
        >>> with tf.GradientTape() as tape:
        ...     y = x[1:] * x[:-1]
        >>> jacobian = tape.jacobian(y, x, sparse=True)
        >>> tape.sweeps
        2
        """
        return self._sweeps

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
        *,
        check_rows: bool | None = None,
    ) -> Any:
        """Computes and stacks per-example jacobians.

        The result has shape `[b, y..., x...]`: the Jacobian of each row of `target` with respect to the same row of
        `source`.

        A row of the target must not depend on other rows of the source. This is checked at the cost of one more sweep.
        If the check fails, the result is the sum over the batch, and a warning is logged; `check_rows=True` raises an
        error instead, and `check_rows=False` skips the check.

        >>> import gradtape as tf
        >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.batch_jacobian(y, x).numpy().tolist()
        [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
        """
        self._open_log("compute a batch_jacobian")
        unconnected_mode(unconnected_gradients)
        target, source = single(target, "target"), single(source, "source")
        for x in (target, source):
            if len(x.dims) < 2:
                raise ValueError(f"Shape {x.shape} must have rank at least 2")
        if target.dims[0] != source.dims[0]:
            raise ValueError(
                f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to match."
            )
        if not experimental_use_pfor and not self._persistent:
            raise RuntimeError(
                "GradientTape must be created with persistent=True to compute the batch_jacobian with eager execution "
                "enabled and  with experimental_use_pfor set to False."
            )
        self._before_query()
        self._sweeps = 0
        together = jacobians.CHUNK_BYTES if experimental_use_pfor else 0
        found = jacobians.batch_jacobian(self, target, source, check_rows, together)
        self.release()
        modes.results_found(self, QueryResult([target], [source], [found], reports_none=False))
        return found

    def hessian(self, target: Any, sources: Any, *, sparse: bool | str = False, max_bytes: int | None = None) -> Any:
        """Computes the Hessian of a scalar: its shape is that of the source twice; None without a path.

        For a nested structure of sources the result is nested twice: `result[i][j]` has the shape of source `i`
        followed by that of source `j`.

        With `sparse`, the result is a SciPy array in CSR format, with "tensor" a `SparseTensor`; "auto" computes the
        SciPy array in the dense way if the sources have few entries. A Hessian with few nonzero entries takes few
        sweeps: fewer than a Jacobian with the same pattern, because of its symmetry. The block of two sources that no
        term combines is present, without entries.

        >>> import gradtape as tf
        >>> x, b = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
        >>> with tf.GradientTape(persistent=True) as tape:
        ...     y = b * x[0] ** 2 * x[1]
        >>> tape.hessian(y, x).numpy().tolist()
        [[12.0, 6.0], [6.0, 0.0]]
        >>> tape.hessian(y, {"x": x, "b": b})["b"]["x"].numpy().tolist()
        [4.0, 1.0]
        """
        self._open_log("compute a hessian")
        target = single(target, "target")
        flat = flat_sources(sources)
        check_jacobian_mode("auto", sparse, target, flat)
        self._before_query()
        self._sweeps = 0
        small = is_small(sparse, flat)
        together = jacobians.CHUNK_BYTES if max_bytes is None else max_bytes
        found: list[list[Any]] = hessians.hessian(self, target, flat, bool(sparse) and not small, together)
        if small:
            found = [[as_matrix(y, x.dims) for x, y in zip(flat, blocks, strict=True)] for blocks in found]
        elif sparse == "tensor":
            found = [
                [_sparse_tensor(y, row.dims, x) for x, y in zip(flat, blocks, strict=True)]
                for row, blocks in zip(flat, found, strict=True)
            ]
        self.release()
        return nest.pack_sequence_as(sources, [nest.pack_sequence_as(sources, blocks) for blocks in found])

    def batch_hessian(
        self,
        target: Any,
        source: Any,
        *,
        check_rows: bool | None = None,
        sparse: bool | str = False,
        max_bytes: int | None = None,
    ) -> Any:
        """Computes the Hessian of each example's loss with respect to its own row of `source`: shape `[b, x..., x...]`.

        `target` has the losses along its first axis; without a path to the source the result is None. As in
        `batch_jacobian`, a loss must not depend on the rows of other examples. This is checked: if it does, the result
        is the sum over the batch, and a warning is logged; `check_rows=True` raises an error instead, and
        `check_rows=False` skips the check.

        With `sparse`, the result is a SciPy array in CSR format with these matrices stacked vertically, with "tensor" a
        `SparseTensor` of the dense shape. The number of sweeps is that of the example that needs most.

        >>> import gradtape as tf
        >>> x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        >>> with tf.GradientTape() as tape:
        ...     losses = x[:, 0] ** 2 * x[:, 1]
        >>> tape.batch_hessian(losses, x).numpy().tolist()
        [[[4.0, 2.0], [2.0, 0.0]], [[8.0, 6.0], [6.0, 0.0]]]
        """
        self._open_log("compute a batch_hessian")
        target, source = single(target, "target"), single(source, "source")
        if not target.dims or not source.dims or target.dims[0] != source.dims[0]:
            raise ValueError(
                "batch_hessian needs a loss, and a row of the source, for each example, along the first axis, got "
                f"shapes {list(target.dims)} and {list(source.dims)}. Leave the mean over the batch away"
            )
        check_jacobian_mode("auto", sparse, target, [source])
        self._before_query()
        self._sweeps = 0
        small = is_small(sparse, [source])
        together = jacobians.CHUNK_BYTES if max_bytes is None else max_bytes
        compressed = bool(sparse) and not small
        found: Any = hessians.batch_hessian(self, target, source, check_rows, compressed, together)
        if small:
            found = as_matrix(found, source.dims[1:])
        elif sparse == "tensor":
            found = _sparse_tensor(found, source.dims, source, source.dims[1:])
        self.release()
        return found

    def hvp(self, target: Any, sources: Any, vectors: Any) -> Any:
        """Computes the product of the Hessian of a scalar with vectors, without forming the Hessian.

        `vectors` has the structure of `sources`.

        >>> import gradtape as tf
        >>> x = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     y = tf.reduce_sum(x**3)
        >>> tape.hvp(y, x, [1.0, 10.0]).numpy().tolist()
        [6.0, 120.0]
        """
        self._open_log("compute a Hessian-vector product")
        target = single(target, "target")
        flat = flat_sources(sources)
        along = flat_vectors(vectors, flat, sources)
        self._before_query()
        found = hessians.hvp(self, target, flat, along)
        self.release()
        return nest.pack_sequence_as(sources, found)

    def ggnvp(self, target: Any, outputs: Any, sources: Any, vectors: Any) -> Any:
        """Computes the product of the generalized Gauss-Newton matrix, JᵀHJ, with vectors structured like `sources`.

        J is the Jacobian of `outputs`, a tensor on the path to the scalar `target`, with respect to the sources; H is
        the Hessian of the target with respect to the outputs. The matrix is positive semidefinite where the target is
        convex in the outputs, as common losses are.

        >>> import gradtape as tf
        >>> w = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     outputs = w**2
        ...     loss = tf.reduce_sum(outputs**2)
        >>> tape.ggnvp(loss, outputs, w, [1.0, 1.0]).numpy().tolist()
        [8.0, 32.0]
        """
        self._open_log("compute a Gauss-Newton product")
        target, outputs = single(target, "target"), single(outputs, "outputs")
        flat = flat_sources(sources)
        along = flat_vectors(vectors, flat, sources)
        check_jacobian_mode("forward", False, outputs, flat)
        self._before_query()
        found = hessians.ggnvp(self, target, outputs, flat, along)
        self.release()
        return nest.pack_sequence_as(sources, found)

    def cosines(self, losses: Any, sources: Any, *, per: str = "loss") -> Tensor:
        """Computes the cosine similarity between the gradients of losses: a symmetric matrix.

        Each gradient is taken over all sources together. A negative entry means that two losses conflict: they pull the
        sources in opposite directions. The row and column of a loss without a gradient are zeros; if no loss has a
        gradient, an error is raised.

        Args:
          losses: a list of losses or, with `per="example"`, a vector with the loss of each example.
          sources: a tensor, a variable, or a nested structure of them, taken as one vector.
          per: "loss" or "example", as in `gradient`.

        >>> import gradtape as tf
        >>> w, b = tf.Variable([1.0, 2.0]), tf.Variable(0.0)
        >>> with tf.GradientTape() as tape:
        ...     first, second = 2.0 * w[0], 3.0 * w[0] - 4.0 * b
        >>> print(tape.cosines([first, second], [w, b]).numpy().round(2))
        [[1.  0.6]
         [0.6 1. ]]
        """
        self._open_log("compute cosines")
        targets = [differentiable(t, "target") for t in nest.flatten(losses)]
        flat = flat_sources(sources)
        check_per(per, False, targets, has_weights=False)
        for x in (*targets, *flat):
            if not x.dtype.is_floating:
                raise ValueError(f"cosines are of gradients of real numbers, got a tensor of dtype {x.dtype.name}")
        self._before_query()
        gradients = [g for g in gradients_apart(self, targets, flat, per, False) if g is not None]
        self.release()
        if not gradients:
            raise ValueError("cosines: none of the losses depends on any of the sources. tape.explain says why")
        return cosines(gradients, len(targets) if per == "loss" else targets[0].dims[0], targets[0].dtype)

    def explain(self, target: Any, sources: Any) -> Any:
        """Explains why each gradient of `target` with respect to `sources` is what it is: a sentence for each source.

        >>> import gradtape as tf
        >>> v, w = tf.Variable(3.0, name="v"), tf.Variable(1.0, name="w")
        >>> with tf.GradientTape() as tape:
        ...     loss = v * v
        >>> tape.explain(loss, [v, w]).reasons[1].source
        '`w`'
        """
        return _inspect().explain(self, target, sources)

    def diagnose(self, target: Any = None, sources: Any = None) -> Any:
        """Finds the op that produced the first infinity or NaN on the way to the target, or back to the sources.

        Without arguments, diagnoses the last query of this tape, if the tape was created with `check="nan"` or
        `trace=True`.

        >>> import gradtape as tf
        >>> x = tf.Variable([1.0, 0.0])
        >>> with tf.GradientTape(trace=True) as tape:
        ...     loss = tf.reduce_sum(tf.math.log(x))
        >>> found = tape.diagnose(loss, x)
        >>> found.op, found.direction, found.index
        ('log', 'forward', (1,))
        """
        return _inspect().diagnose(self, target, sources)

    def check(self, target: Any = None, sources: Any = None) -> Any:
        """Checks the gradient rules recorded on this tape, custom gradients included, at their recorded values.

        Each rule is compared with a finite difference of its op along a random direction. The tape must be created with
        `trace=True`. With a target, only the records between it and the sources are checked.

        >>> import gradtape as tf
        >>> @tf.custom_gradient
        ... def double(x):
        ...     return 2.0 * x, lambda g: 3.0 * g
        >>> x = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape(trace=True) as tape:
        ...     y = tf.exp(double(x))
        >>> [row.op for row in tape.check().wrong]
        ['double']
        """
        return _inspect().check_rules(self, target, sources)

    def audit_precision(self, target: Any = None, sources: Any = None) -> Any:
        """Finds where this step loses precision: reruns forward and backward in float64 and compares, line by line.

        Also reports the share of half-precision gradients that underflow or overflow, and the loss scale that saves
        most of them. The tape must be created with `trace=True`.

        >>> import gradtape as tf
        >>> x = tf.Variable([300.0, 1.0], dtype=tf.float16)
        >>> with tf.GradientTape(trace=True) as tape:
        ...     length = tf.sqrt(tf.reduce_sum(x * x))
        >>> tape.audit_precision(length, x).worst.remark
        'overflows: compute it in float32, or scale what goes in'
        """
        return _inspect().audit_precision(self, target, sources)

    def flow(self, target: Any = None, sources: Any = None, by: str = "variable") -> Any:
        """Summarizes each gradient by variable or layer: its norm, its share of zeros, and its units without gradient.

        >>> import gradtape as tf
        >>> w = tf.Variable([[1.0, -1.0]], name="w")
        >>> with tf.GradientTape(persistent=True) as tape:
        ...     loss = tf.reduce_sum(tf.square(w) * [[3.0, 0.0]])
        >>> print(tape.flow(loss, w))
        Gradients by variable
        variable  shape   gradient norm  / value norm  largest  zeros  dead units  remark
        ────────  ──────  ─────────────  ────────────  ───────  ─────  ──────────  ──────────────────────────────────
        w         [1, 2]              6          4.24        6    50%         50%  half of the units or more are dead
        """
        return _inspect().flow(self, target, sources, by)

    def profile(self, target: Any = None, sources: Any = None) -> Any:
        """Profiles time and saved bytes, forward and backward, by op and by line; `print` it, or `show` it in color.

        Forward times and lines require a tape created with `trace=True`. Backward times are measured in a new sweep.

        >>> import gradtape as tf
        >>> v = tf.Variable(tf.ones([100, 100]))
        >>> with tf.GradientTape(trace=True) as tape:
        ...     y = tf.reduce_sum(tf.exp(v))
        >>> tape.profile(y, v).by_op["exp"].kept
        40000
        """
        return _inspect().profile(self, target, sources)

    def memory(self) -> Any:
        """Lists what this tape keeps alive for the backward pass, by op and by line, with the largest arrays.

        >>> import gradtape as tf
        >>> v = tf.Variable(tf.ones([1000]))
        >>> with tf.GradientTape() as tape:
        ...     y = tf.exp(v)
        >>> tape.memory().total
        4000
        """
        return _inspect().memory(self)

    def save(self, path: Any, target: Any = None, sources: Any = None, inputs: Any = None) -> Any:
        """Saves this step to a file, which `gradtape.load_tape` reads on any machine, without the model's code.

        The tape must be created with `trace=True`. The file holds ops, attributes, arrays and source lines, and no
        pickles; `gradtape compare a.tape b.tape` shows where two files diverge. `inputs` names tensors that the
        recorded ops read, such as a batch, as `{"x": x}`: `replay` can substitute them, as it can variables.

        >>> import gradtape as tf, os, tempfile
        >>> v = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape(trace=True) as tape:
        ...     y = tf.reduce_sum(v * v)
        >>> tape.save(os.path.join(tempfile.mkdtemp(), "step.tape"), y, v).name
        'step.tape'
        """
        return _inspect().save_tape(self, path, target, sources, inputs)

    def report(self, path: Any, target: Any = None, sources: Any = None) -> Any:
        """Writes an HTML report of this step to `path`: its graph by layers, with lines, costs, values and gradients.

        The report is a single file that opens in any browser. Create the tape with `trace=True`: otherwise lines,
        layers, times and most values are missing.

        >>> import gradtape as tf, os, tempfile
        >>> v = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape(trace=True) as tape:
        ...     y = tf.reduce_sum(v * v)
        >>> page = tape.report(os.path.join(tempfile.mkdtemp(), "step.html"), y, v)
        >>> page.name
        'step.html'
        """
        return _inspect().report(self, path, target, sources)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            "cannot pickle a GradientTape: its records refer to live tensors. Save the gradients or the variables"
        )


def _packed(sources: Any, leaves: Sequence[Any], flat: Sequence[Any], grads: Sequence[Any]) -> Any:
    """Arranges the gradients like the sources; the gradient of a composite is a composite."""
    if type(sources) is not list and nest.is_values_view(sources):
        sources = list(sources)
    if flat is not leaves:
        grads = composites_of_gradients(leaves, grads)
    return nest.pack_sequence_as(sources, grads)


def _sparse_tensor(
    matrix: Any, rows: tuple[int, ...], source: Differentiable, columns: tuple[int, ...] | None = None
) -> Any:
    """Converts a sparse matrix to a `SparseTensor` of shape `(*rows, *columns)`, by default the source's columns."""
    from ..state.sparse_tensor import SparseTensor

    if matrix is None:
        return None
    columns = source.dims if columns is None else columns
    at = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices.astype(np.int64)
    places = [*np.unravel_index(at[0], rows or (1,))[: len(rows)]]
    places += np.unravel_index(at[1], columns or (1,))[: len(columns)]
    indices = np.stack(places, axis=1) if places else np.zeros((len(at[0]), 0), np.int64)
    return SparseTensor(indices, matrix.data.astype(source.dtype.numpy), np.array((*rows, *columns), np.int64))
