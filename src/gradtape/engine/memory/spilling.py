"""Spills memory blocks to files: values that take longer to recompute than to read are written to a directory."""

from __future__ import annotations

import os
from contextlib import suppress
from os import PathLike, getpid, mkdir, path, remove
from secrets import token_hex
from time import perf_counter
from typing import Any
from weakref import WeakSet, finalize, ref

import numpy as np

from ...core.tensor import Tensor, wrap

_BYTES_A_SECOND = 4e8  # assumed disk throughput, until it is measured
_AN_ACCESS = 2e-4  # seconds per access


class SpilledFile:
    """The file of a block's memory, and the location of each value in it."""

    __slots__ = ("_memory", "_process", "name", "places")

    def __init__(self, name: str, memory: np.ndarray) -> None:
        self.name = name
        self._memory = ref(memory)
        self._process = getpid()
        self.places: dict[int, tuple[Any, ...]] = {}  # by number: offset, shape, strides, NumPy dtype, dtype

    def locate(self, values: dict[int, Tensor]) -> None:
        """Adds the locations of values in the memory that was written; ignores values in other memory."""
        memory = self._memory()
        if memory is None:
            return
        start = memory.__array_interface__["data"][0]
        for i, x in values.items():
            if i not in self.places and memory_of(x.buffer) is memory:
                offset = x.array.__array_interface__["data"][0] - start
                self.places[i] = offset, x.array.shape, x.array.strides, x.array.dtype, x.dtype

    def discard(self) -> None:
        """Deletes the file, which is no longer needed; a forked process leaves it to the one that wrote it."""
        if self._process == getpid():
            with suppress(OSError):
                remove(self.name)


class SpillFolder:
    """A private subdirectory of the user's, removed when this object is collected or the process exits."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        from shutil import rmtree  # imported lazily: slow to import and only needed here

        self._folder = path.join(path.abspath(folder), f"gradtape-spill-{token_hex(8)}")
        # The finalizer comes first, so that an interrupt between the two calls leaves no directory without a finalizer.
        self.remove = finalize(self, rmtree, self._folder, True)
        _folders.add(self)
        mkdir(self._folder, 0o700)
        self._count = 0
        self._bytes = _BYTES_A_SECOND
        self._seconds = 1.0

    def seconds(self, size: int, written: bool = False) -> float:
        """Estimates the time to write and read back this many bytes; only to read them if `written`."""
        return (1 if written else 2) * (_AN_ACCESS + size * self._seconds / self._bytes)

    def write(self, values: dict[int, Tensor]) -> SpilledFile | None:
        """Writes the memory that these values share; returns None if it is not a contiguous NumPy array."""
        memory = memory_of(next(iter(values.values())).buffer)
        if type(memory) is not np.ndarray or memory.dtype.hasobject:
            return None
        flat = memory.ravel("K")
        if not np.shares_memory(flat, memory):
            return None
        file = SpilledFile(path.join(self._folder, f"{getpid()}-{self._count}.raw"), memory)
        file.locate(values)
        self._count += 1
        began = perf_counter()
        try:
            flat.tofile(file.name)
        except OSError:  # the disk is full, or the directory is gone: the values stay in memory
            file.discard()
            return None
        self._measured(memory.nbytes, began)
        return file

    def read(self, file: SpilledFile, i: int) -> Tensor:
        """Reads the value with this number from its file."""
        offset, shape, strides, numpy, dtype = file.places[i]
        began = perf_counter()
        memory = np.fromfile(file.name, np.uint8)
        self._measured(memory.nbytes, began)
        return wrap(np.ndarray(shape, numpy, memory, offset, strides), dtype)

    def _measured(self, size: int, began: float) -> None:
        self._bytes += size
        self._seconds += perf_counter() - began


_folders: WeakSet[SpillFolder] = WeakSet()


def _leave_folders_to_parent() -> None:
    for folder in _folders:
        folder.remove.detach()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_folders_to_parent)


def memory_of(array: Any) -> Any:
    """The array that owns the memory of this one."""
    while (base := getattr(array, "base", None)) is not None and type(base) is type(array):
        array = base
    return array
