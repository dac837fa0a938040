"""`tf.data`: datasets."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.io.tensors import encoded, parsed
from ..core.tensor import Tensor
from ..core.type_hints import StringLike
from .dataset import AUTOTUNE, Dataset
from .elements.specs import DatasetSpec
from .files import storage
from .iterators import Iterator, IteratorSpec, NumpyIterator
from .options import Options, ThreadingOptions
from .pipeline import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from .sources import text_lines

NAMESPACES = ("data",)
__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "DatasetSpec", "Iterator", "IteratorSpec",
    "NumpyIterator", "Options", "TextLineDataset", "ThreadingOptions",
]  # fmt: skip


def _encode_specs(specs: Any) -> bytes:
    from ..core.protos import records
    from ..saved_model.format import structures

    return records.encoded("StructuredValue", structures.structured(specs))


def _decode_specs(data: bytes) -> Any:
    from ..core.protos import records
    from ..saved_model.format import structures

    return structures.value_of(records.decoded("StructuredValue", data))


storage.register_codec(
    storage.Codec(_encode_specs, _decode_specs, lambda tensor: encoded(np.asarray(tensor.array), tensor.dtype), parsed)
)


def TextLineDataset(
    filenames: StringLike,
    compression_type: str | None = None,
    buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    name: str | None = None,
) -> Dataset[Tensor]:
    """The lines of one or more text files, without line endings, as strings.

    Args:
      filenames: the files, or a dataset of them.
      compression_type: None, "GZIP" or "ZLIB".
      buffer_size: ignored; accepted for compatibility with TensorFlow.
      num_parallel_reads: the number of files to interleave, line by line; by default files are read in sequence.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "lines.txt"
    >>> _ = path.write_text("first\\nsecond\\n")
    >>> list(tf.data.TextLineDataset(str(path)).as_numpy_iterator())
    [b'first', b'second']
    """
    return text_lines(Dataset, filenames, compression_type, num_parallel_reads)
