"""File systems by the scheme of a path: local files, with `file://` or without, and buckets, through fsspec.

The functions take any path and raise TensorFlow's errors. A path of an unknown scheme is refused, not taken for the
name of a local file.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple, Protocol

from ..core import errors
from ..core.errors import of_system as failures
from ..core.extras import install_command, is_installed
from ..core.locks import call_in_child
from ..core.type_hints import PathLike
from .file_patterns import matching_paths

_SCHEME = re.compile(r"(?P<scheme>[a-zA-Z][0-9a-zA-Z.]*)://(?P<host>[^/]*)(?P<path>.*)", re.DOTALL)
_BUFFER_BYTES = 1 << 16

# Schemes of TensorFlow and its plug-ins: the protocol of fsspec, and the package that it needs besides. Other
# protocols, such as `http`, are left out: in TensorFlow they are errors, and names of files may come from others.
_BUCKETS = {
    "gs": ("gcs", "gcsfs"), "s3": ("s3", "s3fs"), "hdfs": ("hdfs", "pyarrow"), "az": ("abfs", "adlfs"),
    "abfs": ("abfs", "adlfs"), "ram": ("memory", None), "memory": ("memory", None),
}  # fmt: skip


class FileStatistics(NamedTuple):
    """The result of `stat`: size in bytes, modification time in nanoseconds, and whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


class FileSystem(Protocol):
    """What the functions of this module need. Methods raise OSErrors."""

    def open(self, path: str, mode: str) -> BinaryIO:
        """Opens a file in binary mode, unbuffered for writing."""

    def exists(self, path: str) -> bool:
        """Returns whether there is a file or folder."""

    def is_folder(self, path: str) -> bool:
        """Returns whether there is a folder."""

    def is_file(self, path: str) -> bool:
        """Returns whether there is a file."""

    def names(self, path: str) -> list[str]:
        """Returns the names in a folder."""

    def stat(self, path: str) -> FileStatistics:
        """Returns size, modification time and kind of a file."""

    def create_folder(self, path: str, parents: bool) -> None:
        """Creates a folder; FileExistsError if it exists."""

    def remove(self, path: str) -> None:
        """Removes a file."""

    def remove_tree(self, path: str) -> None:
        """Removes a folder and its contents."""

    def rename(self, source: str, target: str) -> None:
        """Moves a file or folder and replaces the target."""

    def link(self, source: str, target: str) -> None:
        """Gives a file another name, which need not refer to the same copy."""


class _LocalFiles:
    def open(self, path: str, mode: str) -> Any:
        return open(path, mode) if mode == "rb" else open(path, mode, buffering=0)

    exists = staticmethod(os.path.exists)
    is_folder = staticmethod(os.path.isdir)
    is_file = staticmethod(os.path.isfile)
    names = staticmethod(os.listdir)
    remove = staticmethod(os.remove)
    rename = staticmethod(os.replace)
    link = staticmethod(os.link)
    remove_tree = staticmethod(shutil.rmtree)

    def stat(self, path: str) -> FileStatistics:
        status = os.stat(path)
        return FileStatistics(status.st_size, status.st_mtime_ns, os.path.isdir(path))

    def create_folder(self, path: str, parents: bool) -> None:
        (os.makedirs if parents else os.mkdir)(path)


@dataclass(frozen=True)
class _Buckets:
    """The files of one of fsspec's file systems."""

    _files: Any

    def open(self, path: str, mode: str) -> Any:
        if self._files.isdir(path):
            raise IsADirectoryError(path)
        return self._files.open(path, mode)

    def exists(self, path: str) -> bool:
        return self._files.exists(path)

    def is_folder(self, path: str) -> bool:
        return self._files.isdir(path)

    def is_file(self, path: str) -> bool:
        return self._files.isfile(path)

    def names(self, path: str) -> list[str]:
        paths = self._files.ls(path, detail=False, refresh=True)
        return [name for path in paths if (name := path.rstrip("/").rpartition("/")[2])]

    def stat(self, path: str) -> FileStatistics:
        info = self._files.info(path)
        modified = 0
        with suppress(NotImplementedError, FileNotFoundError):  # folders of buckets have no time
            modified = int(self._files.modified(path).timestamp() * 1e9)
        return FileStatistics(info.get("size") or 0, modified, info["type"] == "directory")

    def create_folder(self, path: str, parents: bool) -> None:
        if self._files.isfile(path):
            raise FileExistsError(path)
        if parents:
            self._files.makedirs(path, exist_ok=True)
        else:
            self._files.mkdir(path, create_parents=False)

    def remove(self, path: str) -> None:
        self._files.rm_file(path)

    def remove_tree(self, path: str) -> None:
        self._files.rm(path, recursive=True)

    def rename(self, source: str, target: str) -> None:
        self._files.mv(source, target, recursive=self._files.isdir(source))

    def link(self, source: str, target: str) -> None:
        self._files.cp_file(source, target)  # by the server of the bucket, without a download


