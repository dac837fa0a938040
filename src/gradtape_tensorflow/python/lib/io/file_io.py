"""`tensorflow.python.lib.io.file_io`: the names without public counterpart."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from typing import Any

import gradtape


class FileIO(gradtape.io.gfile.GFile):  # type: ignore[misc]
    """An open file."""

    def __init__(self, name: Any, mode: str, encoding: str = "utf-8") -> None:
        super().__init__(name, mode)


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """Returns the contents of a file."""
    with gradtape.io.gfile.GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Any, file_content: Any) -> None:
    """Writes a file."""
    with gradtape.io.gfile.GFile(filename, "wb" if isinstance(file_content, bytes) else "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename: Any, contents: Any, overwrite: bool = True) -> None:
    """Writes a file so that readers see either all of it or none."""
    if not overwrite and os.path.exists(filename):
        raise gradtape.errors.AlreadyExistsError(None, None, f"file already exists: {filename}")
    other = f"{os.fspath(filename)}.tmp{secrets.token_hex(16)}"
    try:
        write_string_to_file(other, contents)
        os.replace(other, filename)
    except BaseException:
        with suppress(OSError):
            os.remove(other)
        raise


def filecmp(filename_a: Any, filename_b: Any) -> bool:
    """Returns whether two files are equal."""
    return bool(read_file_to_string(filename_a, True) == read_file_to_string(filename_b, True))


def has_atomic_move(path: Any) -> bool:
    """Returns whether a rename in the file system of `path` is atomic: it is in all that are supported."""
    return True
