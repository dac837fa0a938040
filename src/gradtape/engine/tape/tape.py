"""`GradientTape`: what it watches and records, when it releases its records, and the gradients it computes."""

from __future__ import annotations

import logging
import operator
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

from numpy import ndarray

from ...core import nest
from ...core.budgets import in_force
from ...core.composites import composites_of_gradients, tensors_for_gradients
from ...core.tensor import Tensor
from ..registry.devices import REAL, exhausted, ops_of, sent
from ..run import dispatch, modes
from ..run.namespace import ops, raw
from . import inspection
from .assignments import tracking
from .backprop import SparseCotangents, between, sweep
from .collector import recording_starts, recording_stops, records_gone
from .compiled_sweeps import repeated_sweep
from .hessians import Hessians
from .inspection import Inspection, born, inspect
from .jacobians import Jacobians
from .log import Log
from .nan_safe import is_nan, unwrapped, zero_wins
from .per_example import PerExampleGradients, check_apart, nothing_apart
from .results import answer, as_tensors
from .validation import (
    UnconnectedGradients,
    are_leaves,
    differentiable,
    is_itself,
    is_leaf,
    is_watchable,
    native,
    ones,
    output_cotangents,
    unconnected_mode,
    warn_not_floating,
    zeros_like,
)  # fmt: skip

logger = logging.getLogger("gradtape")

_USED_UP = (
    "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians). Use "
    "GradientTape(persistent=True) to ask more than once"
)
_NONE = UnconnectedGradients.NONE
_is_none = partial(operator.is_, None)


class _LastMissing(threading.local):
    """This thread's last query that returned None, held by weak references and ids."""

    tape: Callable[[], GradientTape | None] = staticmethod(lambda: None)
    targets: Sequence[Callable[[], Any]] = ()
    sources: frozenset[int] = frozenset()  # their `id`s


last_missing = _LastMissing()


