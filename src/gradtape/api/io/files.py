"""`tf.io.gfile`: files and folders, with TensorFlow's errors."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from ...core import errors
from ...core.errors import of_system as failures
from ...core.tracebacks import bounded
from ...core.type_hints import PathLike
from ...state import file_systems
from ...state.file_systems import FileStatistics, OutputFile, path_text

NAMESPACES = ("io.gfile",)
__all__ = [
    "GFile", "copy", "exists", "get_registered_schemes", "glob", "isdir", "join", "listdir", "makedirs", "mkdir",
    "remove", "rename", "rmtree", "stat", "walk",
]  # fmt: skip

_MODES = ("r", "w", "a", "r+", "w+", "a+")


@bounded
class GFile:
    """A file that is opened on first use: `GFile(name, "r")`, also as a context manager.

    As in TensorFlow, reading and writing have a position each, and the first write empties the file, also in the mode
    "r+", unless the mode is "a" or "a+". Sizes and positions are in bytes. Lines are read without carriage returns.

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
        self._reader: BinaryIO | None = None
        self._writer: OutputFile | None = None
        self._closed = False
        self._is_binary = "b" in mode
        self._kind = mode.replace("b", "")
        if self._kind not in _MODES:
            raise errors.InvalidArgumentError(f"mode is not {' or '.join(map(repr, _MODES))}, got {mode!r}")

    @property
    def name(self) -> Any:
        """The file's name."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode in which it is opened."""
        return self._mode

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def fileno(self) -> int:
        """Raises `io.UnsupportedOperation`: as in TensorFlow, the file has no descriptor, wherever it is."""
        raise io.UnsupportedOperation(
            "File descriptors are not supported by TensorFlow FileIO: use open() for local files"
        )

    def _reading(self) -> BinaryIO:
        if self._kind in ("w", "a"):
            raise errors.PermissionDeniedError(f"File {path_text(self._name)} isn't open for reading")
        if self._reader is None:
            self._reader = file_systems.open_to_read(self._name)
        return self._reader

    def _writing(self) -> OutputFile:
        if self._kind == "r":
            raise errors.PermissionDeniedError(f"File {path_text(self._name)} isn't open for writing")
        if self._writer is None:
            self._writer = OutputFile(self._name, append=self._kind in ("a", "a+"))
        return self._writer

    def size(self) -> int:
        """Returns the number of bytes."""
        return stat(self._name).length

    def write(self, file_content: str | bytes) -> None:
        """Appends text or bytes."""
        writer = self._writing()
        if not isinstance(file_content, str | bytes | bytearray):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        writer.write(file_content.encode() if isinstance(file_content, str) else file_content)

    def _value(self, data: bytes) -> Any:
        return data if self._is_binary else data.decode()

    def read(self, n: int = -1) -> Any:
        """Reads the next `n` bytes, as text in text mode, or everything remaining."""
        reader = self._reading()
        if n < -1 or (n == -1 and self.size() < reader.tell()):  # it has become shorter
            raise errors.InvalidArgumentError("Requested number of bytes is negative")
        with failures(self._name):
            return self._value(reader.read(n))

    def readline(self) -> Any:
        """Reads the next line, which ends in a line feed."""
        reader = self._reading()
        with failures(self._name):
            return self._value(reader.readline().replace(b"\r", b""))

    def readlines(self) -> list[Any]:
        """Reads all remaining lines."""
        return list(iter(self.readline, b"" if self._is_binary else ""))

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Moves to a position in the file; OutOfRangeError, and the end of the file, if it is shorter."""
        reader = self._reading()
        if (offset is None) == (position is None):
            raise TypeError("seek(): offset argument required" + ("" if offset is None else ", without position"))
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        target = (0, reader.tell(), self.size())[whence] + (offset if position is None else position)  # type: ignore[operator]
        if target < 0:
            raise errors.InvalidArgumentError(f"Seeking to a negative position: {target}")
        with failures(self._name):
            if reader.seek(0, os.SEEK_END) < target:
                raise errors.OutOfRangeError(f"{path_text(self._name)} ends before the position {target}")
            reader.seek(target)

    def seekable(self) -> bool:
        """Returns True."""
        return True

    def tell(self) -> int:
        """Returns the position in the file."""
        return self._writing().tell() if self._kind in ("w", "a") else self._reading().tell()

    def flush(self) -> None:
        """Flushes written data to the system."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Closes the file, which exists afterwards if its mode writes; a later use opens it again."""
        if not self._closed and self._kind[0] in "wa":
            self._writing()
        self._release()
        self._closed = True

    def _release(self) -> None:
        """Closes what is open, without creating a file that was never used."""
        reader, self._reader = self._reader, None
        writer, self._writer = self._writer, None
        if reader is not None:
            reader.close()
        if writer is not None:
            writer.close()

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
        with suppress(AttributeError):  # it was not created
            self._release()

    def __reduce__(self) -> tuple[Any, ...]:
        if self._reader is not None or self._writer is not None:
            raise TypeError(f"cannot pickle or copy an open file: pickle its name, {path_text(self._name)!r}")
        return type(self), (self._name, self._mode)


