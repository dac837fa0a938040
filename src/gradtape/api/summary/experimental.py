"""`tf.summary.experimental`: the default step of summaries, and the scopes of their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...core import scopes
from ...core.type_hints import TensorLike
from .scalars import current

NAMESPACES = ("summary.experimental",)
__all__ = ["get_step", "set_step", "summary_scope"]


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