class GradientTape(dispatch.Block, Inspection, Jacobians, Hessians, PerExampleGradients):
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

    _STILL = "Tape is still recording, This can happen if you try to re-enter an already-active tape."
    _warned_inside = False
    _log: Log | None = None
    _past: Log | None = None  # after the tape is used up: the log for `explain`, if a gradient was None
    _budget: tuple[int | float, Any] | None = None  # the budget, and the directory to spill to
    _entered = False
    _loss_is_scaled = False  # a loss scaler skips steps whose gradients overflow
    _of_a_graph = False  # the records were created from the nodes of a graph that had already run: see `tf.gradients`
    _watched: Sequence[Any] = ()  # after the tape is used up: the log's variables
    _hooks: dict[int, list[Callable[[Any], Any]]]
    _finishers: tuple[Callable[[list[Any], list[Any]], list[Any]], ...] = ()
    _answered: Callable[[GradientTape], None] | None = None  # observer of the results of all tapes; usually None

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
        if check not in (None, "nan"):
            raise ValueError(f"check must be None or 'nan', got {check!r}")
        if memory_budget is not None or spill is not None:
            from .budgets import checked_budget  # imported lazily: few tapes need it

            self._budget = checked_budget(memory_budget, spill, trace or check is not None)
        elif in_force.budget is not None and not trace and check is None:
            self._budget = (in_force.budget, None)
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._trace = trace
        self._check = check
        self._track_assign = track_assign
        self._born = born() if persistent or trace else None
        if trace:
            self._event_log_lease = inspect().event_log.EventLogLease()

    def _begin(self) -> None:
        self._recording = True
        if self._log is None:
            self._log = self._log_kind()(self._watch_accessed_variables)
            if self._budget is not None:
                self._log.set_budget(*self._budget)
                if dispatch.thread.trace is not None:
                    dispatch.thread.trace.budget = self._budget[0]
            self._hooks = {}
        else:
            self._log.level = dispatch.next_level()
        self._log.resumes()
        dispatch.set_recorders((*dispatch.thread.recorders, self._log))
        recording_starts(self._log.key)
        self._entered = True

    def _log_kind(self) -> type[Log]:
        """Selects the log class that records what this tape's options require."""
        kind: type[Log] = Log
        if self._budget is not None and dispatch.thread.trace is None:  # a traced function is planned whole
            from .budgets import BudgetedLog

            kind = BudgetedLog
        elif self._trace or (dispatch.event_log is not None and dispatch.event_log.traces_all):
            kind = inspect().event_log.TracingLog
        elif GradientTape._answered is not None and dispatch.thread.trace is not None:  # it may query every run
            kind = inspect().event_log.TracingLog
        elif self._check:
            kind = inspect().checked.CheckedLog
        return tracking(kind) if self._track_assign else kind

    def _end(self) -> None:
        log = self._log
        if self._recording and log is not None:
            log.pauses()
            dispatch.leave(log)
            recording_stops(log.key)
        self._recording = False

    def _stop(self) -> None:
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self.__exit__(None, None, None)

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
        self._stop()
        try:
            yield
        finally:
            self.__enter__()

    def reset(self) -> None:
        """Clears all information stored in this tape and continues recording."""
        self._stop()
        before, self._log = self._log, None
        self.__enter__()
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
        if target is None:
            raise TypeError(
                "Argument `target` should be a list or nested structure of Tensors, Variables or CompositeTensors to "
                "be differentiated, but received None."
            )
        if is_leaf(target):
            targets = [target]
        else:
            targets = [differentiable(t, "target") for t in tensors_for_gradients(nest.flatten(target))]
            if output_gradients is not None:
                output_gradients = tensors_for_gradients(nest.flatten(output_gradients))
        one = is_leaf(sources)
        known = one or are_leaves(sources)
        leaves = [sources] if one else sources if known else nest.flatten(sources)
        flat_sources = leaves if known else tensors_for_gradients(leaves)
        wanted = flat_sources if known else [differentiable(s, "source") for s in flat_sources]
        cotangents = output_cotangents(targets, target, output_gradients)
        if self._recording:
            self._before_asking()
        if per is not None or norms:
            check_apart(per, norms, targets, output_gradients)
            grads = self._gradients_apart(log, targets, wanted, str(per), norms)
        elif nan_safe:
            if any(map(is_nan, targets)):
                inspect().checked.warn_of_nan(self, targets, wanted)
            grads = [unwrapped(g) for g in self._vjp(log, targets, zero_wins(targets, cotangents), wanted)]
        else:
            grads = self._vjp(log, targets, cotangents, wanted)
        if log.retain:
            log.question = (targets, cotangents, list(flat_sources))
            if self._check:
                grads = inspect().checked.checked(self, targets, grads)
        for finish in self._finishers:
            grads = finish(list(flat_sources), grads)
        missing = any(map(_is_none, grads))
        self._after_asking(missing)
        if missing:
            last_missing.tape, last_missing.targets = weakref.ref(self), [weakref.ref(t) for t in targets]
            last_missing.sources = frozenset(map(id, wanted))
        if inspection.on_gradient is not None:
            inspection.on_gradient(self, targets, list(flat_sources), grads, unconnected is _NONE, True)
        if unconnected is UnconnectedGradients.ZERO:
            nothing = zeros_like if per is None else partial(nothing_apart, targets, per=per, norms=norms)
            grads = [nothing(s) if g is None else g for s, g in zip(wanted, grads, strict=True)]
        if one:
            return grads[0]
        if known and not self._finishers:
            return grads
        if type(sources) is not list and nest.is_values_view(sources):
            sources = list(sources)
        if flat_sources is not leaves:
            grads = composites_of_gradients(leaves, grads)
        return nest.pack_sequence_as(sources, grads)

    def _before_asking(self) -> None:
        if not self._recording:
            return
        if not self._persistent:
            self._stop()
        elif not GradientTape._warned_inside:
            GradientTape._warned_inside = True
            logger.warning(
                "Calling GradientTape.gradient on a persistent tape inside its context is significantly less "
                "efficient than calling it outside the context (it causes the gradient ops to be recorded on the "
                "tape, leading to increased CPU and memory usage). Only call GradientTape.gradient inside the "
                "context if you actually want to trace the gradient in order to compute higher order derivatives."
            )

    def _after_asking(self, missing: bool = False) -> None:
        if GradientTape._answered is not None:
            GradientTape._answered(self)
        if not self._persistent:
            log = self._log
            if log is not None:
                self._watched = log.variables
                if missing or log.retain:
                    self._past = log
                    log.forget()
            self._log = None
            records_gone()

    def _vjp(self, log: Log, targets: list[Any], cotangents: list[Any], sources: list[Any]) -> list[Any]:
        """Computes the gradient of each source, None where there is no path."""
        at = log.positions(sources)
        wanted: set[Any] = set(at)
        wanted.discard(None)
        seeds: dict[int, Any] = {}
        straight: dict[int, Any] = {}  # by `id`: targets that are sources themselves, but are not on the tape
        plain = log.plain and dispatch.unrecorded()
        for target, cotangent in zip(targets, cotangents, strict=True):
            position = log.position(target)
            into, key = (straight, id(target)) if position is None else (seeds, position)
            if target.dtype.differentiable or position is not None or is_itself(target, sources):
                g = ones(target) if cotangent is None else cotangent
                into[key] = into[key] + g if key in into else g
                plain = plain and type(g) is Tensor
        if plain:
            for position in seeds:
                seeds[position] = seeds[position].array
            found = self._sweep(log, seeds, wanted, raw)
        elif (module := self._device(log, seeds)) is not None:
            seeds = {position: sent(module, g).buffer for position, g in seeds.items()}
            try:
                found = self._sweep(log, seeds, wanted, ops_of(module))
            except MemoryError as error:
                raise exhausted(module, "a gradient", error) from error
            for source, position in zip(sources, at, strict=True):
                if position is not None:
                    found[position] = as_tensors(module, found[position], source.dtype)
        else:
            trace = dispatch.thread.trace
            if trace is not None:
                trace.tape_is_asked()
            with nullcontext() if trace is None or log.backward_may_raise or self._hooks else trace.from_here():
                found = self._sweep(log, seeds, wanted, ops)
        results: list[Any]
        if len(wanted) == len(sources):  # every source is on the tape, and no two share a position
            results = [
                Tensor(g, source.dtype)  # stays on the host, where it was computed
                if type(g := found[position]) is ndarray and g.dtype is source.dtype.numpy
                else answer(g, source, plain)
                for source, position in zip(sources, at, strict=True)
            ]
        else:
            answers: dict[int, Any] = {}
            results = []
            for source, position in zip(sources, at, strict=True):
                if position is None:
                    results.append(straight.get(id(source)))
                    continue
                if position not in answers:
                    answers[position] = answer(found[position], source, plain)
                results.append(answers[position])
        if modes.active:
            modes.results_created(results, cotangents)
        return results

    def _device(self, log: Log, seeds: dict[int, Any]) -> Any:
        """The array library of the device if the sweep can run on its bare arrays, otherwise None."""
        if self._hooks or not dispatch.unrecorded():
            return None
        real = all([type(g) in REAL for g in seeds.values()])
        return log.module if real else None

    def _sweep(self, log: Log, seeds: dict[int, Any], wanted: set[int], m: Any) -> Any:
        """Runs the reverse sweep; returns the cotangents by position, including those of `wanted`."""
        if not seeds or not wanted:
            return SparseCotangents(seeds)
        grads: list[Any] | SparseCotangents
        once = not (self._persistent or log.backward_may_raise or self._hooks or self._finishers)
        checked = modes.active and modes.checks_values()
        release = once and not log.retain and not checked
        try:
            if once and not log.constants and wanted >= (leaves := log.leaves):
                # A single query for every leaf: every record leads to a leaf, so pruning would remove nothing.
                target = max(seeds)
                if release and m is raw and len(seeds) == 1 and len(wanted) == len(leaves):
                    straight = repeated_sweep(log, target)
                    if straight is not None:
                        return straight(log, seeds[target])
                order: Any = range(target, min(wanted) - 1, -1)
                need = None
                grads = [None] * len(log.ops)
                for position, g in seeds.items():
                    grads[position] = g
            else:
                grads = SparseCotangents(seeds)
                path = between(log, seeds, wanted)
                need = set(path)
                order = reversed(path)
            hooks = modes.cotangent_hooks(log, grads, self._hooks) if modes.active else self._hooks
            sweep(log, grads, wanted, m=m, order=order, need=need, release=release, hooks=hooks)
        except BaseException:
            if release:  # some residuals are already freed: a second query would return wrong results
                self._after_asking()
            raise
        return grads

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            "cannot pickle a GradientTape: its records refer to live tensors. Save the gradients or the variables"
        )