_LOCAL = _LocalFiles()


def path_text(path: PathLike) -> str:
    """Returns a path as text; TypeError if it is none."""
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    return os.fsdecode(path)


def is_remote(path: PathLike) -> bool:
    """Returns whether a path is one of a bucket, or has an unknown scheme."""
    parts = _SCHEME.match(path_text(path))
    return parts is not None and parts["scheme"] != "file"


def file_system(path: PathLike) -> tuple[FileSystem, str]:
    """Returns the file system of a path, and the path in it."""
    text = path_text(path)
    parts = _SCHEME.match(text)
    if parts is not None and parts["scheme"] != "file":
        return _bucket(parts["scheme"], text)
    local = text if parts is None else parts["path"]
    if "\0" in local:
        raise errors.NotFoundError(f"{local!r}; No such file or directory")
    return _LOCAL, os.path.normpath(local) if local else ""  # `d/..` is removed as text, as in TensorFlow


def _bucket(scheme: str, path: str) -> tuple[FileSystem, str]:
    if scheme not in _BUCKETS:
        raise errors.UnimplementedError(f"File system scheme '{scheme}' not implemented (file: '{path}')")
    if "::" in path:  # a chain of fsspec's file systems, of any scheme
        raise errors.InvalidArgumentError(f"A path in a bucket has no '::' (file: '{path}')")
    protocol, package = _BUCKETS[scheme]
    if not is_installed("fsspec"):
        more = "" if package is None else f" {package}"
        raise ImportError(f"Files of '{scheme}://' need fsspec: {install_command('buckets')}{more} (file: '{path}')")
    from fsspec.core import url_to_fs

    try:
        files, place = url_to_fs(protocol + path[len(scheme) :])
        return _Buckets(files), place
    except ImportError as error:
        raise ImportError(f"Files of '{scheme}://' need {package}: pip install {package} (file: '{path}')") from error


def schemes() -> list[str]:
    """Returns the schemes of the paths that can be opened."""
    return ["", "file", *(_BUCKETS if is_installed("fsspec") else ())]


def open_to_read(path: PathLike) -> BinaryIO:
    """Opens a file for reading bytes."""
    with failures(path):
        files, place = file_system(path)
        return files.open(place, "rb")


class OutputFile:
    """A file to which bytes are written.

    What could not be written is dropped, as C's library does, so that one full disk is one error. In a forked child the
    buffer is empty: its contents are the parent's.
    """

    def __init__(self, path: PathLike, append: bool = False) -> None:
        self.name = path_text(path)
        self._pending = bytearray()
        with failures(path):
            files, place = file_system(path)
            self._file: Any = files.open(place, "ab" if append else "wb")
        call_in_child(self._forget)

    def _forget(self) -> None:
        self._pending = bytearray()

    def write(self, data: bytes | bytearray | memoryview) -> int:
        """Appends bytes and returns how many."""
        self._pending += data
        if len(self._pending) >= _BUFFER_BYTES:
            self._write_pending()
        return len(data)

    def _write_pending(self) -> None:
        pending, self._pending = self._pending, bytearray()
        with failures(self.name):
            rest = memoryview(pending)
            while rest:
                rest = rest[self._file.write(rest) :]

    def tell(self) -> int:
        """Returns the position in the file."""
        return self._file.tell() + len(self._pending)

    def flush(self) -> None:
        """Passes the buffer to the system."""
        self._write_pending()
        with failures(self.name):
            self._file.flush()

    def fileno(self) -> int:
        """Returns the number of the local file."""
        return self._file.fileno()

    def close(self) -> None:
        """Writes the rest and closes the file."""
        if not self._file.closed:
            try:
                self._write_pending()
            finally:
                with failures(self.name):
                    self._file.close()

    def discard(self) -> None:
        """Closes the file without the rest; a bucket keeps what it had."""
        self._forget()
        getattr(self._file, "discard", self._file.close)()

    def __enter__(self) -> OutputFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _asked(path: PathLike, question: Callable[[FileSystem, str], Any]) -> Any:
    with failures(path):
        files, place = file_system(path)
        return question(files, place)


