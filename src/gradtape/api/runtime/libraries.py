"""Compiled plugins of TensorFlow's, which gradtape cannot load."""

from __future__ import annotations

import errno
import os
from typing import Any, NoReturn

from ...core import errors

NAMESPACES = ("", "experimental")
__all__ = ["load_library", "load_op_library", "register_filesystem_plugin"]


def _unloadable(path: Any) -> errors.UnimplementedError:
    return errors.UnimplementedError(
        f"{os.fsdecode(path)} is compiled for TensorFlow's C++ library, which gradtape does not have. Write the op in "
        "Python: see gradtape.extend, or tf.custom_gradient"
    )


def load_library(library_location: Any) -> None:
    """Raises an error: gradtape loads no compiled libraries; OSError if the file is missing. See `gradtape.extend`.

    >>> tf.load_library("/nowhere/libtfkernel.so")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    FileNotFoundError: ...
    """
    if not os.path.exists(library_location):
        message = "The file or folder to load kernel libraries from does not exist."
        raise OSError(errno.ENOENT, message, os.fsdecode(library_location))
    raise _unloadable(library_location)


def load_op_library(library_filename: Any) -> NoReturn:
    """Raises an error: gradtape loads no compiled ops; NotFoundError if the file is missing. See `gradtape.extend`.

    >>> tf.load_op_library("/nowhere/op.so")
    Traceback (most recent call last):
    gradtape.errors.NotFoundError: /nowhere/op.so: cannot open shared object file: No such file or directory
    """
    if not os.path.exists(library_filename):
        path = os.fsdecode(library_filename)
        raise errors.NotFoundError(f"{path}: cannot open shared object file: No such file or directory")
    raise _unloadable(library_filename)


def register_filesystem_plugin(plugin_location: Any) -> None:
    """Raises an error, because gradtape loads no compiled file systems. OSError if the file is missing.

    >>> tf.experimental.register_filesystem_plugin("/nowhere/fs.so")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    FileNotFoundError: ...
    """
    if not os.path.exists(plugin_location):
        message = "The file to load file system plugin from does not exist."
        raise OSError(errno.ENOENT, message, os.fsdecode(plugin_location))
    raise errors.UnimplementedError(
        f"{os.fsdecode(plugin_location)} is compiled for TensorFlow's C++ library. Mount the file system, or read its "
        "files with a Python package and pass their contents to tf.data.Dataset.from_generator"
    )
