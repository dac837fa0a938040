"""`tensorflow.python.util.keyword_args`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .tf_decorator import make_decorator


def keyword_args_only(func: Callable[..., Any]) -> Any:
    """Decorator: the function accepts keyword arguments only."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise ValueError(f"The function {func.__name__} only accepts keyword arguments. Do not pass positional "
                             f"arguments. Received the following positional arguments: {args}")  # fmt: skip
        return func(**kwargs)

    return make_decorator(func, call)