def exists(path: PathLike) -> bool:
    """Returns whether a file or folder exists."""
    with suppress(errors.NotFoundError):
        return _asked(path, lambda files, place: files.exists(place))
    return False


def is_folder(path: PathLike) -> bool:
    """Returns whether a folder exists; False for unknown schemes."""
    with suppress(errors.OpError):
        return _asked(path, lambda files, place: files.is_folder(place))
    return False


def is_file(path: PathLike) -> bool:
    """Returns whether a file exists; False for unknown schemes."""
    with suppress(errors.OpError):
        return _asked(path, lambda files, place: files.is_file(place))
    return False


def names(path: PathLike) -> list[str]:
    """Returns the sorted names in a folder."""
    if not is_folder(path):
        raise errors.NotFoundError(f"Could not find directory {path_text(path)}")
    return sorted(_asked(path, lambda files, place: files.names(place)))


def stat(path: PathLike) -> FileStatistics:
    """Returns size, modification time and kind of a file."""
    return _asked(path, lambda files, place: files.stat(place))


def create_folder(path: PathLike) -> None:
    """Creates a folder in an existing one; does nothing if there is something of that name."""
    if path_text(path):
        with suppress(errors.AlreadyExistsError):
            _asked(path, lambda files, place: files.create_folder(place, parents=False))


def create_folders(path: PathLike) -> None:
    """Creates a folder and its missing parents."""
    if not path_text(path) or is_folder(path):
        return
    try:
        _asked(path, lambda files, place: files.create_folder(place, parents=True))
    except (errors.AlreadyExistsError, errors.FailedPreconditionError) as error:
        if not is_folder(path):
            message = f"{path_text(path)} is not a directory: {error}"
            raise errors.FailedPreconditionError(message) from error.__cause__


def remove(path: PathLike) -> None:
    """Removes a file."""
    if is_folder(path):
        raise errors.FailedPreconditionError(f"{path_text(path)}; Is a directory")
    _asked(path, lambda files, place: files.remove(place))


def remove_tree(path: PathLike) -> None:
    """Removes a folder and its contents, or a file."""
    if not exists(path):
        raise errors.NotFoundError(f"{path_text(path)} not found")
    _asked(path, lambda files, place: (files.remove_tree if files.is_folder(place) else files.remove)(place))


def copy(source: PathLike, target: PathLike) -> None:
    """Copies a file, also between file systems."""
    with open_to_read(source) as file:
        if file_system(source) == file_system(target):
            raise errors.InvalidArgumentError(f"{path_text(source)} cannot be copied to itself")
        with OutputFile(target) as output:
            shutil.copyfileobj(file, output)


def rename(source: PathLike, target: PathLike) -> None:
    """Moves a file or folder and replaces the target."""
    with failures(source):
        (files, place), (other, destination) = file_system(source), file_system(target)
        if files != other:
            raise errors.UnimplementedError(
                f"Renaming {path_text(source)} to {path_text(target)} not implemented: they are in two file systems"
            )
        files.rename(place, destination)


def link(source: PathLike, target: PathLike) -> None:
    """Gives a file another name in its file system: a link, or in a bucket a copy."""
    with failures(source):
        files, place = file_system(source)
        files.link(place, file_system(target)[1])


def glob(pattern: PathLike) -> list[str]:
    """Returns the sorted paths that match a pattern."""
    text = path_text(pattern)
    parts = _SCHEME.match(text)
    if parts is None:
        return matching_paths(text, exists, is_folder, names)
    file_system(text)  # raises an error for unknown schemes
    prefix = text[: parts.start("path") if parts["scheme"] == "file" else parts.start("host")]

    def under(function: Callable[[str], Any]) -> Callable[[str], Any]:
        return lambda path: function(prefix + path)

    paths = matching_paths(text[len(prefix) :], under(exists), under(is_folder), under(names))
    return [prefix + path for path in paths]


def folder_of(path: PathLike) -> str:
    """Returns the folder of a path, "." for a name alone; that of `memory://name` is `memory://`."""
    text = path_text(path)
    parts = _SCHEME.match(text)
    if parts is not None and not parts["path"]:
        return text[: parts.start("host")]
    return os.path.dirname(text) or "."


def join(folder: PathLike, *parts: str) -> str:
    """Joins the parts of a path."""
    return os.path.join(path_text(folder), *parts)


@contextmanager
def writing(path: PathLike) -> Iterator[OutputFile]:
    """Opens a file for the block. If the block fails, a bucket keeps what it had, and a local file is incomplete."""
    file = OutputFile(path)
    try:
        yield file
    except BaseException:
        file.discard()
        raise
    file.close()
