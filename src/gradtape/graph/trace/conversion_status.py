"""The AutoGraph state of a thread: whether called functions are converted, and which are exempt.

AutoGraph is a higher layer: it registers its converter here, and the tracer calls it from here.

A function without conditionals of its own first runs unconverted. Most functions need no more. If one uses a tensor as
a `bool` or iterates over its rows, the run is aborted and the function is converted and traced again.
"""

from __future__ import annotations

import functools
import re
import sys
import threading
import types
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib.util import find_spec
from opcode import EXTENDED_ARG, opmap
from typing import Any

from ...core.scopes import carried, holding

# Packages whose functions are never converted: none of them has control flow to be staged.
LIBRARIES = frozenset(
    "gradtape malt numpy scipy ml_dtypes keras jax jaxlib cupy tensorflow matplotlib pandas PIL absl optree rich tqdm "
    "h5py wrapt IPython".split()
) | frozenset(sys.stdlib_module_names)

INSTALL = 'pip install "gradtape[autograph]"'
_converter: Callable[[Callable[..., Any], Any], Callable[..., Any]] | None = None


def register_converter(convert_if_needed: Callable[..., Any]) -> None:
    """Register `convert_if_needed(f, features)`, which prepares a function for control flow on tensors."""
    global _converter
    _converter = convert_if_needed


def made_ready(f: Callable[..., Any], features: Any) -> Callable[..., Any]:
    """Return `f` wrapped by the converter, which converts it if a call finds that it is necessary."""
    return f if _converter is None else _converter(f, features)


def available() -> bool:
    """Whether functions can be converted: whether diastatic-malt is installed."""
    return find_spec("malt") is not None


def missed() -> str:
    """Return the prefix of errors that conversion would have prevented: how to install it, or "" if it is installed."""
    return "" if available() else f"Python control flow on tensors is converted by diastatic-malt: {INSTALL}. "


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
    """Return a context manager that disables or enables the conversion of calls."""
    return holding(thread, off=off)


def waiting(now: bool) -> AbstractContextManager[None]:
    """Return a context manager in which functions run unconverted until they need conversion, or are converted."""
    return holding(thread, waiting=now)


def request_conversion() -> None:
    """Abort the run of an unconverted function that uses a tensor as a Python value, to convert and trace it again.

    If a library uses the tensor, conversion does not help: the second run, which is not aborted, decides.
    """
    if thread.waiting and not thread.off:
        raise ConversionNeeded


_INSTRUCTIONS = {name: kind for name, kind in opmap.items() if kind < 256}  # without pseudo-instructions


def _opcodes(*names: str) -> bytes:
    """Return the opcodes of these instructions, skipping those that this version of Python lacks."""
    return bytes([_INSTRUCTIONS[name] for name in names if name in _INSTRUCTIONS])


# Branches on the truth of a value; no-ops for this analysis; and other instructions that matter to it.
_JUMPS = _opcodes(*[n for n in _INSTRUCTIONS if "JUMP" in n and "_IF_" in n and not n.endswith("NONE")])
_NOTHING = _opcodes("CACHE", "TO_BOOL")
_ATTRIBUTES = _opcodes("LOAD_ATTR", "LOAD_METHOD")
_EXCEPTIONS = _opcodes("WITH_EXCEPT_START", "CHECK_EXC_MATCH")
_GET_ITER, _LOAD_FAST, _LOAD_ATTR = (opmap[name] for name in ("GET_ITER", "LOAD_FAST", "LOAD_ATTR"))
_LOOP = bytes([_LOAD_FAST, _GET_ITER])
_CONDITION = re.compile(b"(?<![%b])[%b]" % (re.escape(_EXCEPTIONS), re.escape(_JUMPS)), re.DOTALL)


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
    kinds = code.co_code[::2].translate(None, _NOTHING)
    if _CONDITION.search(kinds):
        return True
    if (_LOOP in kinds or "range" in code.co_names) and _goes_through_tensors(code):
        return True
    return any(isinstance(inner, types.CodeType) and _has_conditions(inner) for inner in code.co_consts)


def _goes_through_tensors(code: types.CodeType) -> bool:
    """Whether the code loops over an argument, or loops after using an attribute named `range`."""
    before = loaded = -1  # the preceding instruction and its argument
    ranges = False
    high = 0
    steps = code.co_code
    for kind, low in zip(steps[::2], steps[1::2], strict=True):
        if kind in _NOTHING:
            continue
        argument = high | low
        high = argument << 8 if kind == EXTENDED_ARG else 0
        if kind in _ATTRIBUTES and _attribute(code, kind, argument) == "range":
            ranges = True
        if kind == _GET_ITER and (ranges or (before == _LOAD_FAST and loaded < code.co_argcount)):
            return True
        before, loaded = kind, argument
    return False


def _attribute(code: types.CodeType, kind: int, argument: int) -> str:
    """Return the name of the attribute that an instruction loads."""
    flagged = kind == _LOAD_ATTR and sys.version_info >= (3, 12)  # the lowest bit flags a method
    return code.co_names[argument >> flagged]


def autograph_artifact(f: Any, extras: Any = None) -> Any:
    """Mark `f` as needing no conversion, and return it."""
    function: Any = f.__func__ if isinstance(f, types.MethodType) else f
    function.autograph_info__ = extras
    return f


def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Return `func` wrapped so that neither it nor the functions it calls are converted.

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

    if isinstance(func, types.FunctionType | types.MethodType):
        functools.update_wrapper(unconverted, func)
    return autograph_artifact(unconverted)
