"""Elements kept from the first whole pass: in memory, or in a file that later processes read too."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..core.tensor import Tensor
from ..state import archive
from .structure import leaves, packed

Elements = Iterator[Any]


class Memory:
    """The elements of a dataset, once one pass has seen them all."""

    def __init__(self, make: Callable[[], Elements]) -> None:
        self._make = make
        self._kept: list[Any] | None = None

    def begin(self) -> Elements:
        """A pass: through what is kept, or the one that keeps it."""
        if self._kept is not None:
            yield from self._kept
            return
        seen = []
        for element in self._make():
            seen.append(element)
            yield element
        self._kept = seen


class File:
    """The elements of a dataset in `<name>.npz`, once one pass has seen them all."""

    def __init__(self, make: Callable[[], Elements], name: str, structure: Callable[[], Any]) -> None:
        self._make = make
        self._path = Path(f"{name}.npz")
        self._structure = structure
        self._lock = threading.Lock()

    def begin(self) -> Elements:
        """A pass: through the file, or the one that writes it."""
        return self._read() if self._path.exists() else self._written()

    def _written(self) -> Elements:
        if not self._lock.acquire(blocking=False):
            yield from self._make()  # another pass is writing
            return
        try:
            with archive.replacing(self._path) as file, archive.Writer(file) as writer:
                count = 0
                for element in self._make():
                    for j, leaf in enumerate(leaves(element)):
                        if not isinstance(leaf, Tensor):
                            raise TypeError(f"a file can cache tensors only, got {type(leaf).__name__}")
                        writer.add(f"{count}/{j}", leaf)
                    count += 1
                    yield element
                writer.finish(count)
        finally:
            self._lock.release()

    def _read(self) -> Elements:
        with archive.Reader(self._path) as reader:
            count = reader.notes
            structure = self._structure() if count else ()  # which may take an element to find out
            width = len(leaves(structure))
            for i in range(count):
                yield packed(structure, iter([reader.read(f"{i}/{j}") for j in range(width)]))
