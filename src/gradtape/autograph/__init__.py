"""AutoGraph: Python's `if`, `while` and `for` on tensors become part of the graph of a traced function.

A function is rewritten (by diastatic-malt, which is imported when it is first needed) so that every statement whose
meaning may depend on a tensor is a call of an operator of this package. While a function is traced, a tensor's operator
is `tf.cond` or `tf.while_loop`; everything else, and everything in eager code, is plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

INSTALL = 'pip install "gradtape[autograph]"'


def available() -> bool:
    """Whether functions can be converted: whether diastatic-malt is installed."""
    return find_spec("malt") is not None


def missed() -> str:
    """What to add to an error that conversion would have prevented: how to install it, or nothing if it is there."""
    return "" if available() else f" Python control flow on tensors is converted by diastatic-malt: {INSTALL}."


def convert(f: Callable[..., Any], recursive: bool = True, features: Iterable[Any] | Any | None = None) -> Any:
    """`f` with its control flow on tensors, and that of the functions it calls, made of operators.

    Errors raised inside keep their class, and their message says where in the user's code they come from. Without
    diastatic-malt, `f` itself.
    """
    if not available():
        return f
    from .conversion import converted

    return converted(f, recursive, features)
