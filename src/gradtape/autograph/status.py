"""Whether functions called now are to be converted, and which are marked as done with."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class _Thread(threading.local):
    """Whether conversion is switched off in this thread, by a function that is not to be converted."""

    off: bool = False


thread = _Thread()


@contextmanager
def switched(off: bool) -> Iterator[None]:
    """Calls made inside the block are converted, or not."""
    before, thread.off = thread.off, off
    try:
        yield
    finally:
        thread.off = before


def autograph_artifact(f: Any, extras: Any = None) -> Any:
    """`f`, marked as needing no conversion."""
    function: Any = f.__func__ if inspect.ismethod(f) else f
    function.autograph_info__ = extras
    return f


def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """`func`, which runs as it is written, and so do the functions it calls.

    >>> import gradtape as tf
    >>> @tf.autograph.experimental.do_not_convert
    ... def f(x):
    ...     return x if x is not None else 0
    >>> int(tf.function(lambda x: f(x))(tf.constant(1)))
    1
    """
    if func is None:
        return do_not_convert

    def unconverted(*args: Any, **kwargs: Any) -> Any:
        with switched(off=True):
            return func(*args, **kwargs)

    if inspect.isfunction(func) or inspect.ismethod(func):
        functools.update_wrapper(unconverted, func)
    return autograph_artifact(unconverted)
