"""The residuals of a log with a memory budget: references to values in its store, in place of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, SupportsIndex

from ...core import logger
from ...core.budgets import readable_bytes
from ...core.tensor import Tensor
from .store import Store

_warned: set[object] = set()  # the budgets and functions that were already warned about


def warn_once(key: object, text: str, *args: object) -> None:
    """Logs a warning, unless one was logged for this budget or function."""
    if key not in _warned:
        _warned.add(key)
        logger.warning(text, *args)


class ValueRef(NamedTuple):
    """A reference, inside residuals, to a value in the store."""

    number: int


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


class SavedRef(NamedTuple):
    """The residuals of one rule, with references in place of the evictable values."""

    form: Any
    numbers: tuple[int, ...]


class SavedList(list[Any]):
    """The residuals of a log by position: reading an entry fetches its values, setting it to None releases them."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store

    def __getitem__(self, at: SupportsIndex | slice) -> Any:
        entry = super().__getitem__(at)
        if type(entry) is not SavedRef:
            return entry
        store = self.store
        found = store.fetch(entry.numbers)
        if type(entry.form) is not BorrowedTensors:
            return _filled(entry.form, found)
        entry.form.ready = found
        if (size := store.bytes_of(entry.numbers)) > store.limit:
            warn_once(
                entry.form.name,
                "one call of function %s keeps %s for its derivative, more than the tape's memory budget of %s: a call "
                "is run again as a whole, and the budget does not hold while its gradient is computed. "
                "tf.function(memory_budget=...) plans the function itself, and so does a tape's budget in bytes",
                entry.form.name, readable_bytes(size), readable_bytes(store.limit),
            )  # fmt: skip
        return ()

    def held(self, at: int) -> list[Any]:
        """What is in memory for the record at a position, without recomputing anything."""
        entry = super().__getitem__(at)
        if type(entry) is not SavedRef:
            return [entry]
        return [entry.form, *[self.store.values[i].tensor for i in entry.numbers]]

    def keep(self, at: int, numbers: dict[int, int]) -> None:
        """Replaces the evictable values in a rule's residuals with references; `numbers` are by the tensors' ids."""
        saved = super().__getitem__(at)
        found: list[int] = []
        form = self._with_references(saved if type(saved) is tuple else (saved,), numbers, found)
        if found:
            super().__setitem__(at, SavedRef(form if type(saved) is tuple else form[0], tuple(found)))

    def _with_references(self, parts: tuple[Any, ...], numbers: dict[int, int], found: list[int]) -> tuple[Any, ...]:
        result: list[Any] = []
        for part in parts:
            if type(part) is tuple:
                part = self._with_references(part, numbers, found)
            elif (number := numbers.get(id(part))) is not None and isinstance(part, Tensor):
                self.store.need(number, part)
                if not self.store.is_permanent(number, part):
                    found.append(number)
                    part = ValueRef(number)
            result.append(part)
        return tuple(result)

    def __setitem__(self, at: Any, entry: Any) -> None:
        before = super().__getitem__(at)
        super().__setitem__(at, entry)
        if type(before) is SavedRef:
            for i in before.numbers:
                self.store.done(i)

    def __delitem__(self, at: SupportsIndex | slice) -> None:
        if isinstance(at, slice):
            for i in range(*at.indices(len(self))):
                self[i] = None
        super().__delitem__(at)


def _filled(form: object, found: dict[int, Tensor]) -> object:
    if type(form) is ValueRef:
        return found[form.number]
    return tuple([_filled(part, found) for part in form]) if type(form) is tuple else form
