"""Functions that are asked when a variable is made: `tf.variable_creator_scope`."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any

from ..core.scopes import carried, holding
from .variable import Variable


class _Creators(threading.local):
    present: tuple[Callable[..., Any], ...] = ()  # the innermost last
    made: Any = None  # by creators, and about to be initialised by Python, which has been done


_creators = carried(_Creators())
_init = Variable.__init__


def _plain(**arguments: Any) -> Variable:
    variable = object.__new__(Variable)
    _init(variable, **arguments)
    return variable


def _new(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """What `Variable(...)` gives: a variable as the creators of this thread make it, the innermost is asked first."""
    if not _creators.present or cls is not Variable:
        return object.__new__(cls)
    bound = inspect.signature(_init).bind(None, *args, **kwargs)
    bound.apply_defaults()
    _, *given = bound.arguments.items()  # the first is the variable itself
    make: Any = _plain
    for creator in _creators.present:
        make = partial(creator, make)
    found = make(**dict(given))
    _creators.made = found if isinstance(found, Variable) else None
    return found


@wraps(_init)
def _init_unless_made(self: Any, *args: Any, **kwargs: Any) -> None:
    if _creators.made is self:
        _creators.made = None
    else:
        _init(self, *args, **kwargs)


@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """In the block, `tf.Variable(...)` is what `variable_creator(next_creator, **arguments)` returns.

    >>> import gradtape as tf
    >>> def frozen(next_creator, **arguments):
    ...     return next_creator(**{**arguments, "trainable": False})
    >>> with tf.variable_creator_scope(frozen):
    ...     v = tf.Variable(1.0)
    >>> v.trainable
    False
    """
    # Not before somebody asks for it: a class without a `__new__` of its own is the fastest to call.
    Variable.__new__ = _new  # type: ignore[assignment, method-assign]
    Variable.__init__ = _init_unless_made  # type: ignore[method-assign]
    with holding(_creators, present=(*_creators.present, variable_creator)):
        yield
