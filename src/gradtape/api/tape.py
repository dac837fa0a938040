"""`GradientTape`: TensorFlow's arguments, warnings and errors around the engine's tape.

This module records and computes gradients; `tape_derivatives.py` has Jacobians and Hessians, `tape_inspection.py` the
methods that explain and measure, and `tape_arguments.py` the checks of arguments.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from ..core import modes, nest
from ..core.composites import composites_of_gradients, tensors_for_gradients
from ..core.tensor import Tensor
from ..core.tracebacks import hide_frames
from ..engine.run import dispatch
from ..engine.tape import queries
from ..engine.tape.log import Log
from ..engine.tape.queries import QueryResult
from ..engine.tape.results import OptionalGradient
from ..engine.tape.tape import Tape
from ..engine.tape.validation import differentiable, is_watchable, native, zeros_like
from .tape_arguments import (
    UnconnectedGradients,
    are_leaves,
    check_per,
    flat_targets,
    is_leaf,
    unconnected_mode,
    warn_not_floating,
)
from .tape_derivatives import DerivativeMethods
from .tape_inspection import InspectionMethods, inspection

_NONE = UnconnectedGradients.NONE

if TYPE_CHECKING:
    from .tape_arguments import K, S, Source, Zero


class GradientTape(DerivativeMethods, InspectionMethods):
    """Records operations for automatic differentiation.

    Operations are recorded if they are executed within this context manager and at least one of their inputs is being
    watched. Trainable variables are watched automatically when they are read; tensors are watched when `watch` is
    called on them.

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

    __module__ = "gradtape.autodiff"

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
            Tape._note_creation(self)
            self._event_log_lease = inspection().event_log.EventLogLease()

    def _log_class(self) -> type[Log]:
        if not (modes.active or self._trace or self._check or self._track_assign or self._budget):
            return Log
        kind = super()._log_class()
        if kind is Log and (self._trace or self._check):
            kind = inspection().event_log.TracingLog if self._trace else inspection().checked.CheckedLog
        if not self._track_assign:
            return kind
        from ..engine.tape.assignments import tracking  # imported lazily: few tapes need it

        return tracking(kind)

    def watch(self, tensor: Any) -> None:
        """Ensures that `tensor` is being traced by this tape.

        Args:
          tensor: a tensor, a variable, or a nested structure of them.

        Raises:
          ValueError: if an element is not a tensor or a variable.
          AttributeError: if the tape is not recording.

        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = tf.reduce_sum(x * x)
        >>> tape.gradient(y, x).numpy().tolist()
        [2.0, 4.0]
        """
        try:
            if type(tensor) is Tensor:
                leaves = [tensor]
            else:
                leaves = tensor if are_leaves(tensor) else nest.flatten(tensor, expand_composites=True)
            for leaf in leaves:
                if type(leaf) is not Tensor and not is_watchable(leaf):
                    instead = getattr(leaf, "instead", None)  # of tensors in graphs that are read, not built
                    raise ValueError(
                        f"Passed in object {leaf!r} of type '{type(leaf).__name__}', not tf.Tensor or tf.Variable or "
                        f"ExtensionType.{f' It has no value: {instead}' if isinstance(instead, str) else ''}"
                    )
            if self._log is None:
                state = "already used up" if self._entered else "not entered yet"
                raise AttributeError(
                    f"watch needs a recording tape, and this one is {state}. Call it inside `with tape:`"
                )
            for leaf in leaves:
                if type(leaf) is Tensor and leaf.dtype.differentiable:
                    self._log.watch(leaf)
                    continue
                leaf = native(leaf)
                if not leaf.dtype.differentiable:
                    warn_not_floating("tensor", leaf.dtype)
                if not isinstance(leaf, Tensor):
                    self._log.watch_variable(leaf.handle)  # of a class that wraps a variable, the wrapped one
                elif leaf.dtype.differentiable:
                    self._log.watch(leaf)
                if not leaf.dtype.differentiable:
                    self._log.refuse_watch(leaf)
        except Exception as error:
            hide_frames(error)
            raise

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Temporarily stops recording operations on this tape: nothing executed inside the block is recorded.

        Raises:
          RuntimeError: if the tape is not recording.
        """
        if self._log is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        Tape.pause(self)
        try:
            yield
        finally:
            Tape.resume(self)

    def reset(self) -> None:
        """Clears all information stored in this tape and continues recording."""
        Tape.pause(self)
        before, self._log, self._hooks = self._log, None, {}
        Tape.resume(self)
        if before is not None and self._log is not None:
            self._log.continue_from(before)

    def watched_variables(self) -> tuple[Any, ...]:
        """Returns the variables watched by this tape, in order of their creation.

        Returns:
          A tuple of variables.
        """
        watched = self._watched if self._log is None else self._log.variables
        return tuple(sorted(watched, key=lambda variable: variable._created))

    @contextmanager
    def attach(self) -> Iterator[GradientTape]:
        """Records on this tape what another thread executes inside the block.

        Recording is per thread: call this method in the other thread. Two threads must not record at the same time.

        Returns:
          A context manager whose value is this tape.

        Raises:
          RuntimeError: if the tape has already computed a gradient and is not persistent.
        """
        log = DerivativeMethods._open_log(self, "attach")
        with dispatch.recorded_by((*dispatch.thread.recorders, log)):
            yield self

    def on_gradient(self, x: Any, hook: Callable[[Any], Any]) -> None:
        """Registers a backward hook: `hook(gradient)` is called when the gradient with respect to `x` is complete.

        It is called before the gradient propagates to the inputs of `x`. If the hook returns a value, it replaces the
        gradient.

        Args:
          x: a tensor or a variable that is on the tape.
          hook: a function of the gradient. None as its result leaves the gradient as it is.

        Raises:
          ValueError: if `x` is neither watched nor computed from something watched.

        >>> v = tf.Variable(2.0)
        >>> with tf.GradientTape() as tape:
        ...     y = v * v
        ...     tape.on_gradient(y, lambda g: 10.0 * g)
        >>> float(tape.gradient(y, v))
        40.0
        """
        log = DerivativeMethods._open_log(self, "add a gradient hook")
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

        Args:
          finish: a function of the flat list of sources and the list of their gradients, in which a gradient can be
            None.
        """
        self._finishers = (*self._finishers, finish)
        self._releases_early = False  # an error in `finish` leaves the tape usable

    # Lists come first: mypy takes the first overload for `model.trainable_variables` of a model without types.
    @overload
    def gradient(
        self, target: Any, sources: list[S], output_gradients: Any = ..., *,
        unconnected_gradients: Zero,
        nan_safe: bool = ..., per: str | None = ..., norms: bool = ..., check_rows: bool = ...,
    ) -> list[Tensor]: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Any, sources: dict[K, S], output_gradients: Any = ..., *,
        unconnected_gradients: Zero,
        nan_safe: bool = ..., per: str | None = ..., norms: bool = ..., check_rows: bool = ...,
    ) -> dict[K, Tensor]: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Any, sources: Source, output_gradients: Any = ..., *,
        unconnected_gradients: Zero,
        nan_safe: bool = ..., per: str | None = ..., norms: bool = ..., check_rows: bool = ...,
    ) -> Tensor: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Any, sources: list[S], output_gradients: Any = ..., unconnected_gradients: Any = ..., *,
        nan_safe: bool = ..., per: str | None = ..., norms: bool = ..., check_rows: bool = ...,
    ) -> list[Tensor | None]: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Any, sources: dict[K, S], output_gradients: Any = ..., unconnected_gradients: Any = ..., *,
        nan_safe: bool = ..., per: str | None = ..., norms: bool = ..., check_rows: bool = ...,
    ) -> dict[K, Tensor | None]: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Any, sources: Source, output_gradients: Any = ..., unconnected_gradients: Any = ..., *,
        nan_safe: bool = ..., per: str | None = ..., norms: bool = ..., check_rows: bool = ...,
    ) -> Tensor | None: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = ..., unconnected_gradients: Any = ..., *,
        nan_safe: bool = ..., per: str | None = ..., norms: bool = ..., check_rows: bool = ...,
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
        check_rows: bool = True,
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
          check_rows: whether `per="example"` raises an error if the loss of an example depends on other examples, as
            with batch normalization in training. If not, it computes the derivative of each loss.

        Returns:
          A gradient for each source, in the structure of `sources`. It is a tensor, `tf.IndexedSlices` if rows of the
            source were gathered, or None if `target` does not depend on the source.

        Raises:
          RuntimeError: if the tape is not persistent and has already computed a gradient.
          ValueError: if `output_gradients` has another structure than `target`, or `unconnected_gradients` or `per` is
            not one of the values above; with `per="example"`, if examples depend on each other.
          tf.errors.InvalidArgumentError: if `output_gradients` do not have the shapes of the targets; with
            `check="nan"`, if a target or a gradient is not finite.

        >>> w, b = tf.Variable([[2.0]]), tf.Variable([1.0])
        >>> with tf.GradientTape() as tape:
        ...     loss = tf.reduce_sum(tf.constant([[3.0]]) @ w + b)
        >>> dw, db = tape.gradient(loss, [w, b])
        >>> dw.numpy().tolist(), db.numpy().tolist()
        ([[3.0]], [1.0])
        """
        try:
            log = self._log or DerivativeMethods._open_log(self, "compute a gradient")
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
                DerivativeMethods._before_query(self)
            if per is None and not norms and not nan_safe:
                grads = Tape.vjp(self, targets, cotangents, wanted)
            elif per is not None or norms:
                from ..engine.derivatives.per_example import gradients_apart  # imported lazily, as the next one

                check_per(per, norms, targets, output_gradients is not None)
                grads = list(gradients_apart(self, targets, wanted, str(per), norms, check_rows))
            else:
                from ..engine.derivatives.nan_safe import is_nan, nan_safe_gradients

                if any(map(is_nan, targets)):
                    inspection().checked.warn_of_nan(partial(inspection().diagnose, self, targets, wanted))
                grads = nan_safe_gradients(self, targets, cotangents, wanted)
            if log.retain or self._finishers:
                grads = GradientTape._finish_query(self, log, targets, cotangents, list(flat), grads)
            missing = any([g is None for g in grads])
            Tape.release(self, explainable=missing)
            if missing:
                queries.remember_missing(self, targets, wanted)
                if unconnected is _NONE and hasattr(sys, "ps1"):  # an interactive session
                    from ..inspect.causes.hints import hint_at_none

                    hint_at_none(self, targets, wanted, grads)
            if modes.active:
                modes.results_found(self, QueryResult(targets, list(flat), grads, unconnected is _NONE))
            if missing and unconnected is UnconnectedGradients.ZERO:
                zeros: Callable[[Any], Tensor] = zeros_like
                if per is not None:
                    from ..engine.derivatives.per_example import zeros_apart

                    zeros = partial(zeros_apart, targets, per=per, norms=norms)
                grads = [zeros(s) if g is None else g for s, g in zip(wanted, grads, strict=True)]
            if one:
                return grads[0]
            return grads if known and not self._finishers else _pack_gradients(sources, leaves, flat, grads)
        except Exception as error:
            hide_frames(error)
            raise

    def _finish_query(
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
                grads = inspection().checked.check_finite(targets, grads, partial(inspection().diagnose, self))
        for finish in self._finishers:
            grads = finish(list(sources), grads)
        return grads

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            "cannot pickle a GradientTape: its records refer to live tensors. Save the gradients or the variables"
        )


def _pack_gradients(sources: Any, leaves: Sequence[Any], flat: Sequence[Any], grads: Sequence[Any]) -> Any:
    """Arranges the gradients like the sources; the gradient of a composite is a composite."""
    if type(sources) is not list and nest.is_values_view(sources):
        sources = list(sources)
    if flat is not leaves:
        grads = composites_of_gradients(leaves, grads)
    return nest.pack_sequence_as(sources, grads)
