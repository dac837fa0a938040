"""Writer of TFRecord files."""

from __future__ import annotations

import gzip
import os
import zlib
from typing import Any, ClassVar, Self

from ...core import errors
from ...core.locks import call_in_child, leave_to_parent
from ...core.pickling import Unpicklable
from ...core.tensor import Tensor
from ...core.tracebacks import bounded
from ...core.type_hints import StringLike
from ...state.file_systems import OutputFile
from ...state.record_files import frame_record

NAMESPACES = ("io",)
__all__ = ["TFRecordOptions", "TFRecordWriter"]

_KINDS = ("", "GZIP", "ZLIB")


class TFRecordOptions:
    """Options for writing a TFRecord file: its compression.

    >>> tf.io.TFRecordOptions(compression_type="GZIP").compression_type
    'GZIP'
    """

    __module__ = "gradtape.io"

    compression_type_map: ClassVar = {0: "", 1: "ZLIB", 2: "GZIP"}

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """Returns the compression of options or of a name: "", "GZIP" or "ZLIB"."""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if not options:
            return ""
        if options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options not in _KINDS:
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return options


@bounded
class TFRecordWriter(Unpicklable):
    """Writes records to a TFRecord file, which TensorFlow can read.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "one.tfrecord")
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"a record")
    >>> os.path.getsize(path)
    24
    """

    __module__ = "gradtape.io"

    _instead = "write a file in each process"

    def __init__(self, path: Any, options: Any = None) -> None:
        given = options if isinstance(options, TFRecordOptions) else TFRecordOptions(compression_type=options)
        kind = TFRecordOptions.get_compression_type_string(given)
        level = -1 if given.compression_level is None else given.compression_level
        self._file: Any = OutputFile(path)
        self._process = os.getpid()
        call_in_child(self._leave_to_parent)
        self._zip: Any = None
        if kind == "GZIP":
            self._zip = gzip.GzipFile(fileobj=self._file, mode="wb", compresslevel=6 if level < 0 else level)
        elif kind == "ZLIB":
            self._zip = _Deflated(self._file, level)

    def _leave_to_parent(self) -> None:
        if self._file is not None:
            leave_to_parent(self._file)

    def write(self, record: StringLike) -> None:
        """Writes a record, bytes or text."""
        record = record.numpy() if isinstance(record, Tensor) else record
        if not isinstance(record, bytes | str):
            raise TypeError(f"a record is bytes, got {type(record).__name__}. Use SerializeToString() for a message")
        self._open()
        (self._zip or self._file).write(frame_record(record.encode() if isinstance(record, str) else record))

    def flush(self) -> None:
        """Flushes buffered records to disk."""
        self._open()
        if self._zip is not None:
            self._zip.flush()
        self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        file, self._file = self._file, None
        if file is not None:
            with file:
                if self._zip is not None:
                    self._zip.close()

    def _open(self) -> None:
        if self._file is None:
            raise errors.FailedPreconditionError("Writer is closed.")
        if self._process != os.getpid():
            raise errors.FailedPreconditionError(
                f"Process {self._process} opened the file {self._file.name!r}, and this one, {os.getpid()}, was forked "
                "from it afterwards. Create a writer of another file in this process"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _Deflated:
    """A zlib file, written piece by piece."""

    def __init__(self, file: Any, level: int) -> None:
        self._file, self._deflate = file, zlib.compressobj(level)

    def write(self, data: bytes) -> None:
        self._file.write(self._deflate.compress(data))

    def flush(self) -> None:
        self._file.write(self._deflate.flush(zlib.Z_SYNC_FLUSH))

    def close(self) -> None:
        self._file.write(self._deflate.flush())