def stat(path: PathLike) -> FileStatistics:
    """Returns size, modification time and kind of a file.

    >>> import tempfile
    >>> tf.io.gfile.stat(tempfile.mkdtemp()).is_directory
    True
    """
    return file_systems.stat(path)


def exists(path: PathLike) -> bool:
    """Returns whether a file or folder exists.

    >>> tf.io.gfile.exists("/no/such/file")
    False
    """
    return file_systems.exists(path)


def isdir(path: PathLike) -> bool:
    """Returns whether a folder exists.

    >>> tf.io.gfile.isdir("/no/such/folder")
    False
    """
    return file_systems.is_folder(path)


def listdir(path: PathLike) -> list[str]:
    """Returns the names in a folder.

    >>> import tempfile
    >>> tf.io.gfile.listdir(tempfile.mkdtemp())
    []
    """
    return file_systems.names(path)


def walk(
    top: PathLike, topdown: bool = True, onerror: Callable[..., Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yields every folder from `top` down, with the names of its folders and files.

    >>> import tempfile
    >>> [(folders, files) for _, folders, files in tf.io.gfile.walk(tempfile.mkdtemp())]
    [([], [])]
    """
    folder = path_text(top)
    try:
        names = listdir(folder)
    except errors.NotFoundError as error:
        if onerror is not None:
            onerror(error)
        return
    paths = [join(folder, name) for name in names]
    folders = [name for name, path in zip(names, paths, strict=True) if isdir(path)]
    entry = folder, folders, [name for name in names if name not in folders]
    if topdown:
        yield entry
    for name in folders:  # those that the caller has left in the list
        yield from walk(join(folder, name), topdown, onerror)
    if not topdown:
        yield entry


def glob(pattern: PathLike | Sequence[PathLike]) -> list[str]:
    """Returns the files whose names match a pattern, or one of several.

    >>> import tempfile
    >>> tf.io.gfile.glob(tempfile.mkdtemp() + "/*.txt")
    []
    """
    patterns = [pattern] if isinstance(pattern, str | bytes | os.PathLike) else pattern
    return [path for one in patterns for path in file_systems.glob(one)]


def join(path: str, *paths: str) -> str:
    """Joins the parts of a path.

    >>> tf.io.gfile.join("folder", "file.txt")
    'folder/file.txt'
    """
    return os.path.join(path, *paths)


def mkdir(path: PathLike) -> None:
    """Creates a folder in an existing one; does nothing if there is something of that name.

    >>> import tempfile
    >>> tf.io.gfile.mkdir(tempfile.mkdtemp() + "/new")
    """
    file_systems.create_folder(path)


def makedirs(path: PathLike) -> None:
    """Creates a folder and its missing parents.

    >>> import tempfile
    >>> tf.io.gfile.makedirs(tempfile.mkdtemp() + "/new/newer")
    """
    file_systems.create_folders(path)


def remove(path: PathLike) -> None:
    """Removes a file; raises `NotFoundError` if there is none.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/file"
    >>> _ = open(path, "w").close()
    >>> tf.io.gfile.remove(path)
    >>> tf.io.gfile.exists(path)
    False
    """
    file_systems.remove(path)


def rmtree(path: PathLike) -> None:
    """Removes a folder and its contents, or a file.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.gfile.rmtree(folder)
    >>> tf.io.gfile.exists(folder)
    False
    """
    file_systems.remove_tree(path)


def copy(src: PathLike, dst: PathLike, overwrite: bool = False) -> None:
    """Copies a file to a path that must be free, unless `overwrite` is true.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.write_file(folder + "/a", "text")
    >>> tf.io.gfile.copy(folder + "/a", folder + "/b")
    >>> tf.io.read_file(folder + "/b").numpy()
    b'text'
    """
    _refuse_to_overwrite(dst, overwrite)
    file_systems.copy(src, dst)


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
    file_systems.rename(src, dst)


def _refuse_to_overwrite(path: Any, overwrite: bool) -> None:
    if not overwrite and exists(path):
        raise errors.AlreadyExistsError(f"file already exists: {path_text(path)}; overwrite=True replaces it")


def get_registered_schemes() -> list[str]:
    """Returns the schemes of the paths that can be opened: local files, and with fsspec those of buckets.

    >>> tf.io.gfile.get_registered_schemes()[:2]
    ['', 'file']
    """
    return file_systems.schemes()
