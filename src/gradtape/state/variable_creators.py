"""Hooks into the creation of variables: `tf.variable_creator_scope`."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..core.scopes import carried, holding
from .variable import Variable, VariableClass


class _Creators(threading.local):
    present: tuple[Callable[..., Any], ...] = ()  # the innermost last


_creators = carried(_Creators())
_signature = inspect.signature(Variable.__init__)


def _call(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Implement `Variable(...)`: apply the creators of this thread, the innermost first."""
    if not _creators.present or cls is not Variable:
        return type.__call__(cls, *args, **kwargs)
    bound = _signature.bind(None, *args, **kwargs)
    bound.apply_defaults()
    _, *given = bound.arguments.items()  # skip `self`
    make: Any = partial(type.__call__, Variable)
    for creator in _creators.present:
        make = partial(creator, make)
    return make(**dict(given))


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
    VariableClass.__call__ = _call  # type: ignore[assignment, method-assign]  # not before: it makes every call slower
    with holding(_creators, present=(*_creators.present, variable_creator)):
        yield


def called_with_creator(creator: Callable[..., Any], function: Callable[..., Any], *args: Any) -> Any:
    """Call `function(*args)` in a `variable_creator_scope`, with less overhead."""
    if VariableClass.__call__ is not _call:
        VariableClass.__call__ = _call  # type: ignore[assignment, method-assign]
    before = _creators.present
    _creators.present = (*before, creator)
    try:
        return function(*args)
    finally:
        _creators.present = before
