"""`tf.data`: datasets."""

from __future__ import annotations

from typing import Any

from ...datasets.dataset import AUTOTUNE, Dataset
from ...datasets.iterators import Iterator, NumpyIterator
from ...datasets.options import Options, ThreadingOptions
from ...datasets.pipeline import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from ...datasets.sources import text_lines
from ...datasets.specs import DatasetSpec

NAMESPACES = ("data",)
__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "DatasetSpec",
    "Iterator",
    "NumpyIterator",
    "Options",
    "TextLineDataset",
    "ThreadingOptions",
]


def TextLineDataset(
    filenames: Any,
    compression_type: str | None = None,
    buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    name: str | None = None,
) -> Dataset:
    """The lines of one or more text files, without their ends, as strings.

    >>> import gradtape as tf, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "lines.txt"
    >>> _ = path.write_text("first\\nsecond\\n")
    >>> list(tf.data.TextLineDataset(str(path)).as_numpy_iterator())
    [b'first', b'second']
    """
    return text_lines(Dataset, filenames, compression_type)
