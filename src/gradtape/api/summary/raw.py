"""`tf.summary.experimental.write_raw_pb`: summaries that the program has made itself."""

from __future__ import annotations

from typing import Any

from ...core import dtypes
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_tensor
from .scalars import written_as

NAMESPACES = ("summary.experimental",)
__all__ = ["write_raw_pb"]


def write_raw_pb(tensor: Any, step: TensorLike | None = None, name: str | None = None) -> Tensor:
    """Writes serialized `tf.compat.v1.Summary` messages; returns whether they were written.

    >>> bool(tf.summary.experimental.write_raw_pb(b"", step=1))
    False

    They are not written if there is no writer: see `create_file_writer`.
    """

    def event(tag: str, x: Tensor) -> Any:
        from tensorboardX.proto.summary_pb2 import Summary

        merged = Summary()
        for text in x.numpy().ravel() if x.dims else [x.numpy()]:
            merged.MergeFromString(text)
        return merged

    return written_as(name or "write_raw_pb", step, lambda: to_tensor(tensor, dtype=dtypes.string), event)
