"""`tensorflow.python.autograph.impl.api`: the conversion of Python control flow."""

from __future__ import annotations

from typing import Any

import gradtape


def tf_convert(f: Any, ctx: Any, convert_by_default: bool = True, user_requested: bool = False) -> Any:
    """Returns a function whose Python control flow on tensors becomes part of graphs.

    The trace of a `tf.function` converts what it calls itself, so the function is returned unchanged.
    """
    return f


def converted_call(f: Any, args: Any, kwargs: Any, caller_fn_scope: Any = None, options: Any = None) -> Any:
    """Calls a function."""
    return f(*args, **(kwargs or {}))


do_not_convert = gradtape.autograph.experimental.do_not_convert
