"""Logs with a memory budget: residuals that do not fit are evicted, and recomputed for the sweep.

The rest of the tape is unaware of it. The log sees ops like any other and registers in its `Store` how each value was
produced. Its list of residuals holds value numbers of the store in place of tensors, and returns tensors when it is
read: see `memory.residuals`.

While everything that ops have read and produced fits the budget, nothing can be evicted: the log only queues the ops,
and registers them once that changes or the store is accessed. So a tape that never exceeds its budget has almost no
overhead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike, path
from time import perf_counter
from typing import Any, NamedTuple

from ...core import errors
from ...core.budgets import parse_budget, readable_bytes
from ...core.dtypes import DType
from ...core.protocols import OpLike, Outputs, VariableLike
from ...core.tensor import Tensor
from ..memory.rematerialization import AliasProducer, CallProducer, Producer
from ..memory.residuals import BorrowedTensors, SavedList, SavedRef, warn_once
from ..memory.spilling import SpillFolder, memory_of
from ..memory.store import ROOM_SHARE, Store
from ..registry.devices import REAL
from ..registry.op import Op
from ..run.dispatch import entry
from .log import Bookmark, Key, Log

Repeat = Callable[..., Sequence[Any]]  # reruns a call on the arrays of its inputs

_NO_ATTRS: dict[str, Any] = {}
_LATELY = 64  # how many values back an unreported copy is searched for


class Execution(NamedTuple):
    """An op that has run: its inputs and outputs, its position if it was recorded, and the seconds that it took."""

    op: OpLike
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    attrs: dict[str, Any]
    at: int | None
    seconds: float


class BudgetedLog(Log):
    """A log that enforces a memory budget."""

    saved: SavedList
    keeps_residuals = False
    repeats_calls = True
    _store: Store
    _pending: list[Execution | Tensor] | None = None  # ops, and states of draws, not registered yet: all fit the budget
    _pending_bytes = 0  # the bytes that they have read and produced

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        super().__init__(watch_accessed_variables)
        self._numbers = Key(self)  # the key under which a tensor's tracers hold its number in the store
        self._given: dict[int, int] = {}  # by the `id` of an array that no op produced: its number, if held
        self._read: dict[int, list[tuple[int, int]]] = {}  # by position of a variable: the values read, and their bytes
        self._pending_memory: set[int] = set()  # the ids of the arrays counted in these bytes, all of them alive
        self._fixed_calls: dict[str, int] = {}  # by name: the residual bytes of calls that cannot be rerun
        self._inside = False
        self._since = perf_counter()  # when the last op had been recorded

    def set_budget(self, budget: int | float, spill: str | PathLike[str] | None) -> None:
        """Sets the budget, and the directory that values beyond it may be spilled to, or None."""
        self._store = Store(budget, None if spill is None else SpillFolder(spill))
        if type(budget) is int:
            self.call_budget = self._store.certain_bytes
        self._pending = []
        self.saved = SavedList(self._store)

    @property
    def store(self) -> Store:
        """The store, with all queued ops registered."""
        self._register_pending()
        return self._store

    def resumes(self) -> None:
        """Restarts the timer of op costs."""
        self._since = perf_counter()

    def pauses(self) -> None:
        """Warns if calls that cannot be rerun put the budget out of reach."""
        super().pauses()
        if self._fixed_calls and not self._store.is_within_reach:
            name, size = max(self._fixed_calls.items(), key=lambda pair: pair[1])
            warn_once(
                name,
                "calls of function %s keep %s for their derivatives, which cannot be let go: they call Python or check "
                "values, and so cannot be run again. The tape's memory budget does not hold; it is kept beside that. "
                "tf.function(memory_budget=...) plans the function itself",
                name, readable_bytes(size),
            )  # fmt: skip

    def unary(self, op: OpLike, x: Tensor, y: Tensor) -> None:
        """Records `y = op(x)` for plain tensors."""
        at = len(self.ops)
        super().unary(op, x, y)
        self._note(op, (x,), y, _NO_ATTRS, at)

    def binary(self, op: OpLike, a: Tensor, b: Tensor, y: Tensor) -> None:
        """Records `y = op(a, b)` for plain tensors."""
        at, self._inside = len(self.ops), True
        try:
            super().binary(op, a, b, y)
        finally:
            self._inside = False
        self._note(op, (a, b), y, _NO_ATTRS, at)

    def record(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs, attrs: dict[str, Any]) -> None:
        """Records any op, if it has a derivative and one of its inputs is on the tape."""
        inside, self._inside = self._inside, True
        at = len(self.ops)
        try:
            super().record(op, inputs, outputs, attrs)
        finally:
            self._inside = inside
        if not inside:
            self._note(op, inputs, outputs, attrs, at)

    def constant(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs) -> None:
        """Records which positions an op without a derivative reads; its outputs become leaves that may be sources."""
        super().constant(op, inputs, outputs)
        if not self._inside:
            self._note(op, inputs, outputs, _NO_ATTRS, len(self.ops))

    def drawn(self, state: Tensor) -> None:
        """Registers the state of a random draw, so that the draw can be repeated."""
        if self._pending is not None:
            self._pending.append(state)
        else:
            self._set_tracer(state, self._number(state))

    def assigned(self, variable: VariableLike, value: Tensor) -> None:
        """Counts a variable's old value, which is now kept alive by this tape alone."""
        store = self.store
        for number, size in self._read.pop(self.variable_index.get(id(variable), -1), ()):
            store.count_bytes(number, size)
        super().assigned(variable, value)

    def held(self) -> Iterator[tuple[int, Any, list[Any]]]:
        """Yields each record's position, its op, and what is in memory for its rule now."""
        for at, op in enumerate(self.ops):
            if op is not None:
                kept = getattr(op, "_kept", ())
                yield at, op, [*self.saved.held(at), None if type(kept) is BorrowedTensors else kept]

    def forget(self) -> None:
        """Releases the residuals."""
        super().forget()
        self._pending = None
        self._store = Store(self._store.budget)

    def truncate(self, bookmark: Bookmark) -> None:
        """Removes everything recorded since `bookmark` was taken."""
        self._register_pending()
        super().truncate(bookmark)

    def _note(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs, attrs: dict[str, Any], at: int) -> None:
        """Registers how values were produced and, if the op was recorded at `at`, the residuals of its rule."""
        seconds = perf_counter() - self._since
        results = outputs if isinstance(outputs, tuple) else (outputs,)
        execution = Execution(op, tuple(inputs), results, attrs, at if len(self.ops) > at else None, seconds)
        if self._pending is not None and self._fits(execution):
            self._pending.append(execution)
        else:
            self._register_pending()
            self._register(execution)
        self._since = perf_counter()

    def _fits(self, execution: Execution) -> bool:
        """Whether everything that ops have read and produced fits the budget, with an op on plain tensors."""
        for x in (*execution.inputs, *execution.outputs):
            if type(x) is not Tensor:
                return False
            memory = memory_of(x.array)
            if id(memory) not in self._pending_memory:
                self._pending_memory.add(id(memory))
                self._pending_bytes += memory.nbytes
        return execution.op.family != "call" and self._pending_bytes <= self._store.certain_bytes

    def _register_pending(self) -> None:
        """Registers the queued ops in order; later ops are registered immediately."""
        if self._pending is None:
            return
        pending, self._pending = self._pending, None
        self._pending_memory.clear()
        pending.reverse()
        while pending:
            entry = pending.pop()
            if isinstance(entry, Tensor):
                self._set_tracer(entry, self._number(entry))
            else:
                self._register(entry)

    def _register(self, execution: Execution) -> None:
        op, inputs, outputs, attrs, at, seconds = execution
        store = self._store
        numbers = {id(x): self._number(x) for x in inputs if type(x) in REAL}
        if not [x for x in (*inputs, *outputs) if type(x) not in REAL]:
            producer = None
            if op.family == "call":
                self._register_call(execution, numbers)
            elif type(op) is Op and not _is_transfer(op, inputs, outputs):
                producer = Producer(op, tuple([numbers[id(x)] for x in inputs]), attrs)
                store.add_producer(producer)
            for y in outputs:
                if id(y) not in numbers:
                    numbers[id(y)] = self._add_output(y, producer, seconds)
            if producer is not None:
                producer.outputs = tuple([numbers[id(y)] for y in outputs])
        if at is not None and op.family != "call":
            self.saved.keep(at, numbers)
        if store.account.held > store.limit:
            store.keep_within()  # if necessary, evicts values of this op
            budget = store.budget
            if type(budget) is int and not store.is_within_reach:
                warn_once(
                    budget,
                    "what a tape needs and cannot let go takes %s, and the memory budget is %s: the tape keeps %s "
                    "beside it, and the budget does not hold. Tensors that no recorded op has made (inputs, what "
                    "Python has computed) cannot be computed again; smaller batches need less, and with spill=folder "
                    "they go to disk",
                    readable_bytes(store.fixed_bytes), readable_bytes(budget), readable_bytes(ROOM_SHARE * budget),
                )  # fmt: skip
        store.account.recording.add((store.account.held, store.account.wanted))

    def _register_call(self, execution: Execution, numbers: dict[int, int]) -> None:
        """Registers a call of a function, which is one op: its residuals are evictable if the call can be rerun."""
        call: Any = execution.op
        store = self._store

        def lend(
            given: Iterable[Tensor], kept: list[Tensor], dtypes: list[DType], repeat: Repeat | None
        ) -> tuple[Iterable[Tensor], Iterable[Any]]:
            sources = tuple([numbers[id(x)] for x in execution.inputs])
            producer = None if repeat is None else CallProducer(sources, repeat, dtypes)
            made: list[int] = []
            for y in (*execution.outputs, *kept):
                made.append(store.add(y, producer, (*sources, *made), execution.seconds))
            for y, number in zip(execution.outputs, made, strict=False):
                numbers[id(y)] = number
                self._set_tracer(y, number)
            needed = tuple(made[len(execution.outputs) :])
            for x, number in zip(kept, needed, strict=True):
                store.need(number, x)
            if producer is None:
                self._fixed_calls[call.name] = self._fixed_calls.get(call.name, 0) + store.bytes_of(needed)
                return given, [x.array for x in kept]
            producer.outputs = tuple(made)
            store.add_producer(producer)
            form = BorrowedTensors(store, call.name, needed, True)
            self.saved[execution.at] = SavedRef(form, needed)
            return BorrowedTensors(store, call.name, sources, False, form), form

        call.lend(lend)

    def _add_output(self, y: Tensor, producer: Producer | None, seconds: float) -> int:
        """Registers an op's output; returns its number."""
        alias = None
        if producer is None and (original := self._find_original(y)) is not None:
            producer = alias = AliasProducer(None, (original,), _NO_ATTRS)
            self._store.add_producer(alias)
        number = self._store.add(y, producer, () if producer is None else producer.inputs, seconds)
        if alias is not None:
            alias.outputs = (number,)
        self._set_tracer(y, number)
        return number

    def _find_original(self, y: Tensor) -> int | None:
        """The number of a recent value with the same array, as for the result of a custom-gradient function."""
        values = self._store.values
        for i in range(len(values) - 1, max(-1, len(values) - _LATELY), -1):
            x = values[i].available()
            if x is not None and x.buffer is y.buffer:
                return i
        return None

    def _set_tracer(self, y: Tensor, number: int) -> None:
        y.tracer = self._store.values[number].tracers = (self._numbers, number, y.tracers)

    def _number(self, x: Tensor) -> int:
        """The number of an op's input. An input that no recorded op produced is held from now on."""
        store = self._store
        tracer = x.tracer
        own = type(tracer) is tuple and tracer[0] is self._numbers
        number: int | None = tracer[1] if own else entry(x.tracers, self._numbers)
        if number is not None:
            value = store.values[number]
            if value.module is (None if type(x) is Tensor else getattr(x, "module", None)):
                if value.producer is None:
                    store.pin(number, x)
                return number
            # Otherwise it is a copy on another device, which has the tracers too.
        number = self._given.get(id(x.buffer))
        if number is not None:
            known = store.values[number].available()
            if known is not None and known.buffer is x.buffer:  # not one that was spilled, whose address was reused
                return number
        number = self._given[id(x.buffer)] = store.add(x, None, (), 0.0)
        position = self.position(x)
        size = store.values[number].block.bytes
        if position is not None and position in self.variable_index.values():
            store.pin(number, x, counted=False)
            self._read.setdefault(position, []).append((number, size))
        else:
            store.pin(number, x)
        return number


def _is_transfer(op: Op, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> bool:
    """Whether a record of `identity` is a copy to another device."""
    return op.name == "identity" and getattr(inputs[0], "module", None) is not getattr(outputs[0], "module", None)


def checked_budget(
    budget: object, spill: str | PathLike[str] | None, traced: bool
) -> tuple[int | float, str | PathLike[str] | None]:
    """Validates the user's budget of a tape and the directory to spill to."""
    if budget is None:
        raise ValueError(f"spill={spill!r} needs a memory_budget: without one, everything is kept in memory")
    found = parse_budget(budget)
    if traced:
        raise ValueError(
            "memory_budget cannot be combined with trace=True or check='nan': such a tape keeps every value, for "
            "explanations"
        )
    if spill is not None and not path.isdir(spill):
        raise errors.NotFoundError(f"spill={spill!r} is not a folder: make it first")
    return found, spill
