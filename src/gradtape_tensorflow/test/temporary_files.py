"""Temporary files and folders of a test: paths (`os.PathLike`) with the methods of absl's."""

from __future__ import annotations

import os
import tempfile
from contextlib import AbstractContextManager
from typing import Any


class _TemporaryPath(os.PathLike[str]):
    """A path of a test, which is removed with the test's folder."""

    def __init__(self, path: str) -> None:
        self._path = path

    @property
    def full_path(self) -> str:
        """The path as a string."""
        return self._path

    def __fspath__(self) -> str:
        return self._path


class TemporaryFile(_TemporaryPath):
    """A file of a test, which `create_tempfile` returns."""

    def read_text(self, encoding: str = "utf8", errors: str = "strict") -> str:
        """Returns the contents as text."""
        with self.open_text(encoding=encoding, errors=errors) as file:
            return file.read()

    def read_bytes(self) -> bytes:
        """Returns the contents."""
        with self.open_bytes() as file:
            return file.read()

    def write_text(self, text: str, mode: str = "w", encoding: str = "utf8", errors: str = "strict") -> None:
        """Writes text."""
        with self.open_text(mode, encoding, errors) as file:
            file.write(text)

    def write_bytes(self, data: bytes, mode: str = "wb") -> None:
        """Writes bytes."""
        with self.open_bytes(mode) as file:
            file.write(data)

    def open_text(
        self, mode: str = "rt", encoding: str = "utf8", errors: str = "strict"
    ) -> AbstractContextManager[Any]:
        """Context manager: opens the file as text."""
        if "b" in mode:
            raise ValueError(f"Invalid mode {mode!r}: \"b\" flag not allowed when opening file in text mode")
        return open(self._path, mode, encoding=encoding, errors=errors)

    def open_bytes(self, mode: str = "rb") -> AbstractContextManager[Any]:
        """Context manager: opens the file."""
        if "t" in mode:
            raise ValueError(f"Invalid mode {mode!r}: \"t\" flag not allowed when opening file in binary mode")
        return open(self._path, mode if "b" in mode else f"{mode}b")


class TemporaryFolder(_TemporaryPath):
    """A folder of a test, which `create_tempdir` returns."""

    def create_file(
        self, file_path: str | None = None, content: str | bytes | None = None, mode: str = "w",
        encoding: str = "utf8", errors: str = "strict",
    ) -> TemporaryFile:  # fmt: skip
        """Creates a file with this content, below folders that are missing; without a path, one with a unique name."""
        if file_path:
            path = os.path.join(self._path, file_path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
        else:
            descriptor, path = tempfile.mkstemp(dir=self._path)
            os.close(descriptor)
        file = TemporaryFile(path)
        if isinstance(content, str) and content:
            file.write_text(content, mode, encoding, errors)
        else:
            file.write_bytes(content or b"", mode if content else "wb")  # type: ignore[arg-type]
        return file

    def mkdir(self, dir_path: str | None = None) -> TemporaryFolder:
        """Creates a folder in this one; without a path, one with a unique name."""
        path = os.path.join(self._path, dir_path) if dir_path else tempfile.mkdtemp(dir=self._path)
        os.makedirs(path, exist_ok=True)
        return TemporaryFolder(path)
