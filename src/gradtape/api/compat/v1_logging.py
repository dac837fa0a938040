"""`tf.compat.v1.logging`: how much TensorFlow's logger says."""

from __future__ import annotations

from typing import Any

from ..runtime.system import get_logger

__all__ = ["DEBUG", "ERROR", "FATAL", "INFO", "WARN", "get_verbosity", "set_verbosity"]

NAMESPACES = ("compat.v1.logging",)

DEBUG, INFO, WARN, ERROR, FATAL = 10, 20, 30, 40, 50


def set_verbosity(v: Any) -> None:
    """Lets `tf.get_logger()` say what is at least as important as `v`.

    >>> import gradtape as tf
    >>> tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    >>> tf.compat.v1.logging.get_verbosity()
    40
    >>> tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.WARN)
    """
    get_logger().setLevel(v)


def get_verbosity() -> int:
    """How important a message to `tf.get_logger()` must be to be said.

    >>> import gradtape as tf
    >>> tf.compat.v1.logging.get_verbosity() >= tf.compat.v1.logging.DEBUG
    True
    """
    return get_logger().getEffectiveLevel()
