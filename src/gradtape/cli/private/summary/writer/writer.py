"""`tensorflow.python.summary.writer.writer`: TensorFlow 1's writers, which TensorFlow 2 refuses to use eagerly, too."""

from __future__ import annotations

from typing import Any


class FileWriter:
    """Writes summaries of graphs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "tf.summary.FileWriter is not compatible with eager execution. Use `tf.summary.create_file_writer` instead."
        )


class FileWriterCache:
    """The writers by folder: none."""

    @staticmethod
    def get(logdir: Any) -> Any:
        """Raises, as `FileWriter` does."""
        return FileWriter(logdir)

    @staticmethod
    def clear() -> None:
        """Does nothing."""
