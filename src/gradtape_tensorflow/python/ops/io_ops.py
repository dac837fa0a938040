"""`tensorflow.python.ops.io_ops`: readers of TensorFlow 1, which TensorFlow 2 refuses to use eagerly, too."""

from __future__ import annotations

from typing import Any


class ReaderBase:
    """The base class of readers of files."""

    def __init__(self, reader_ref: Any = None, supports_serialize: bool = False, **kwargs: Any) -> None:
        raise RuntimeError(
            "Readers are not supported when eager execution is enabled. Instead, please use tf.data to get data into "
            "your model."
        )


class FixedLengthRecordReader(ReaderBase):
    """Reads records of one length."""


class IdentityReader(ReaderBase):
    """Reads the names of files."""


class TFRecordReader(ReaderBase):
    """Reads TFRecord files."""


class TextLineReader(ReaderBase):
    """Reads lines."""


class WholeFileReader(ReaderBase):
    """Reads whole files."""
