"""`tf.summary.experimental`: the default step of summaries, the scopes of their names, and serialized summaries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...core import dtypes, scopes
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_tensor
from .scalars import current, written_as

NAMESPACES = ("summary.experimental",)
__all__ = ["get_step", "set_step", "summary_scope", "write_raw_pb"]


def get_step() -> TensorLike | None:
    """Returns the step of this thread's summaries, or None if it is not set.

    >>> tf.summary.experimental.set_step(3)
    >>> tf.summary.experimental.get_step()
    3
    >>> tf.summary.experimental.set_step(None)
    """
    return current.step


def set_step(step: TensorLike | None) -> None:
    """Sets the step of this thread's summaries: a number, or a variable that is read when a summary is written.

    >>> step = tf.Variable(0, dtype=tf.int64)
    >>> tf.summary.experimental.set_step(step)
    >>> tf.summary.experimental.get_step() is step
    True
    >>> tf.summary.experimental.set_step(None)
    """
    current.step = step


@contextmanager
def summary_scope(name: str, default_name: str = "summary", values: Any = None) -> Iterator[tuple[str, str]]:
    """Context manager: a scope for a summary; yields its tag, including enclosing scopes, and the scope's name.

    >>> with tf.name_scope("model"), tf.summary.experimental.summary_scope("loss") as (tag, scope):
    ...     print(tag, scope)
    model/loss model/loss/
    """
    named = name or default_name
    tag = scopes.scoped(named)
    with scopes.name_scope(re.sub(r"[^-_/.A-Za-z0-9]", "", named) or default_name) as scope:
        yield tag, scope


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
