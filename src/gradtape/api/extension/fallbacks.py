"""Functions of the API that gradtape's own kinds of values beside tensors can answer.

Nobody asks on a call whether an argument is of such a kind. Once there are values of it, the functions that can be
answered get new code: it runs what they were, and if that fails it lets others answer. The objects stay the same ones,
whoever has imported them; in a program without such values nothing is ever exchanged. Other than `dispatch`, which is
for the user's types and must ask first, it costs a call that does not fail next to nothing.
"""

from __future__ import annotations

import ast
import types
import warnings
from collections.abc import Callable
from typing import Any

from .dispatch import exchange_below

_VARARGS, _VARKEYWORDS = 4, 8  # flags of a code object
_answers: dict[Any, list[Callable[..., Any]]] = {}  # who may answer a function, in order


def answer(function: Any, answered: Callable[..., Any]) -> None:
    """From now on, where `function` fails, `answered(plain, args, kwargs)` is asked; it may return NotImplemented.

    `plain` is the function without those who answer for it.
    """
    if function not in _answers:
        _answers[function] = []
        exchange_below(function, lambda below: _exchange(function, below))
    if answered not in _answers[function]:
        _answers[function].append(answered)


def _exchange(function: Any, below: Any) -> None:
    """Gives `below`, that `function` runs or is, code that runs its own, and asks the others where that fails."""
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
    """The code of a function with the parameters of `own`, which hands them to `plain`, and to `failed` if it fails."""
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
    for node in ast.walk(tree):  # a traceback shows the line of the function's `def`
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = 1  # type: ignore[attr-defined]
    made: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of the texts that stand for functions and are called
        exec(compile(tree, own.co_filename, "exec", dont_inherit=True), made)
    code = made[own.co_name].__code__
    constants = tuple({"<plain>": plain, "<failed>": failed}.get(c, c) if type(c) is str else c for c in code.co_consts)
    return code.replace(co_consts=constants, co_firstlineno=own.co_firstlineno)
