"""Tables of functions as text: a line is `names(parameters) = expression`, continued by indented lines.

The expression uses the parameters, the public API as `tf`, and the helpers of the table. A leading function of the API
needs no `tf.`, and one without parentheses is called with all parameters in order. The tables of `tf.raw_ops` have no
parameters: TensorFlow's definitions have them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ...core import dtypes

_LINE = re.compile(r"([\w. ]+?)(?:\((.*?)\))? = (.*)")
_NAMED = ("int32", "int64", "uint8", "uint64", "float32", "complex64", "qint32")  # in defaults of parameters
_DTYPES = {name: getattr(dtypes, name) for name in _NAMED}


class Expression(NamedTuple):
    """A line of a table."""

    parameters: str
    text: str


def read(table: str) -> dict[str, Expression]:
    """Returns the lines of a table by function name."""
    found: dict[str, Expression] = {}
    for line in re.sub(r"\n +", " ", table.strip()).splitlines():
        match = _LINE.fullmatch(line)
        assert match, f"not a line of the table: {line}"
        names, parameters, text = match.groups()
        found |= dict.fromkeys(names.split(), Expression(parameters or "", text))
    return found


def compiled(parameters: str, text: str, helpers: dict[str, Any]) -> Callable[..., Any]:
    """Returns the function with these parameters, of which `name` is ignored, that evaluates an expression."""
    source = f"lambda {parameters}: {source_of(parameters, text, helpers)}"
    code = compile(source, "<gradtape expression>", "eval")  # a name by which tracebacks know gradtape's own frames
    return eval(code, {**helpers, **_DTYPES})  # type: ignore[no-any-return]


def source_of(parameters: str, text: str, helpers: dict[str, Any]) -> str:
    """Returns an expression as Python code."""
    if text in ("None", "True"):
        return text
    accepted = inspect.signature(eval(f"lambda {parameters}: None", {**helpers, **_DTYPES}))
    names = [name for name in accepted.parameters if name != "name"]
    if "(" not in text:
        return f"{'' if text in helpers else 'tf.'}{text}({', '.join(names)})"
    first = re.match(r"(\w+)(\.)?(?=[\w.]*\()", text)
    if first is None or first[1] in ("tf", *names):
        return text
    helper = helpers.get(first[1])  # `random.normal` is of the API also where `random` is a helper
    return text if helper is not None and not (first[2] and callable(helper)) else f"tf.{text}"
