"""Hooks into the creation of variables: `tf.variable_creator_scope`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.scopes import holding
from .variable import creation


@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """In the block, `tf.Variable(...)` returns `variable_creator(next_creator, **arguments)`.

    >>> import gradtape as tf
    >>> def frozen(next_creator, **arguments):
    ...     return next_creator(**{**arguments, "trainable": False})
    >>> with tf.variable_creator_scope(frozen):
    ...     v = tf.Variable(1.0)
    >>> v.trainable
    False
    """
    with holding(creation, creators=(*creation.creators, variable_creator)):
        yield


def called_with_creator(creator: Callable[..., Any], function: Callable[..., Any], *args: Any) -> Any:
    """Call `function(*args)` in a `variable_creator_scope`, with less overhead."""
    before = creation.creators
    creation.creators = (*before, creator)
    try:
        return function(*args)
    finally:
        creation.creators = before
