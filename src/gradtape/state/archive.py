"""Named tensors in one file, whole or not there: an .npz that `numpy.load` reads, without pickle.

A file is written beside its place, flushed to the disk, and put in its place at once: whoever reads finds the old file
or the new one. A zip file carries a checksum of every member, so that a damaged one is noticed.
"""

from __future__ import annotations

import itertools
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from ..core import dtypes, errors
from ..core.dtypes import as_dtype
from ..core.tensor import Tensor, wrap

_numbers = itertools.count()  # several threads, or passes through a dataset, may write the same file at once
_CONTENTS = "contents.json"
_BYTES = ".bytes"  # strings are one array of all their bytes, beside the array of their lengths


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of `path` when the block has ended well, and is removed otherwise."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f"{target.name}.{next(_numbers)}.{os.getpid()}.part")
    try:
        with open(draft, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


def remove_drafts(folder: str, pattern: str) -> None:
    """Removes what processes that were killed have left behind while they wrote files of this pattern."""
    if os.name != "posix":
        return  # elsewhere there is no way to ask whether a process is running
    for draft in Path(folder).glob(f"{pattern}.*.part"):
        if not _is_running(draft.name.rsplit(".", 2)[1]):
            draft.unlink(missing_ok=True)


def _is_running(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        pass
    return True


def _flush_folder(folder: Path) -> None:
    """A file's new name is on the disk when its folder is."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class Writer:
    """Adds tensors to an archive that is being written."""

    def __init__(self, file: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True)
        self._dtypes: dict[str, str] = {}

    def add(self, name: str, value: Tensor) -> None:
        """The tensor under this name."""
        array = np.asarray(value.array)
        self._dtypes[name] = value.dtype.name
        if value.dtype is dtypes.string:
            self._write(name + _BYTES, np.frombuffer(b"".join(array.ravel().tolist()), np.uint8))
            array = np.array([len(text) for text in array.ravel().tolist()], np.int64).reshape(array.shape)
        elif array.dtype.isbuiltin != 1:  # bfloat16 and its like, which the format does not know by name
            array = array.view(f"u{array.dtype.itemsize}")
        self._write(name, array)

    def _write(self, name: str, array: np.ndarray[Any, Any]) -> None:
        with self._zip.open(f"{name}.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array(member, array, allow_pickle=False)

    def finish(self, notes: Any) -> None:
        """The archive is complete; `notes`, anything that JSON can say, goes with it."""
        self._zip.writestr(_CONTENTS, json.dumps({"dtypes": self._dtypes, "notes": notes}))

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: Any) -> None:
        self._zip.close()


class Reader:
    """The tensors of an archive, read one at a time; `DataLossError` if the file is damaged."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        with ExitStack() as when_damaged:
            try:
                self._zip = when_damaged.enter_context(zipfile.ZipFile(self.path))
                contents = json.loads(self._zip.read(_CONTENTS))
                self.dtypes = {name: as_dtype(dtype) for name, dtype in contents["dtypes"].items()}
                self.notes = contents["notes"]
            except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
                raise errors.DataLossError(f"{path} is no archive of tensors, or is damaged: {error}") from error
            when_damaged.pop_all()

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor, without reading it."""
        with self._member(name) as member:
            version = np.lib.format.read_magic(member)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            return read(member)[0]

    def read(self, name: str) -> Tensor:
        """The tensor of this name."""
        dtype, array = self.dtypes[name], self._array(name)
        if dtype is dtypes.string:
            text, ends = self._array(name + _BYTES).tobytes(), np.cumsum(array.ravel())
            strings = np.empty(array.shape, object)
            strings.ravel()[:] = [text[end - size : end] for end, size in zip(ends, array.ravel(), strict=True)]
            return wrap(strings, dtype)
        if array.dtype != dtype.numpy:
            array = array.view(dtype.numpy)
        return wrap(array if array.ndim else array[()], dtype)

    def _array(self, name: str) -> np.ndarray[Any, Any]:
        with self._member(name) as member:
            return np.lib.format.read_array(member, allow_pickle=False)

    @contextmanager
    def _member(self, name: str) -> Iterator[IO[bytes]]:
        try:
            with self._zip.open(f"{name}.npy") as member:
                yield member
        except (zipfile.BadZipFile, ValueError, EOFError) as error:
            raise errors.DataLossError(f"{name} in {self.path} is damaged: {error}") from error

    def close(self) -> None:
        """Closes the file."""
        self._zip.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
