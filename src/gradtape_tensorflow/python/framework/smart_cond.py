"""`tensorflow.python.framework.smart_cond`: `tf.cond` that becomes a Python `if` for a known condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtape


def smart_cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """Calls one of the functions: immediately if `pred` is a Python value or a constant, else through `tf.cond`."""
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("Argument `true_fn` and `false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is None:
        return gradtape.cond(pred, true_fn, false_fn, name=name)
    return true_fn() if known else false_fn()


def smart_constant_value(pred: Any) -> bool | None:
    """Returns the value of `pred` if it is known, else None."""
    if isinstance(pred, gradtape.Tensor):
        value = gradtape.get_static_value(pred)
        return None if value is None else bool(value)
    if pred in {0, 1}:
        return bool(pred)
    if isinstance(pred, gradtape.Variable):
        return None
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Received: {type(pred)}")
