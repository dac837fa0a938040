"""Datasets of records: TFRecord files, and files with records of a fixed size."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...core import dtypes, logger
from ...core.tensor import Tensor
from ...core.type_hints import StringLike
from ...engine.run.convert import to_tensor
from ...state.record_files import COMPRESSIONS, read_fixed_records, records
from ...state.specs import TensorSpec
from ..datasets import Dataset
from ..pipeline import UNKNOWN_CARDINALITY
from ..resumable import ChainIterator
from ..sources import compression_name, file_names, reading

NAMESPACES = ("data",)
__all__ = ["FixedLengthRecordDataset", "TFRecordDataset"]


def TFRecordDataset(
    filenames: StringLike,
    compression_type: str | None = None,
    buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    name: str | None = None,
) -> Dataset[Tensor]:
    """The records of one or more TFRecord files, as strings.

    Args:
      filenames: names in a tensor, a list or a dataset.
      compression_type: "GZIP", "ZLIB" or none. As in TensorFlow, another name means none; the log says so.
      num_parallel_reads: the number of files to interleave, record by record; by default files are read in sequence.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "two.tfrecord")
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"first")
    ...     writer.write(b"second")
    >>> list(tf.data.TFRecordDataset(path).as_numpy_iterator())
    [b'first', b'second']
    """
    kind = compression_name(compression_type)
    if kind not in COMPRESSIONS:
        logger.error("Unsupported compression_type: %s. No compression will be used.", kind)
        kind = None
    return _of_files("TFRecordDatasetV2", filenames, lambda path: records(path, kind), num_parallel_reads)


def FixedLengthRecordDataset(
    filenames: StringLike,
    record_bytes: Any,
    header_bytes: Any = None,
    footer_bytes: Any = None,
    buffer_size: int | None = None,
    compression_type: str | None = None,
    num_parallel_reads: int | None = None,
    name: str | None = None,
) -> Dataset[Tensor]:
    """The records of files with `record_bytes` bytes per record, as strings.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "pairs")
    >>> tf.io.write_file(path, "#aabb")
    >>> list(tf.data.FixedLengthRecordDataset(path, 2, header_bytes=1).as_numpy_iterator())
    [b'aa', b'bb']
    """
    kind = compression_name(compression_type)
    size, header, footer = (int(0 if n is None else n) for n in (record_bytes, header_bytes, footer_bytes))

    def read(path: str) -> Iterator[bytes]:
        return read_fixed_records(path, size, header, footer, kind)

    return _of_files("FixedLengthRecordDatasetV2", filenames, read, num_parallel_reads)


def _of_files(kind: str, filenames: Any, read: Callable[[str], Iterator[bytes]], parallel: int | None) -> Any:
    """Returns the records of several files, in sequence or interleaved."""
    if isinstance(filenames, Dataset) or parallel is not None:
        files = filenames if isinstance(filenames, Dataset) else Dataset.from_tensor_slices(file_names(filenames))
        open_files = 1 if parallel is None else parallel
        return files.interleave(lambda path: _of_files(kind, path, read, None), cycle_length=open_files)
    names = filenames if isinstance(filenames, Tensor) else file_names(filenames)

    def elements() -> Iterator[Tensor]:
        files = map(read, map(os.fsdecode, np.ravel(names.array)))
        return map(to_tensor, ChainIterator(files))  # after an error in a file, the next one follows

    made = Dataset(kind, elements, lambda _: TensorSpec([], dtypes.string), UNKNOWN_CARDINALITY)
    return reading(made, np.ravel(names.array).tolist(), lambda path: _of_files(kind, path, read, None))
