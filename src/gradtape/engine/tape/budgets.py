"""Logs with a memory budget: residuals that do not fit are evicted, and recomputed for the sweep.

The rest of the tape is unaware of it. The log sees ops like any other and registers in its `Store` how each value was
produced. Its list of residuals holds value numbers of the store in place of tensors, and returns tensors when it is
read.

While everything that ops have read and produced fits the budget, nothing can be evicted: the log only queues the ops,
and registers them once that changes or the store is accessed. So a tape that never exceeds its budget has almost no
overhead.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from os import path
from time import perf_counter
from typing import Any

from ...core import errors
from ...core.budgets import parse_budget, readable_bytes
from ...core.dtypes import DType
from ...core.tensor import Tensor, wrap
from ..memory.spilling import SpillFolder, memory_of
from ..memory.store import ROOM_SHARE, Producer, Store
from ..registry.devices import REAL
from ..registry.op import Op
from ..run.dispatch import entry
from .log import Log, new_key

logger = logging.getLogger("gradtape")

_NO_ATTRS: dict[str, Any] = {}
_LATELY = 64  # how many values back an unreported copy is searched for


class ValueRef:
    """A reference, inside residuals, to a value in the store."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class SavedRef:
    """The residuals of one rule, with references in place of the evictable values."""

    __slots__ = ("form", "numbers")

    def __init__(self, form: Any, numbers: tuple[int, ...]) -> None:
        self.form = form
        self.numbers = numbers


class BorrowedTensors:
    """Tensors that a call would otherwise hold itself: they are fetched from the store when the call uses them."""

    def __init__(
        self, store: Store, name: str, numbers: tuple[int, ...], arrays: bool, instead_of: BorrowedTensors | None = None
    ) -> None:
        self._store = store
        self.name = name  # of the function
        self._instead_of = instead_of  # the alternative that stays unused if this one is used
        self.numbers = numbers
        self._arrays = arrays  # whether the op takes arrays
        self.ready: dict[int, Tensor] | None = None  # prefetched, from when the sweep reaches the op until it runs

    def __iter__(self) -> Iterator[Any]:
        found, self.ready = self.ready, None
        if self._instead_of is not None:
            self._instead_of.ready = None
        if found is None:
            found = self._store.fetch(self.numbers)
        tensors = [found[i] for i in self.numbers]
        return iter([x.array for x in tensors] if self._arrays else tensors)


