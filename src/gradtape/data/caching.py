"""Caches of the elements of the first complete pass: in memory, or in a file that later processes read too."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from ..core import errors
from ..core.locks import call_in_child
from ..core.tensor import Tensor
from ..state import archive, file_systems
from .calls import input_pass
from .elements.structure import copy_for_reader, leaves, pack_leaves
from .resumable import END, CallableIterator, Failure, FailureIterator, raise_failures

Elements = Iterator[Any]


class MemoryCache:
    """Keeps the elements of a dataset in memory after a complete pass: `count` elements, or up to the end."""

    def __init__(self, make: Callable[[], Elements], count: int) -> None:
        self._make = make
        self._count = count  # negative if unknown
        self._kept: list[Any] | None = None
        self._by_index: dict[int, Any] = {}  # elements requested by random access

    def begin(self) -> Elements:
        """Starts a pass: over the cache, or one that fills it."""
        if self._kept is not None:
            return map(copy_for_reader, self._kept)
        seen: list[Any] = []
        elements = input_pass(self._make)()

        def step() -> Any:
            element = next(elements, END)
            if element is not END:
                seen.append(copy_for_reader(element))
            if element is END or len(seen) == self._count:
                self._keep(seen)
            if element is END:
                raise StopIteration
            return element

        return CallableIterator(step)

    def _keep(self, seen: list[Any]) -> None:
        if self._kept is None:  # the first complete pass wins, as in TensorFlow
            self._kept = seen

    def element_at(self, element_at: Callable[[int], Any], index: int) -> Any:
        """Returns an element by index, computing it at most once."""
        if self._kept is not None:
            return copy_for_reader(self._kept[index])
        if index not in self._by_index:
            self._by_index[index] = element_at(index)
        return copy_for_reader(self._by_index[index])


class FileCache:
    """Keeps the elements of a dataset in `<name>.npz` after a complete pass."""

    def __init__(self, make: Callable[[], Elements], name: str, structure: Callable[[], Any]) -> None:
        self._make = make
        self._path = f"{name}.npz"
        self._structure = structure
        self._writers: dict[str, object] = {}  # by path, the pass that writes the file, if there is one
        call_in_child(self._forget_writers)

    def _forget_writers(self) -> None:
        self._writers.clear()

    def __reduce__(self) -> tuple[Any, ...]:
        return FileCache, (self._make, self._path.removesuffix(".npz"), self._structure)

    def begin(self) -> Elements:
        """Starts a pass: over the file, or one that writes it."""
        if file_systems.exists(self._path):
            return self._read()
        return raise_failures(self._written(input_pass(self._make)))

    def element_at(self, element_at: Callable[[int], Any], index: int) -> Any:
        """Returns an element by index, from the file if it exists."""
        if file_systems.exists(self._path):
            return next(itertools.islice(self._read(), index, None))
        return element_at(index)

    def _written(self, begin: Callable[[], Elements]) -> Elements:
        own = object()
        if self._writers.setdefault(self._path, own) is not own:  # atomic
            yield from FailureIterator(begin())  # another pass is writing
            return
        try:
            with archive.replacing(self._path) as file, archive.ArchiveWriter(file) as writer:
                count = 0
                for element in FailureIterator(begin()):
                    if type(element) is Failure:
                        yield element
                        continue
                    for j, leaf in enumerate(leaves(element)):
                        if not isinstance(leaf, Tensor):
                            raise TypeError(f"a file can cache tensors only, got {type(leaf).__name__}")
                        writer.add(f"{count}/{j}", leaf)
                    count += 1
                    yield element
                writer.finish(count)
        finally:
            self._writers.pop(self._path, None)

    def _read(self) -> Elements:
        with archive.ArchiveReader(self._path) as reader:
            count = reader.notes
            if type(count) is not int or count < 0:
                raise errors.DataLossError(f"{self._path} is damaged: it has {count!r} elements")
            structure = self._structure() if count else ()  # may have to compute an element
            width = len(leaves(structure))
            for i in range(count):
                yield pack_leaves(structure, iter([reader.read(f"{i}/{j}") for j in range(width)]))
