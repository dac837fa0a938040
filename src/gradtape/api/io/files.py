"""`tf.io.gfile`: local files, with TensorFlow's errors."""

from __future__ import annotations

import glob as globbing
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ...core import errors
from ...core.errors import of_system as failures
from ...core.tracebacks import bounded
from ...core.type_hints import PathLike

NAMESPACES = ("io.gfile",)
__all__ = [
    "GFile", "copy", "exists", "get_registered_schemes", "glob", "isdir", "join", "listdir", "makedirs", "mkdir",
    "remove", "rename", "rmtree", "stat", "walk",
]  # fmt: skip

_MODES = ("r", "w", "a", "r+", "w+", "a+")


@bounded
class GFile:
    """A file that is opened on first use: `GFile(name, "r")`, also as a context manager.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "lines.txt")
    >>> with tf.io.gfile.GFile(path, "w") as file:
    ...     file.write("one\\ntwo\\n")
    >>> tf.io.gfile.GFile(path).readlines()
    ['one\\n', 'two\\n']
    """

    __module__ = "gradtape.io.gfile"

    def __init__(self, name: Any, mode: str = "r") -> None:
        self._name = name
        self._mode = mode
        self._file: Any = None
        if mode.replace("b", "") not in _MODES:
            raise errors.InvalidArgumentError(f"mode is not {' or '.join(map(repr, _MODES))}, got {mode!r}")

    @property
    def name(self) -> Any:
        """The file's name."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode in which it is opened."""
        return self._mode

    def _opened(self) -> Any:
        if self._file is None:
            with failures(self._name):
                as_text: dict[str, Any] = {} if "b" in self._mode else {"encoding": "utf-8", "newline": ""}
                self._file = open(self._name, self._mode, **as_text)
        return self._file

    def size(self) -> int:
        """Returns the number of bytes."""
        return stat(self._name).length

    def write(self, file_content: str | bytes) -> None:
        """Appends text or bytes."""
        if "r" in self._mode and "+" not in self._mode:
            raise errors.PermissionDeniedError(f"File {os.fsdecode(self._name)} isn't open for writing")
        binary = "b" in self._mode
        if isinstance(file_content, bytes) and not binary:
            file_content = file_content.decode()
        elif isinstance(file_content, str) and binary:
            file_content = file_content.encode()
        with failures(self._name):
            self._opened().write(file_content)

    def read(self, n: int = -1) -> Any:
        """Reads the next `n` characters or bytes, or everything remaining."""
        return self._reading().read(n)

    def readline(self) -> Any:
        """Reads the next line, with its line ending."""
        return self._reading().readline()

    def readlines(self) -> list[Any]:
        """Reads all remaining lines."""
        return self._reading().readlines()

    def _reading(self) -> Any:
        if "r" not in self._mode and "+" not in self._mode:
            raise errors.PermissionDeniedError(f"File {os.fsdecode(self._name)} isn't open for reading")
        return self._opened()

    def seek(self, offset: int | None = None, whence: int = 0) -> None:
        """Moves to a position in the file."""
        if offset is None:
            raise TypeError("seek(): offset argument required")
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        self._opened().seek(offset, whence)

    def seekable(self) -> bool:
        """Returns True."""
        return True

    def tell(self) -> int:
        """Returns the position in the file."""
        return self._opened().tell()

    def flush(self) -> None:
        """Flushes written data to the system."""
        if self._file is not None:
            with failures(self._name):
                self._file.flush()

    def close(self) -> None:
        """Closes the file; a later use opens it again."""
        if self._file is not None:
            file, self._file = self._file, None
            with failures(self._name):
                file.close()

    def next(self) -> Any:
        """Returns the next line; raises StopIteration after the last one."""
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __iter__(self) -> GFile:
        return self

    def __next__(self) -> Any:
        return self.next()

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        if self._file is not None:
            raise TypeError(f"cannot pickle or copy an open file: pickle its name, {os.fsdecode(self._name)!r}")
        return type(self), (self._name, self._mode)


