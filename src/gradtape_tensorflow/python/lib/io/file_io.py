"""`tensorflow.python.lib.io.file_io`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

import gradtape


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """Returns the contents of a file."""
    with gradtape.io.gfile.GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Any, file_content: Any) -> None:
    """Writes a file."""
    with gradtape.io.gfile.GFile(filename, "wb" if isinstance(file_content, bytes) else "w") as file:
        file.write(file_content)
