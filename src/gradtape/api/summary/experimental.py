"""`tf.summary.experimental`: the step that summaries have unless they say one."""

from __future__ import annotations

from typing import Any

from .scalars import current

NAMESPACES = ("summary.experimental",)
__all__ = ["get_step", "set_step"]


def get_step() -> Any:
    """The step of this thread's summaries, None if it was not set.

    >>> import gradtape as tf
    >>> tf.summary.experimental.set_step(3)
    >>> tf.summary.experimental.get_step()
    3
    >>> tf.summary.experimental.set_step(None)
    """
    return current.step


def set_step(step: Any) -> None:
    """Sets the step of this thread's summaries: a number, or a variable that is read when a summary is written.

    >>> import gradtape as tf
    >>> step = tf.Variable(0, dtype=tf.int64)
    >>> tf.summary.experimental.set_step(step)
    >>> tf.summary.experimental.get_step() is step
    True
    >>> tf.summary.experimental.set_step(None)
    """
    current.step = step