class CallProducer(Producer):
    """The producer of a call's outputs and residuals."""

    __slots__ = ("dtypes", "repeat")

    def __init__(self, at: int, inputs: tuple[int, ...], repeat: Any, dtypes: Sequence[DType]) -> None:
        super().__init__(at, None, inputs, {})
        self.repeat = repeat
        self.dtypes = dtypes

    def run(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        """Reruns the compiled graph without its assignments to variables."""
        results = self.repeat(*[x.array for x in inputs])
        return [wrap(array, dtype) for array, dtype in zip(results, self.dtypes, strict=False)]


class AliasProducer(Producer):
    """The producer of a custom-gradient function's result: an alias of a value that the function has computed."""

    __slots__ = ()

    def run(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        """Returns the same array in a new tensor."""
        return (inputs[0].own_read(),)


class SavedList(list[Any]):
    """The residuals of a log by position: reading an entry fetches its values, setting it to None releases them."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store

    def __getitem__(self, at: Any) -> Any:
        entry = super().__getitem__(at)
        if type(entry) is not SavedRef:
            return entry
        found = self.store.fetch(entry.numbers)
        if type(entry.form) is BorrowedTensors:
            entry.form.ready = found
            if (size := self.store.bytes_of(entry.numbers)) > self.store.limit:
                _warn_of_call(entry.form.name, size, self.store)
            return ()
        return _filled(entry.form, found)

    def held(self, at: int) -> list[Any]:
        """What is in memory for the record at a position, without recomputing anything."""
        entry = super().__getitem__(at)
        if type(entry) is not SavedRef:
            return [entry]
        return [entry.form, *[self.store.values[i].tensor for i in entry.numbers]]

    def __setitem__(self, at: Any, entry: Any) -> None:
        before = super().__getitem__(at)
        super().__setitem__(at, entry)
        if type(before) is SavedRef:
            for i in before.numbers:
                self.store.done(i)

    def __delitem__(self, at: Any) -> None:
        if isinstance(at, slice):
            for i in range(*at.indices(len(self))):
                self[i] = None
        super().__delitem__(at)


def _filled(form: Any, found: dict[int, Tensor]) -> Any:
    if type(form) is ValueRef:
        return found[form.number]
    return tuple([_filled(part, found) for part in form]) if type(form) is tuple else form


class BudgetedLog(Log):
    """A log that enforces a memory budget."""

    saved: Any
    repeats_calls = True
    _store: Store
    _pending: list[tuple[Any, ...]] | None = None  # ops that are not registered yet, while all of them fit the budget
    _pending_bytes = 0  # the bytes that they have read and produced

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        super().__init__(watch_accessed_variables)
        self._numbers = new_key(self)  # the key under which a tensor's tracers hold its number in the store
        self._given: dict[int, int] = {}  # by the `id` of an array that no op produced: its number, if held
        self._read: dict[int, list[tuple[int, int]]] = {}  # by position of a variable: the values read, and their bytes
        self._told = 0
        self._pending_memory: set[int] = set()  # the ids of the arrays counted in these bytes, all of them alive
        self._fixed_calls: dict[str, int] = {}  # by name: the residual bytes of calls that cannot be rerun
        self._inside = False
        self._since = perf_counter()  # when the last op had been recorded

    def set_budget(self, budget: int | float, spill: Any) -> None:
        """Sets the budget, and the directory that values beyond it may be spilled to, or None."""
        self._store = Store(budget, None if spill is None else SpillFolder(spill))
        if type(budget) is int:
            self.call_budget = self._store.certain_bytes
        self._pending = []
        self.saved = SavedList(self._store)

    @property
    def store(self) -> Store:
        """The store, with all queued ops registered."""
        if self._pending is not None:
            self._note_pending()
        return self._store

    def resumes(self) -> None:
        """Restarts the timer of op costs."""
        self._since = perf_counter()

    def pauses(self) -> None:
        """Warns if calls that cannot be rerun put the budget out of reach."""
        super().pauses()
        store = self._store
        if self._fixed_calls and not store.is_within_reach:
            name, size = max(self._fixed_calls.items(), key=lambda pair: pair[1])
            _warn_of_fixed_call(name, size, store)

    def unary(self, op: Any, x: Tensor, y: Tensor) -> None:
        """Records `y = op(x)` for plain tensors."""
        at = len(self.ops)
        super().unary(op, x, y)
        self._note_plain(op, (x,), y, at)

    def binary(self, op: Any, a: Tensor, b: Tensor, y: Tensor) -> None:
        """Records `y = op(a, b)` for plain tensors."""
        at, self._inside = len(self.ops), True
        try:
            super().binary(op, a, b, y)
        finally:
            self._inside = False
        self._note_plain(op, (a, b), y, at)

    def record(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        """Records any op, if it has a derivative and one of its inputs is on the tape."""
        inside, self._inside = self._inside, True
        at = len(self.ops)
        try:
            super().record(op, inputs, outputs, attrs)
        finally:
            self._inside = inside
        if not inside:
            self._note(op, inputs, outputs if type(outputs) is tuple else (outputs,), attrs, at)

    def constant(self, op: Any, inputs: Sequence[Tensor], outputs: Any) -> None:
        """Records which positions an op without a derivative reads; its outputs become leaves that may be sources."""
        super().constant(op, inputs, outputs)
        if not self._inside:
            self._note(op, inputs, outputs if type(outputs) is tuple else (outputs,), {}, len(self.ops))

    def drawn(self, state: Tensor) -> None:
        """Registers the state of a random draw, so that the draw can be repeated."""
        if self._pending is not None:
            self._pending.append((None, state))
        else:
            self._marked(state, self._number(state))

    def assigned(self, variable: Any, value: Tensor) -> None:
        """Counts a variable's old value, which is now kept alive by this tape alone."""
        if self._pending is not None:
            self._note_pending()
        for number, size in self._read.pop(self.variable_index.get(id(variable), -1), ()):
            self._store.counts(number, size)
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

    def truncate(self, bookmark: tuple[int, int]) -> None:
        """Removes everything recorded since `bookmark` was taken."""
        if self._pending is not None:
            self._note_pending()
        super().truncate(bookmark)

    def _note_plain(self, op: Any, inputs: tuple[Tensor, ...], y: Tensor, at: int) -> None:
        """A faster `_note` for ops on plain tensors without attributes, the most common case."""
        if self._pending is not None or type(op) is not Op or op.name == "identity":
            self._note(op, inputs, (y,), _NO_ATTRS, at)
            return
        store = self._store
        values = store.values
        cost = perf_counter() - self._since
        key = self._numbers
        numbers = {}
        sources: tuple[int, ...] = ()
        for x in inputs:
            tracer = x.tracer
            is_own = type(tracer) is tuple and tracer[0] is key
            if is_own and (value := values[tracer[1]]).maker and value.module is None:
                number = tracer[1]
            else:
                number = self._number(x)
            numbers[id(x)] = number
            sources += (number,)
        maker = Producer(self._told, op, sources, _NO_ATTRS)
        self._told += 1
        number = numbers[id(y)] = store.add(y, maker, sources, cost)
        maker.outputs = (number,)
        y.tracer = values[number].tracers = (key, number, y.tracers)
        if len(self.ops) > at:
            self._keep(at, numbers)
        if store.account.held > store.limit:
            self._keep_within()
        self._since = perf_counter()

    def _note(
        self, op: Any, inputs: Sequence[Tensor], outputs: tuple[Tensor, ...], attrs: dict[str, Any], at: int
    ) -> None:
        """Registers how values were produced and, if the op was recorded at `at`, the residuals of its rule."""
        cost = perf_counter() - self._since
        recorded = len(self.ops) > at
        if self._pending is None or not self._postponed(op, inputs, outputs, attrs, at, recorded, cost):
            self._note_now(op, inputs, outputs, attrs, at, recorded, cost)
        self._since = perf_counter()

    def _postponed(
        self, op: Any, inputs: Sequence[Tensor], outputs: tuple[Tensor, ...], *further: Any
    ) -> bool:
        """Queues an op if everything that ops have read and produced fits the budget; otherwise registers the queue."""
        assert self._pending is not None
        counted = self._pending_memory
        plain = op.family != "call"
        for x in (*inputs, *outputs):
            if type(x) is not Tensor:
                plain = False
                break
            memory = memory_of(x.array)
            if id(memory) not in counted:
                counted.add(id(memory))
                self._pending_bytes += memory.nbytes
        if not plain or self._pending_bytes > self._store.certain_bytes:
            self._note_pending()
            return False
        self._pending.append((op, tuple(inputs), outputs, *further))
        return True

    def _note_pending(self) -> None:
        """Registers the queued ops in order; later ops are registered immediately."""
        pending, self._pending = self._pending or [], None
        self._pending_memory.clear()
        pending.reverse()
        while pending:
            op, *known = pending.pop()
            if op is None:
                self._marked(known[0], self._number(known[0]))
            else:
                self._note_now(op, *known)

    def _note_now(
        self, op: Any, inputs: Sequence[Tensor], outputs: tuple[Tensor, ...], attrs: dict[str, Any], at: int,
        recorded: bool, cost: float,
    ) -> None:  # fmt: skip
        store = self._store
        numbers = {id(x): self._number(x) for x in inputs if type(x) in REAL}
        real = len(numbers) == len({id(x) for x in inputs}) and all([type(y) in REAL for y in outputs])
        if real:
            maker = None
            if op.family == "call":
                self._note_call(op, inputs, outputs, numbers, cost, at)
            elif type(op) is Op and not _moves(op, inputs, outputs):
                maker = Producer(self._told, op, tuple([numbers[id(x)] for x in inputs]), attrs)
                self._told += 1
            for y in outputs:
                if id(y) not in numbers:
                    numbers[id(y)] = self._made(y, maker, cost)
            if maker is not None:
                maker.outputs = tuple([numbers[id(y)] for y in outputs])
        if recorded and op.family != "call":
            self._keep(at, numbers)
        if store.account.held > store.limit:
            self._keep_within()

    def _keep_within(self) -> None:
        """Evicts what is beyond the limit, if necessary values of the op that has just run."""
        store = self._store
        store.keep_within(())
        if type(store.budget) is int and not store.is_within_reach:
            _warn_out_of_reach(store.budget, store.fixed_bytes)

    def _note_call(
        self,
        call: Any,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        numbers: dict[int, int],
        cost: float,
        at: int,
    ) -> None:
        """Registers a call of a function, which is one op: its residuals are evictable if the call can be rerun."""
        store = self._store

        def lend(given: Iterable[Tensor], kept: list[Tensor], dtypes: list[DType], repeat: Any) -> tuple[Any, Any]:
            sources = tuple([numbers[id(x)] for x in inputs])
            maker = None if repeat is None else CallProducer(self._told, sources, repeat, dtypes)
            self._told += 1
            made: list[int] = []
            for y in (*outputs, *kept):
                made.append(store.add(y, maker, (*sources, *made), cost))
            for y, number in zip(outputs, made, strict=False):
                numbers[id(y)] = number
                self._marked(y, number)
            if maker is not None:
                maker.outputs = tuple(made)
            needed = tuple(made[len(outputs) :])
            for x, number in zip(kept, needed, strict=True):
                store.need(number, x)
            if maker is None:
                self._fixed_calls[call.name] = self._fixed_calls.get(call.name, 0) + store.bytes_of(needed)
                return given, [x.array for x in kept]
            form = BorrowedTensors(store, call.name, needed, True)
            list.__setitem__(self.saved, at, SavedRef(form, needed))
            return BorrowedTensors(store, call.name, sources, False, form), form

        call.lend(lend)

    def _made(self, y: Tensor, maker: Producer | None, cost: float) -> int:
        """Registers an op's output; returns its number."""
        copy = None
        if maker is None and (original := self._copied(y)) is not None:
            maker = copy = AliasProducer(self._told, None, (original,), {})
            self._told += 1
        number = self._store.add(y, maker, () if maker is None else maker.inputs, cost)
        if copy is not None:
            copy.outputs = (number,)
        self._marked(y, number)
        return number

    def _copied(self, y: Tensor) -> int | None:
        """The number of a recent value with the same array, as for the result of a custom-gradient function."""
        values = self._store.values
        for i in range(len(values) - 1, max(-1, len(values) - _LATELY), -1):
            x = values[i].at_hand()
            if x is not None and x.buffer is y.buffer:
                return i
        return None

    def _marked(self, y: Tensor, number: int) -> None:
        y.tracer = self._store.values[number].tracers = (self._numbers, number, y.tracers)

    def _number(self, x: Tensor) -> int:
        """The number of an op's input. An input that no recorded op produced is held from now on."""
        store = self._store
        number: int | None = entry(x.tracers, self._numbers)
        if number is not None and store.values[number].module is not getattr(x, "module", None):
            number = None  # a copy on another device, which has the tracers too
        if number is None:
            number = self._given.get(id(x.buffer))
            if number is not None:
                known = store.values[number].at_hand()
                if known is None or known.buffer is not x.buffer:  # it was spilled, and its address was reused
                    number = None
            if number is None:
                number = self._given[id(x.buffer)] = store.add(x, None, (), 0.0)
                position = self.position(x)
                variable = position is not None and position in self._variable_positions()
                size = store.values[number].block.bytes
                store.pin(number, x, counted=not variable)
                if variable:
                    self._read.setdefault(position, []).append((number, size))  # type: ignore[arg-type]
        elif store.values[number].maker is None:
            store.pin(number, x)
        return number

    def _variable_positions(self) -> Any:
        return self.variable_index.values()

    def _keep(self, at: int, numbers: dict[int, int]) -> None:
        """Replaces the evictable values in a rule's residuals with references."""
        saved = list.__getitem__(self.saved, at)
        found: list[int] = []
        if type(saved) is tuple:
            form: Any = self._with_slots(saved, numbers, found)
        else:
            (form,) = self._with_slots((saved,), numbers, found)
        if found:
            list.__setitem__(self.saved, at, SavedRef(form, tuple(found)))

    def _with_slots(self, parts: tuple[Any, ...], numbers: dict[int, int], found: list[int]) -> tuple[Any, ...]:
        store = self._store
        result = []
        for part in parts:
            if type(part) is tuple:
                result.append(self._with_slots(part, numbers, found) if part else part)
                continue
            number = numbers.get(id(part))  # by the ids of the op's tensors, which are alive
            if number is not None:
                store.need(number, part)
                if not store.stays(number, part):
                    found.append(number)
                    part = ValueRef(number)
            result.append(part)
        return tuple(result)


_warned: set[Any] = set()  # the budgets and functions that were already warned about


def _warn_of_call(name: str, size: int, store: Store) -> None:
    """Warns, once per function, that the residuals of a single call exceed the budget."""
    if name not in _warned:
        _warned.add(name)
        logger.warning(
            "one call of function %s keeps %s for its derivative, more than the tape's memory budget of %s: a call is "
            "run again as a whole, and the budget does not hold while its gradient is computed. "
            "tf.function(memory_budget=...) plans the function itself, and so does a tape's budget in bytes",
            name, readable_bytes(size), readable_bytes(store.limit),
        )  # fmt: skip


def _warn_of_fixed_call(name: str, size: int, store: Store) -> None:
    """Warns, once per function, that the residuals of its calls cannot be evicted and exceed the budget."""
    if name not in _warned:
        _warned.add(name)
        logger.warning(
            "calls of function %s keep %s for their derivatives, which cannot be let go: they call Python or check "
            "values, and so cannot be run again. The tape's memory budget does not hold; it is kept beside that. "
            "tf.function(memory_budget=...) plans the function itself",
            name, readable_bytes(size),
        )  # fmt: skip


def _warn_out_of_reach(budget: int | float, fixed: int) -> None:
    if budget not in _warned:
        _warned.add(budget)
        logger.warning(
            "what a tape needs and cannot let go takes %s, and the memory budget is %s: the tape keeps %s beside it, "
            "and the budget does not hold. Tensors that no recorded op has made (inputs, what Python has computed) "
            "cannot be computed again; smaller batches need less, and with spill=folder they go to disk",
            readable_bytes(fixed), readable_bytes(budget), readable_bytes(ROOM_SHARE * budget),
        )  # fmt: skip


def _moves(op: Op, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> bool:
    """Whether a record of `identity` is a copy to another device."""
    return op.name == "identity" and getattr(inputs[0], "module", None) is not getattr(outputs[0], "module", None)


def checked_budget(budget: Any, spill: Any, traced: bool) -> tuple[int | float, Any]:
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
