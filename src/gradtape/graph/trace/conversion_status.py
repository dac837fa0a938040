"""The AutoGraph state of a thread: whether called functions are converted, and which are exempt.

A function without conditionals of its own first runs unconverted. Most functions need no more. If one uses a tensor as
a `bool` or iterates over its rows, the run is aborted and the function is converted and traced again.
"""

from __future__ import annotations

import dis
import functools
import sys
import threading
import types
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, ParamSpec, TypeVar, overload

from ...core.scopes import carried, holding

# Packages whose functions are never converted: none of them has control flow to be staged.
LIBRARIES = frozenset(
    "gradtape malt numpy scipy ml_dtypes keras tf_keras jax jaxlib torch tensorflow matplotlib pandas PIL absl optree "
    "rich tqdm h5py wrapt IPython".split()
) | frozenset(sys.stdlib_module_names)

_P = ParamSpec("_P")
_R = TypeVar("_R")


class ConversionNeeded(BaseException):
    """A function that runs unconverted must be converted after all."""


class _ConversionThread(threading.local):
    """The conversion state of this thread.

    `off`: a function that is not to be converted has disabled conversion. `waiting`: a function runs unconverted, to
    find out whether it needs conversion. `looks`: how many values have been read that a graph was then specialized on.
    """

    off: bool = False
    waiting: bool = False
    looks: int = 0


thread = carried(_ConversionThread())


def switched(off: bool) -> AbstractContextManager[None]:
    """Returns a context manager that disables or enables the conversion of calls."""
    return holding(thread, off=off)


def waiting(now: bool) -> AbstractContextManager[None]:
    """Returns a context manager in which functions run unconverted until they need conversion, or are converted."""
    return holding(thread, waiting=now)


def request_conversion() -> None:
    """Abort the run of an unconverted function that uses a tensor as a Python value, to convert and trace it again.

    If a library uses the tensor, conversion does not help: the second run, which is not aborted, decides.
    """
    if thread.waiting and not thread.off:
        raise ConversionNeeded


_EXCEPTIONS = ("WITH_EXCEPT_START", "CHECK_EXC_MATCH")  # a branch after one of these chooses an exception handler
# Converts a condition, or prepares a comprehension's variables after what it iterates over was loaded.
_PREPARING = ("TO_BOOL", "LOAD_FAST_AND_CLEAR", "MAKE_CELL", "SWAP")
_EMPTY = ("BUILD_LIST", "BUILD_SET", "BUILD_MAP")  # with a size of 0: a comprehension's result


def has_conditions(f: Any) -> bool:
    """Whether a function's own code branches, or loops over one of its arguments or over `tf.range(...)`.

    Decided from the bytecode.
    """
    while isinstance(f, functools.partial):
        f = f.func
    code = getattr(f, "__code__", None)
    return code is None or _has_conditions(code)


@functools.lru_cache(maxsize=1024)
def _has_conditions(code: types.CodeType) -> bool:
    arguments = code.co_varnames[: code.co_argcount]
    before, loaded, ranges = "", None, False  # the preceding instruction and its argument; if an attribute is `range`
    for step in dis.get_instructions(code):
        name = step.opname
        if name in _PREPARING or (name in _EMPTY and not step.arg):
            continue
        if "JUMP" in name and "_IF_" in name and not name.endswith("NONE") and before not in _EXCEPTIONS:
            return True
        ranges = ranges or (name in ("LOAD_ATTR", "LOAD_METHOD") and step.argval == "range")
        if name == "GET_ITER" and (ranges or ("LOAD_FAST" in before and loaded in arguments)):
            return True
        before, loaded = name, step.argval
        if "LOAD_FAST" in name and isinstance(loaded, tuple):  # LOAD_FAST_LOAD_FAST, STORE_FAST_LOAD_FAST
            loaded = loaded[-1]
    return any(isinstance(inner, types.CodeType) and _has_conditions(inner) for inner in code.co_consts)


def autograph_artifact(f: Any, extras: Any = None) -> Any:
    """Mark `f` as needing no conversion, and return it."""
    function: Any = f.__func__ if isinstance(f, types.MethodType) else f
    function.autograph_info__ = extras
    return f


@overload
def do_not_convert(func: Callable[_P, _R]) -> Callable[_P, _R]: ...
@overload
def do_not_convert(func: None = None) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...
def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Returns `func` wrapped so that neither it nor the functions it calls are converted.

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

    if isinstance(func, types.FunctionType | types.MethodType):
        functools.update_wrapper(unconverted, func)
    return autograph_artifact(unconverted)
