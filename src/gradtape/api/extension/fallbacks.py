"""Fallbacks of API functions for gradtape's own non-tensor values.

Calls do not check for such values. When the first value of a kind is created, the functions that support it get new
code objects in place, which run the original code and, if that raises, try the registered fallbacks. All existing
references to the functions remain valid, and a program without such values is unaffected. Unlike `dispatch`, which
serves user types and must check arguments first, this adds almost nothing to a call that succeeds.
"""

from __future__ import annotations

import ast
import types
import warnings
from collections.abc import Callable
from typing import Any

from .dispatch import exchange_below

_VARARGS, _VARKEYWORDS = 4, 8  # flags of a code object
_answers: dict[Any, list[Callable[..., Any]]] = {}  # the fallbacks of each function, in order


def answer(function: Any, answered: Callable[..., Any]) -> None:
    """Registers a fallback: where `function` raises, `answered(plain, args, kwargs)` is called.

    It may return NotImplemented. `plain` is the function without fallbacks.
    """
    if function not in _answers:
        _answers[function] = []
        exchange_below(function, lambda below: _exchange(function, below))
    if answered not in _answers[function]:
        _answers[function].append(answered)


def _exchange(function: Any, below: Any) -> None:
    """Replaces the code of `below`, the function itself or the original under a dispatcher."""
    own = below.__code__
    if own.co_freevars:
        raise TypeError(f"{function.__name__} is a closure: its code cannot be exchanged")
    plain = types.FunctionType(own, below.__globals__, below.__name__, below.__defaults__)
    plain.__kwdefaults__ = below.__kwdefaults__

    def failed(error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for answered in () if getattr(error, "is_signal", False) else _answers[function]:
            result = answered(plain, args, kwargs)
            if result is not NotImplemented:
                return result
        raise error

    below.__code__ = _code_like(own, plain, failed)


def _code_like(own: Any, plain: Any, failed: Any) -> Any:
    """Returns the code of a function with the parameters of `own` that calls `plain` and, if it raises, `failed`."""
    count, only = own.co_argcount, own.co_kwonlyargcount
    names = list(own.co_varnames)
    positional, by_name = names[:count], names[count : count + only]
    rest = names[count + only :]
    parameters, given = list(positional), list(positional)
    if own.co_posonlyargcount:
        parameters.insert(own.co_posonlyargcount, "/")
    if own.co_flags & _VARARGS:
        parameters.append(f"*{rest[0]}")
        given.append(f"*{rest.pop(0)}")
    elif by_name:
        parameters.append("*")
    parameters += by_name
    named = [f"{name}={name}" for name in by_name]
    if own.co_flags & _VARKEYWORDS:
        parameters.append(f"**{rest[0]}")
        named.append(f"**{rest[0]}")
    call, pairs = ", ".join([*given, *named]), ", ".join(named)
    tuple_ = f"({', '.join(given)}{',' if given else ''})"
    text = (
        f"def {own.co_name}({', '.join(parameters)}):\n    try:\n        return '<plain>'({call})\n"
        f"    except Exception as error:\n        failure = error\n"
        f"    return '<failed>'(failure, {tuple_}, dict({pairs}))\n"
    )
    tree = ast.parse(text)
    for node in ast.walk(tree):  # tracebacks show the line of the function's `def`
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = 1  # type: ignore[attr-defined]
    made: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # the strings that are called stand in for functions
        exec(compile(tree, own.co_filename, "exec", dont_inherit=True), made)
    code = made[own.co_name].__code__
    constants = tuple({"<plain>": plain, "<failed>": failed}.get(c, c) if type(c) is str else c for c in code.co_consts)
    return code.replace(co_consts=constants, co_firstlineno=own.co_firstlineno)
