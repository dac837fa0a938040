"""`tf.compat.v1.gfile`: TensorFlow 1's names of the functions of `tf.io.gfile`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradtape.api.io import files
from gradtape.api.io.files import GFile
from gradtape.core.type_hints import PathLike
from gradtape.state.file_systems import FileStatistics

NAMESPACES = ("compat.v1.gfile",)
__all__ = [
    "Copy", "DeleteRecursively", "Exists", "FastGFile", "GFile", "Glob", "IsDirectory", "ListDirectory", "MakeDirs",
    "MkDir", "Open", "Remove", "Rename", "Stat", "Walk",
]  # fmt: skip

Open = GFile


class FastGFile(GFile):
    """Alias of `tf.io.gfile.GFile`.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/file"
    >>> with tf.compat.v1.gfile.FastGFile(path, "w") as file:
    ...     file.write("text")
    >>> tf.compat.v1.gfile.FastGFile(path).read()
    'text'
    """

    __module__ = "gradtape.compat.v1.gfile"


def Copy(oldpath: PathLike, newpath: PathLike, overwrite: bool = False) -> None:
    """Alias of `tf.io.gfile.copy`.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> open(folder + "/old", "w").close()
    >>> tf.compat.v1.gfile.Copy(folder + "/old", folder + "/new")
    >>> sorted(tf.compat.v1.gfile.ListDirectory(folder))
    ['new', 'old']
    """
    files.copy(oldpath, newpath, overwrite)


def DeleteRecursively(dirname: PathLike) -> None:
    """Alias of `tf.io.gfile.rmtree`.

    >>> import tempfile
    >>> tf.compat.v1.gfile.DeleteRecursively(tempfile.mkdtemp())
    """
    files.rmtree(dirname)


def Exists(filename: PathLike) -> bool:
    """Alias of `tf.io.gfile.exists`.

    >>> tf.compat.v1.gfile.Exists("/no/such/file")
    False
    """
    return files.exists(filename)


def Glob(filename: PathLike | Sequence[PathLike]) -> list[str]:
    """Alias of `tf.io.gfile.glob`.

    >>> import tempfile
    >>> tf.compat.v1.gfile.Glob(tempfile.mkdtemp() + "/*.txt")
    []
    """
    return files.glob(filename)


def IsDirectory(dirname: PathLike) -> bool:
    """Alias of `tf.io.gfile.isdir`.

    >>> tf.compat.v1.gfile.IsDirectory("/no/such/folder")
    False
    """
    return files.isdir(dirname)


def ListDirectory(dirname: PathLike) -> list[str]:
    """Alias of `tf.io.gfile.listdir`.

    >>> import tempfile
    >>> tf.compat.v1.gfile.ListDirectory(tempfile.mkdtemp())
    []
    """
    return files.listdir(dirname)


def MakeDirs(dirname: PathLike) -> None:
    """Alias of `tf.io.gfile.makedirs`.

    >>> import tempfile
    >>> tf.compat.v1.gfile.MakeDirs(tempfile.mkdtemp() + "/new/newer")
    """
    files.makedirs(dirname)


def MkDir(dirname: PathLike) -> None:
    """Alias of `tf.io.gfile.mkdir`.

    >>> import tempfile
    >>> tf.compat.v1.gfile.MkDir(tempfile.mkdtemp() + "/new")
    """
    files.mkdir(dirname)


def Remove(filename: PathLike) -> None:
    """Alias of `tf.io.gfile.remove`.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/file"
    >>> open(path, "w").close()
    >>> tf.compat.v1.gfile.Remove(path)
    >>> tf.compat.v1.gfile.Exists(path)
    False
    """
    files.remove(filename)


def Rename(oldname: PathLike, newname: PathLike, overwrite: bool = False) -> None:
    """Alias of `tf.io.gfile.rename`.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> open(folder + "/old", "w").close()
    >>> tf.compat.v1.gfile.Rename(folder + "/old", folder + "/new")
    >>> tf.compat.v1.gfile.ListDirectory(folder)
    ['new']
    """
    files.rename(oldname, newname, overwrite)


def Stat(filename: PathLike) -> FileStatistics:
    """Alias of `tf.io.gfile.stat`.

    >>> import tempfile
    >>> tf.compat.v1.gfile.Stat(tempfile.mkdtemp()).is_directory
    True
    """
    return files.stat(filename)


def Walk(top: PathLike, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yields every folder from `top` down, with the names of its folders and files.

    >>> import tempfile
    >>> [(folders, files) for _, folders, files in tf.compat.v1.gfile.Walk(tempfile.mkdtemp())]
    [([], [])]
    """
    return files.walk(top, in_order)
