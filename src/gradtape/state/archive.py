"""Archives of named tensors in one file, written atomically: an .npz that `numpy.load` reads without pickle.

A file is written to a temporary name in the same folder, flushed to disk, and renamed: readers see the old file or the
new one. A zip file has a checksum for each member, which is verified before its contents are used.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import secrets
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

import numpy as np

from ..core import dtypes, errors
from ..core.dtypes import as_dtype
from ..core.locks import call_in_child, leave_to_parent
from ..core.tensor import Tensor, wrap
from .file_systems import create_folders, file_system, is_remote, open_to_read, path_text, stat, writing

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_CONTENTS = "contents.json"
_BYTES = ".bytes"  # strings are stored as one array of all bytes and an array of their lengths
_AT_ONCE = 1 << 20  # bytes read at a time


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is below a folder of the same file system, without following links."""
    if "\0" in path or is_remote(path) != is_remote(folder):
        return False
    if is_remote(folder):
        return path.startswith(folder.rstrip("/") + "/") and ".." not in path.split("/")
    own = os.path.join(os.path.abspath(file_system(folder)[1]), "")
    return os.path.abspath(file_system(path)[1]).startswith(own)  # the file that `file://` stands for


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` if the block succeeds, and is removed otherwise.

    System errors are raised as TensorFlow's: `ResourceExhaustedError` if the disk is full.
    """
    if not is_remote(path):
        with replacing_all([path]) as (file,):
            yield file
        return
    contents = io.BytesIO()  # a bucket has no rename
    yield contents
    with writing(path) as remote:
        remote.write(contents.getbuffer())


@contextmanager
def replacing_all(
    paths: Sequence[str | os.PathLike[str]], switching: Callable[[], AbstractContextManager[Any]] = nullcontext
) -> Iterator[list[BinaryIO]]:
    """Open temporary files that replace local `paths`, of one folder, in this order, if the block succeeds.

    None is replaced before all are on disk, so a full disk changes nothing. `switching` surrounds the replacements.
    """
    targets = [Path(file_system(path)[1]) for path in paths]
    # The random name allows concurrent writers, and an attacker cannot predict it to plant a link.
    process = os.getpid()  # a child that was forked in the block leaves the files to its parent
    token = secrets.token_hex(8)
    drafts = [target.with_name(f"{target.name}.{token}.{process}.part") for target in targets]
    create_folders(targets[0].parent)
    created: list[Path] = []
    try:
        with ExitStack() as opened:
            files: list[BinaryIO] = []
            for draft, target in zip(drafts, targets, strict=True):
                files.append(opened.enter_context(io.BufferedWriter(_Draft(draft, target))))
                created.append(draft)
            yield files
            if os.getpid() != process:
                return
            for file, target in zip(files, targets, strict=True):
                with errors.of_system(target):
                    file.flush()
                    os.fsync(file.fileno())
        with switching():
            for draft, target in zip(drafts, targets, strict=True):
                with errors.of_system(target):
                    os.replace(draft, target)
    except BaseException:
        if os.getpid() == process:
            for draft in created:
                with suppress(OSError):
                    draft.unlink(missing_ok=True)
        raise
    with errors.of_system(targets[0]):
        flush_folder(targets[0].parent)


@contextmanager
def locked(folder: str | os.PathLike[str]) -> Iterator[None]:
    """In the block, no other process or thread is in such a block for this folder, where the system can say so.

    Buckets have no locks.
    """
    if fcntl is None or is_remote(folder):
        yield
        return
    handle = os.open(file_system(folder)[1], os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


class _Draft(io.FileIO):
    """A newly created file to write to; errors name the file that it will replace."""

    def __init__(self, draft: Path, target: Path) -> None:
        self._target = target
        with errors.of_system(target):
            super().__init__(draft, "xb")
        call_in_child(self._leave_to_parent)

    def _leave_to_parent(self) -> None:
        leave_to_parent(self)

    def write(self, data: Any) -> Any:
        """Write some of the bytes and return how many."""
        with errors.of_system(self._target):
            return super().write(data)


def remove_drafts(folder: str, pattern: str) -> None:
    """Remove temporary files of this pattern whose processes were killed while writing."""
    if os.name != "posix" or is_remote(folder):
        return  # there is no portable way to ask whether a process is running; buckets have no temporary files
    for draft in Path(file_system(folder)[1]).glob(f"{pattern}.*.part"):
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


def flush_folder(folder: Path) -> None:
    """Flush a folder: only then is a renamed file durable."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class ArchiveWriter:
    """Adds tensors to an archive that is being written."""

    def __init__(self, file: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True)
        self._dtypes: dict[str, str] = {}

    def add(self, name: str, value: Tensor) -> None:
        """Add a tensor under this name."""
        array = np.asarray(value.array)
        self._dtypes[name] = value.dtype.name
        if value.dtype is dtypes.string:
            self._write(name + _BYTES, np.frombuffer(b"".join(array.ravel().tolist()), np.uint8))
            array = np.array([len(text) for text in array.ravel().tolist()], np.int64).reshape(array.shape)
        elif array.dtype.isbuiltin != 1:  # bfloat16 and the like have no name in the .npy format
            array = array.view(f"u{array.dtype.itemsize}")
        self._write(name, array)

    def _write(self, name: str, array: np.ndarray[Any, Any]) -> None:
        with self._zip.open(f"{name}.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array(member, array, allow_pickle=False)

    def finish(self, notes: object) -> None:
        """Complete the archive with `notes`, any JSON value."""
        self._zip.writestr(_CONTENTS, json.dumps({"dtypes": self._dtypes, "notes": notes}))

    def __enter__(self) -> ArchiveWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with suppress(Exception) if kind is not None else ExitStack():  # report the original error only
            self._zip.close()


class _Header(NamedTuple):
    """The header of a `.npy` file."""

    dtype: np.dtype[Any]
    is_fortran: bool
    shape: tuple[int, ...]


# A header as NumPy writes it for numeric arrays: the repr of a dict, which is matched and never evaluated.
_HEADER = re.compile(
    rb"\{'descr': '([<|][biufc]\d{1,2})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,19}, ?)*\d{0,19})\),? *\} *\n?"
)
_HEADER_MAX_BYTES = 10_000  # NumPy's own limit


def _read_header(file: IO[bytes], file_size: int) -> _Header:
    """Read the header of a `.npy` file of `file_size` bytes; ValueError if it is invalid or the size does not match."""
    magic = file.read(8)
    if magic[:6] != b"\x93NUMPY" or magic[6:] not in (b"\1\0", b"\2\0", b"\3\0"):
        raise ValueError("it is no array of NumPy's")
    size = int.from_bytes(file.read(2 if magic[6] == 1 else 4), "little")
    text = file.read(size) if size <= _HEADER_MAX_BYTES else b""
    found = _HEADER.fullmatch(text)
    if found is None:
        raise ValueError(f"its header is not one of an array of numbers: {text[:200]!r}")
    shape = tuple(int(n) for n in found[3].replace(b" ", b"").split(b",") if n)
    dtype, left = np.dtype(found[1].decode()), file_size - file.tell()
    if math.prod(shape) * dtype.itemsize != left:
        raise ValueError(f"an array {dtype} of shape {shape} does not have {left} bytes")
    return _Header(dtype, found[2] == b"True", shape)


def _read_array(file: IO[bytes], size: int) -> np.ndarray[Any, Any]:
    """Read a `.npy` file of `size` bytes. Allocates by the actual file size, not by the header."""
    header = _read_header(file, size)
    left = size - file.tell()
    data = bytearray(left)
    view, filled = memoryview(data), 0
    while filled < left and (part := file.read(min(_AT_ONCE, left - filled))):
        view[filled : filled + len(part)] = part
        filled += len(part)
    array = np.frombuffer(data, header.dtype)
    return array.reshape(header.shape[::-1]).T if header.is_fortran else array.reshape(header.shape)


class ArchiveReader:
    """Reads the tensors of an archive one at a time; `DataLossError` if the file is damaged."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path_text(path)
        self._whole: set[str] = set()  # members whose checksum has been verified
        with errors.of_system(path), ExitStack() as when_damaged:
            try:
                self._size = stat(path).length
                place = open_to_read(path) if is_remote(path) else file_system(path)[1]
                self._zip = when_damaged.enter_context(zipfile.ZipFile(place))
                contents = json.loads(self._zip.read(self._info(_CONTENTS)))
                self.dtypes = {name: as_dtype(dtype) for name, dtype in contents["dtypes"].items()}
                self.notes = contents["notes"]
            except (errors.OpError, FileNotFoundError, PermissionError, IsADirectoryError):
                raise
            except Exception as error:  # any type: every byte of the zip may be wrong
                raise errors.DataLossError(f"{path} is no archive of tensors, or is damaged: {error}") from error
            when_damaged.pop_all()

    def _info(self, member: str) -> zipfile.ZipInfo:
        """The entry of a member, if it is stored as `ArchiveWriter` does."""
        info = self._zip.getinfo(member)
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise zipfile.BadZipFile(f"{member} is compressed")
        if info.file_size > self._size:
            raise zipfile.BadZipFile(f"{member} is larger than the archive")
        return info

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor, without reading it."""
        with self._member(name) as (member, size):
            return _read_header(member, size).shape

    def read(self, name: str) -> Tensor:
        """Read the tensor with this name."""
        if name not in self.dtypes:
            raise errors.DataLossError(f"{self.path} has no tensor {name!r}")
        dtype, array = self.dtypes[name], self._array(name)
        if dtype is dtypes.string:
            return wrap(self._strings(name, array), dtype)
        stored = dtype.numpy if dtype.numpy.isbuiltin == 1 else np.dtype(f"u{dtype.numpy.itemsize}")
        if array.dtype != stored:
            raise errors.DataLossError(f"{name} in {self.path} is {array.dtype}, and should be {dtype.name}")
        if array.dtype != dtype.numpy:
            array = array.view(dtype.numpy)
        return wrap(array if array.ndim else array[()], dtype)

    def verify(self, name: str) -> None:
        """Raises an error if the tensor with this name is damaged."""
        if self.dtypes.get(name) is dtypes.string:
            self.read(name)
        else:
            self.shape(name)

    def _strings(self, name: str, sizes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Read strings of these sizes."""
        text = self._array(name + _BYTES)
        if sizes.dtype != np.int64 or text.dtype != np.uint8 or (sizes < 0).any() or sizes.sum() != text.size:
            raise errors.DataLossError(f"{name} in {self.path} is damaged: the sizes of its strings are not theirs")
        data, ends = text.tobytes(), np.cumsum(sizes.ravel())
        strings = np.empty(sizes.size, object)
        strings[:] = [data[end - size : end] for end, size in zip(ends, sizes.ravel(), strict=True)]
        return strings.reshape(sizes.shape)

    def _array(self, name: str) -> np.ndarray[Any, Any]:
        with self._member(name) as (member, size):
            return _read_array(member, size)

    @contextmanager
    def _member(self, name: str) -> Iterator[tuple[IO[bytes], int]]:
        """Open the file of an array and yield it with its size; the checksum is verified before the first use."""
        member = f"{name}.npy"
        try:
            info = self._info(member)
            if member not in self._whole:
                with self._zip.open(info) as file:
                    while file.read(_AT_ONCE):
                        pass
                self._whole.add(member)
            with self._zip.open(info) as file:
                yield file, info.file_size
        except Exception as error:  # any type: every byte of the zip may be wrong
            raise errors.DataLossError(f"{name} in {self.path} is damaged: {error}") from error

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def __enter__(self) -> ArchiveReader:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