class FileStatistics(NamedTuple):
    """The result of `stat`: size in bytes, modification time in nanoseconds, and whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


def stat(path: PathLike) -> FileStatistics:
    """Returns size, modification time and kind of a file.

    >>> import tempfile
    >>> tf.io.gfile.stat(tempfile.mkdtemp()).is_directory
    True
    """
    with failures(path):
        found = os.stat(path)
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(path))


def exists(path: PathLike) -> bool:
    """Returns whether a file or folder exists.

    >>> tf.io.gfile.exists("/no/such/file")
    False
    """
    return os.path.exists(path)


def isdir(path: PathLike) -> bool:
    """Returns whether a folder exists.

    >>> tf.io.gfile.isdir("/no/such/folder")
    False
    """
    return os.path.isdir(path)


def listdir(path: PathLike) -> list[str]:
    """Returns the names in a folder.

    >>> import tempfile
    >>> tf.io.gfile.listdir(tempfile.mkdtemp())
    []
    """
    if not isdir(path):
        raise errors.NotFoundError(f"Could not find directory {os.fsdecode(path)}")
    return [os.fsdecode(name) for name in os.listdir(path)]


def walk(
    top: PathLike, topdown: bool = True, onerror: Callable[..., Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yields every folder from `top` down, with the names of its folders and files.

    >>> import tempfile
    >>> [(folders, files) for _, folders, files in tf.io.gfile.walk(tempfile.mkdtemp())]
    [([], [])]
    """
    for folder, folders, files in os.walk(os.fsdecode(top), topdown, onerror):
        yield folder, sorted(folders), sorted(files)


def glob(pattern: PathLike | Sequence[PathLike]) -> list[str]:
    """Returns the files whose names match a pattern, or one of several.

    >>> import tempfile
    >>> tf.io.gfile.glob(tempfile.mkdtemp() + "/*.txt")
    []
    """
    patterns = [pattern] if isinstance(pattern, str | bytes | os.PathLike) else pattern
    return [path for one in patterns for path in sorted(globbing.glob(os.fsdecode(one)))]


def join(path: str, *paths: str) -> str:
    """Joins the parts of a path.

    >>> tf.io.gfile.join("folder", "file.txt")
    'folder/file.txt'
    """
    return os.path.join(path, *paths)


def mkdir(path: PathLike) -> None:
    """Creates a folder in an existing one; does nothing if it exists.

    >>> import tempfile
    >>> tf.io.gfile.mkdir(tempfile.mkdtemp() + "/new")
    """
    if not isdir(path):
        with failures(path):
            os.mkdir(path)


def makedirs(path: PathLike) -> None:
    """Creates a folder and its missing parents.

    >>> import tempfile
    >>> tf.io.gfile.makedirs(tempfile.mkdtemp() + "/new/newer")
    """
    with failures(path):
        os.makedirs(path, exist_ok=True)


def remove(path: PathLike) -> None:
    """Removes a file.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/file"
    >>> _ = open(path, "w").close()
    >>> tf.io.gfile.remove(path)
    >>> tf.io.gfile.exists(path)
    False
    """
    with failures(path):
        os.remove(path)


def rmtree(path: PathLike) -> None:
    """Removes a folder and its contents.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.gfile.rmtree(folder)
    >>> tf.io.gfile.exists(folder)
    False
    """
    with failures(path):
        shutil.rmtree(path)


def copy(src: PathLike, dst: PathLike, overwrite: bool = False) -> None:
    """Copies a file.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.write_file(folder + "/a", "text")
    >>> tf.io.gfile.copy(folder + "/a", folder + "/b")
    >>> tf.io.read_file(folder + "/b").numpy()
    b'text'
    """
    _refuse_to_overwrite(dst, overwrite)
    with failures(src):
        shutil.copyfile(src, dst)


def rename(src: PathLike, dst: PathLike, overwrite: bool = False) -> None:
    """Renames a file or folder.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.write_file(folder + "/a", "text")
    >>> tf.io.gfile.rename(folder + "/a", folder + "/b")
    >>> tf.io.gfile.listdir(folder)
    ['b']
    """
    _refuse_to_overwrite(dst, overwrite)
    with failures(src):
        os.replace(src, dst)


def _refuse_to_overwrite(path: Any, overwrite: bool) -> None:
    if not overwrite and exists(path):
        raise errors.AlreadyExistsError(f"file already exists: {os.fsdecode(path)}; overwrite=True replaces it")


def get_registered_schemes() -> list[str]:
    """Returns the prefixes of file names that are supported: only local files, without a prefix.

    >>> tf.io.gfile.get_registered_schemes()
    ['']
    """
    return [""]
