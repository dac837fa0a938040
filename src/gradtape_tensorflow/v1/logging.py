"""`tf.compat.v1.logging`: TensorFlow's logger and its verbosity."""

from __future__ import annotations

import logging
from typing import Any

from gradtape.api.runtime.system import get_logger
from gradtape.core.type_hints import TensorLike

__all__ = [
    "DEBUG", "ERROR", "FATAL", "INFO", "WARN", "TaskLevelStatusMessage", "debug", "error", "fatal", "flush",
    "get_verbosity", "info", "log", "log_every_n", "log_first_n", "log_if", "set_verbosity", "vlog", "warn", "warning",
]  # fmt: skip

NAMESPACES = ("compat.v1.logging",)

DEBUG, INFO, WARN, ERROR, FATAL = 10, 20, 30, 40, 50

_counts: dict[tuple[Any, ...], int] = {}


def set_verbosity(v: int | str) -> None:
    """Sets the minimum level of `tf.get_logger()`.

    >>> tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    >>> tf.compat.v1.logging.get_verbosity()
    40
    >>> tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.WARN)
    """
    get_logger().setLevel(v)


def get_verbosity() -> int:
    """Returns the minimum level of `tf.get_logger()`.

    >>> tf.compat.v1.logging.get_verbosity() >= tf.compat.v1.logging.DEBUG
    True
    """
    return get_logger().getEffectiveLevel()


def log(level: int, msg: object, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at `level`.

    >>> tf.compat.v1.logging.log(tf.compat.v1.logging.DEBUG, "step %d", 3)
    """
    get_logger().log(level, msg, *args, **kwargs)


def debug(msg: object, *args: Any, **kwargs: Any) -> None:
    """Logs at level DEBUG.

    >>> tf.compat.v1.logging.debug("step %d", 3)
    """
    get_logger().debug(msg, *args, **kwargs)


def info(msg: object, *args: Any, **kwargs: Any) -> None:
    """Logs at level INFO.

    >>> tf.compat.v1.logging.info("step %d", 3)
    """
    get_logger().info(msg, *args, **kwargs)


def warning(msg: object, *args: Any, **kwargs: Any) -> None:
    """Logs at level WARN.

    >>> tf.compat.v1.logging.warning("the loss rises: %s", 0.5)  # doctest: +SKIP
    """
    get_logger().warning(msg, *args, **kwargs)


warn = warning


def error(msg: object, *args: Any, **kwargs: Any) -> None:
    """Logs at level ERROR.

    >>> tf.compat.v1.logging.error("no data in %s", "here")  # doctest: +SKIP
    """
    get_logger().error(msg, *args, **kwargs)


def fatal(msg: object, *args: Any, **kwargs: Any) -> None:
    """Logs at level FATAL; the program continues.

    >>> tf.compat.v1.logging.fatal("no data in %s", "here")  # doctest: +SKIP
    """
    get_logger().fatal(msg, *args, **kwargs)


def vlog(level: int, msg: object, *args: Any, **kwargs: Any) -> None:
    """Logs at a numeric level.

    >>> tf.compat.v1.logging.vlog(1, "step %d", 3)
    """
    get_logger().log(level, msg, *args, **kwargs)


def _count(*key: Any) -> int:
    _counts[key] = _counts.get(key, -1) + 1
    return _counts[key]


def log_every_n(level: int, msg: object, n: int, *args: Any) -> None:
    """Logs a message in the first and every `n`th call with it.

    >>> for i in range(4):
    ...     tf.compat.v1.logging.log_every_n(tf.compat.v1.logging.DEBUG, "step %d", 2, i)
    """
    log_if(level, msg, not _count("every", level, msg, n) % n, *args)


def log_first_n(level: int, msg: object, n: int, *args: Any) -> None:
    """Logs a message in the first `n` calls with it.

    >>> for i in range(4):
    ...     tf.compat.v1.logging.log_first_n(tf.compat.v1.logging.DEBUG, "step %d", 2, i)
    """
    log_if(level, msg, _count("first", level, msg, n) < n, *args)


def log_if(level: int, msg: object, condition: TensorLike, *args: Any) -> None:
    """Logs a message if the condition holds.

    >>> tf.compat.v1.logging.log_if(tf.compat.v1.logging.DEBUG, "step %d", True, 3)
    """
    if condition:
        get_logger().log(level, msg, *args)


def flush() -> None:
    """Flushes all handlers.

    >>> tf.compat.v1.logging.flush()
    """
    for handler in get_logger().handlers:
        handler.flush()


def TaskLevelStatusMessage(msg: object) -> None:
    """Logs like `error`.

    >>> tf.compat.v1.logging.TaskLevelStatusMessage("no data")  # doctest: +SKIP
    """
    get_logger().log(logging.ERROR, msg)
