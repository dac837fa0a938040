"""`tf.compat.v1.python_io` and `tf.compat.v1.io`: TFRecord files and parsing, as in TensorFlow 1."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, ClassVar

from gradtape.api.io.records import TFRecordOptions, TFRecordWriter
from gradtape.core.type_hints import PathLike
from gradtape.state.record_files import records

NAMESPACES = ("compat.v1.io", "compat.v1.python_io")
__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]


class TFRecordCompressionType:
    """The kinds of compression of TFRecord files.

    >>> tf.compat.v1.python_io.TFRecordCompressionType.GZIP
    2
    """

    __module__ = "gradtape.compat.v1.io"

    NONE: ClassVar[int] = 0
    ZLIB: ClassVar[int] = 1
    GZIP: ClassVar[int] = 2


def tf_record_iterator(path: PathLike, options: Any = None) -> Iterator[bytes]:
    """Iterates over the records of a TFRecord file.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/records"
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    >>> list(tf.compat.v1.io.tf_record_iterator(path))
    [b'one']
    """
    return records(os.fsdecode(path), TFRecordOptions.get_compression_type_string(options))
