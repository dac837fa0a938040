"""`Tape`: records ops while it is entered, and computes vector-Jacobian products from the records.

Everything else that is derived from a tape (Jacobians, Hessians, per-example gradients) is a function of a `Tape`, in
`engine/derivatives`. TensorFlow's `GradientTape`, with its arguments, warnings and errors, is in `api/tape.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from os import PathLike
from time import monotonic
from typing import Any

from numpy import ndarray

from ...backends.arrays import ArrayModule
from ...core import devices, modes
from ...core.budgets import in_force
from ...core.protocols import VariableLike
from ...core.tensor import Tensor
from ..registry.devices import REAL, DeviceOps, exhausted, ops_of, send_cotangent
from ..run import dispatch
from ..run.namespace import Namespace, ops, raw
from ..run.source_lines import LineReference, here
from .backprop import SparseCotangents, between, sweep
from .collector import recording_starts, recording_stops, records_gone
from .compiled_sweeps import repeated_sweep
from .log import Bookmark, Log
from .results import OptionalGradient, as_gradient, as_tensors
from .validation import Differentiable, is_itself, ones

Hook = Callable[[Tensor], Any]  # gets a cotangent, and may return another one


class Tape(dispatch.Block):
    """Records ops in a `Log` while it is entered; a subclass selects other kinds of logs.

    A tape that is not persistent serves one query: the sweep releases records as it passes them, and `release` drops
    the log. The underscored attributes are shared with `engine/derivatives` and `inspect`; they are not public, because
    users subclass `GradientTape`. A subclass may define any other name, such as `vjp`: what computes with a tape that
    may be a user's calls `Tape.vjp(tape, ...)`.
    """

    _STILL = "Tape is still recording, This can happen if you try to re-enter an already-active tape."
    _log: Log | None = None
    _past: Log | None = None  # after the tape is used up: the log for `explain`, if a gradient was None
    _budget: tuple[int | float, str | PathLike[str] | None] | None = None  # bytes or a share; where to spill to
    _entered = False
    _loss_is_scaled = False  # a loss scaler skips steps whose gradients overflow
    _of_a_graph = False  # the records were created from the nodes of a graph that had already run: see `tf.gradients`
    _watched: Sequence[Any] = ()  # after the tape is used up: the log's variables
    _releases_early = True  # whether a sweep may release records; not if results are checked or replaced afterwards
    _sweeps = 0  # of the last Jacobian or Hessian: its rows, columns or colors
    _born: tuple[float, LineReference] | None = None  # when and where a tape that may live long was created

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent, self._watch_accessed_variables = persistent, watch_accessed_variables
        self._hooks: dict[int, list[Hook]] = {}  # by position
        if in_force.budget is not None:
            self._budget = (in_force.budget, None)
        if persistent:
            Tape._note_creation(self)

    def _note_creation(self) -> None:
        self._born = monotonic(), here(3)

    def _begin(self) -> None:
        self._recording = True
        log = self._log
        if log is None:
            log = self._log = self._log_class()(self._watch_accessed_variables)
            if self._budget is not None:
                log.set_budget(*self._budget)
                if dispatch.thread.trace is not None:
                    dispatch.thread.trace.budget = self._budget[0]
        else:
            log.level = dispatch.next_level()
        log.resumes()
        dispatch.enter(log)
        recording_starts(log.key)
        self._entered = True

    def _log_class(self) -> type[Log]:
        """Selects the log that records what a budget and the active modes require."""
        if self._budget is not None and dispatch.thread.trace is None:  # a traced function is planned whole
            from .budgets import BudgetedLog  # imported lazily: few tapes need it

            return BudgetedLog
        needed = modes.log_class(in_function=dispatch.thread.trace is not None) if modes.active else None
        return needed or Log

    def _end(self) -> None:
        log = self._log
        if self._recording and log is not None:
            log.pauses()
            dispatch.leave(log)
            recording_stops(log.key)
        self._recording = False

    def pause(self) -> None:
        """Stops recording; `resume` continues."""
        if not self._recording:
            raise ValueError("Tape is not recording.")
        dispatch.Block.__exit__(self, None, None, None)

    def resume(self) -> None:
        """Continues to record after `pause`."""
        dispatch.Block.__enter__(self)

    def _required_log(self) -> Log:
        """The log of a tape that was entered and is not used up."""
        assert self._log is not None
        return self._log

    def watch(self, tensor: Sequence[Tensor | VariableLike]) -> None:
        """Makes each of these differentiable tensors and variables a leaf of the log."""
        log = Tape._required_log(self)
        for x in tensor:
            if isinstance(x, Tensor):
                log.watch(x)
            else:
                log.watch_variable(x)

    def release(self, explainable: bool = False) -> None:
        """Ends a query: drops the log unless the tape is persistent; if `explainable`, keeps its structure."""
        if modes.active:
            modes.query_finished(self)
        if not self._persistent:
            log = self._log
            if log is not None:
                self._watched = log.variables
                if explainable or log.retain:
                    self._past = log
                    log.forget()
            self._log = None
            records_gone()

    @contextmanager
    def retained(self, more_to_come: bool = True) -> Iterator[None]:
        """Keeps the records during a sweep if another one follows: only the last sweep of a query may release them."""
        before = self._persistent
        self._persistent = before or more_to_come
        try:
            yield
        finally:
            self._persistent = before

    def truncate(self, bookmark: Bookmark) -> None:
        """Removes what was recorded since the log returned `bookmark`."""
        Tape._required_log(self).truncate(bookmark)

    def vjp(
        self, targets: Sequence[Differentiable], cotangents: Sequence[Tensor | None], sources: Sequence[Differentiable],
    ) -> list[OptionalGradient]:  # fmt: skip
        """Computes the gradient of each source, None where there is no path; a cotangent of None stands for ones."""
        log = self._log
        assert log is not None
        at = log.positions(sources)
        wanted: set[Any] = set(at)
        wanted.discard(None)
        seeds: dict[int, Any] = {}
        straight: dict[int, Any] = {}  # by `id`: targets that are sources themselves, but are not on the tape
        plain = log.plain and dispatch.unrecorded()
        for i, target in enumerate(targets):  # `zip` with `strict` takes as long as the rest of such a short loop
            cotangent, position = cotangents[i], log.position(target)
            if position is None and dispatch.thread.trace is not None:
                dispatch.thread.trace.target_is_unrecorded(target)
            into, key = (straight, id(target)) if position is None else (seeds, position)
            if target.dtype.differentiable or position is not None or is_itself(target, sources):
                g = ones(target) if cotangent is None else cotangent
                into[key] = into[key] + g if key in into else g
                plain = plain and type(g) is Tensor
        found = Tape._swept(self, log, seeds, wanted, sources, at, plain)
        results: list[OptionalGradient]
        if len(wanted) == len(sources):  # every source is on the tape, and no two share a position
            results = []
            for i, source in enumerate(sources):
                g, dtype = found[at[i]], source.dtype
                if type(g) is ndarray and g.dtype is dtype.numpy:
                    results.append(Tensor(g, dtype))  # stays on the host, where it was computed
                else:
                    results.append(as_gradient(g, source, plain))
        else:
            converted: dict[int, OptionalGradient] = {}
            results = []
            for source, position in zip(sources, at, strict=True):
                if position is None:
                    results.append(straight.get(id(source)))
                    continue
                if position not in converted:
                    converted[position] = as_gradient(found[position], source, plain)
                results.append(converted[position])
        if modes.active:
            modes.results_created(results, cotangents)
        return results

    def _swept(
        self, log: Log, seeds: dict[int, Any], wanted: set[int], sources: Sequence[Differentiable],
        at: Sequence[int | None], plain: bool,
    ) -> Any:  # fmt: skip
        """Selects what the rules compute with (arrays, device arrays or tensors), and runs the sweep."""
        if plain:
            for position in seeds:
                seeds[position] = seeds[position].array
            return Tape._sweep(self, log, seeds, wanted, raw)
        module = Tape._device(self, log, seeds)
        if module is not None:
            seeds = {position: send_cotangent(module, g) for position, g in seeds.items()}
            try:
                found = Tape._sweep(self, log, seeds, wanted, ops_of(module))
            except module.memory_errors as error:
                raise exhausted(module, "a gradient", error) from error
            except RuntimeError as error:
                devices.raise_if_lost("a gradient", error)
                raise
            for source, place in zip(sources, at, strict=True):
                if place is not None:
                    found[place] = as_tensors(module, found[place], source.dtype)
            return found
        trace = dispatch.thread.trace
        if trace is not None:
            trace.tape_is_asked()
        with nullcontext() if trace is None or log.backward_may_raise or self._hooks else trace.at_line():
            return Tape._sweep(self, log, seeds, wanted, ops)

    def _device(self, log: Log, seeds: dict[int, Any]) -> ArrayModule | None:
        """The array library of the device if the sweep can run on its bare arrays, otherwise None."""
        if self._hooks or not dispatch.unrecorded():
            return None
        return log.module if all([type(g) in REAL for g in seeds.values()]) else None

    def _sweep(self, log: Log, seeds: dict[int, Any], wanted: set[int], m: Namespace | DeviceOps) -> Any:
        """Runs the reverse sweep; returns the cotangents by position, including those of `wanted`."""
        if not seeds or not wanted:
            return SparseCotangents(seeds)
        grads: list[Any] | SparseCotangents
        usual = self._releases_early and not (log.backward_may_raise or self._hooks)
        once = usual and not self._persistent
        unchecked = not (modes.active and modes.checks_values()) and not log.retain
        release = once and unchecked
        try:
            if usual and unchecked and m is not ops and len(seeds) == 1:
                (target,) = seeds
                straight = repeated_sweep(log, target, wanted, m)
                if straight is not None:
                    return straight(log, log.saved if release else log.saved.copy(), seeds[target])
            if once and not log.constants and wanted >= log.leaves:
                # A single query for every leaf: every record leads to a leaf, so pruning would remove nothing.
                order: Any = range(max(seeds), min(wanted) - 1, -1)
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
                Tape.release(self)
            raise
        return grads
