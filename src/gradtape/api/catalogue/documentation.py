"""The docstring of a row, which says domain, shape, dtypes and derivative as the record of the op knows them.

`tests/test_documentation.py` evaluates what it says: every formula, the shapes of the op's samples, every dtype, and
the derivative at the edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ...core import dtypes
from ...engine.registry.op import Op
from .formulas import derivatives_of
from .row import Row

_DTYPES = {
    dtypes.BOOL: "`bool`", dtypes.INT: "`int8` … `int64`, `uint8` … `uint64`", dtypes.NARROW: "`bfloat16`",
    dtypes.FLOAT: "`float16`, `float32`, `float64`", dtypes.COMPLEX: "`complex64`, `complex128`",
    dtypes.STRING: "`string`",
}  # fmt: skip


def documentation_of(row: Row) -> str:
    """Returns the docstring: the sentence of the row, what its record says, and the example."""
    details = [f"    - {label}: {text}.\n" for label, text in details_of(row).items()]
    example = [f"    {line}\n" for line in (f">>> {row.example}", *row.output.split("\n"))]
    return "".join([f"{row.doc}\n\n", *details, *["\n"] * bool(details), *example, "    "])


def details_of(row: Row) -> dict[str, str]:
    """Returns what the docstring of a row says besides its sentence, by label."""
    record = row.record
    if record is None:
        return {}
    parameters = [name for name in row.types if name not in ("name", "return")]
    details = {"Domain": f"`{row.domain}` for real numbers; elsewhere the result is NaN"} if row.domain else {}
    details["Shape"] = f"that of `{parameters[0]}`" if len(parameters) == 1 else f"{_code(parameters)} broadcast"
    details["Dtypes"] = _dtypes(record, row, parameters)
    details["Derivative"] = _derivative(record, row, parameters)
    return details


def result_name(parameters: list[str]) -> str:
    """Returns the name of the result in formulas.

    >>> result_name(["x"]), result_name(["x", "y"])
    ('y', 'z')
    """
    return "z" if "y" in parameters else "y"


@cache
def _of_kinds(kinds: int) -> str:
    return ", ".join(text for kind, text in _DTYPES.items() if kind & kinds)


def _dtypes(record: Op, row: Row, parameters: list[str]) -> str:
    more = [f"`{dtype}`" for dtype, result in row.casts.items() if dtype == result]
    text = ", ".join([_of_kinds(record.kinds), *more])
    if row.own_dtypes:
        text += f" (TensorFlow does not take {_code(row.own_dtypes)})"
    if record.result_dtype is not None:
        text += f"; {_code(parameters)} have the same one" if len(parameters) > 1 else ""
        return f"{text}; the result is `{record.result_dtype.name}`"
    several = _listed([*(f"`{name}`" for name in parameters), "the result"])
    text += f"; the result has that of `{parameters[0]}`" if len(parameters) == 1 else f"; {several} have the same one"
    others: dict[str, list[str]] = {}
    for dtype, result in row.casts.items():
        if dtype != result:
            others.setdefault(result, []).append(dtype)
    given = [f"{_code(names)} {'give' if names[1:] else 'gives'} `{result}`" for result, names in others.items()]
    return text + (f", but {_listed(given)}" if given else "")


def _derivative(record: Op, row: Row, parameters: list[str]) -> str:
    result = result_name(parameters)
    slopes = row.slopes or derivatives_of(record, parameters, result)
    if not any(slope is not None for slope in slopes):
        return "none; gradients are `None`"
    pairs = list(zip(parameters, slopes, strict=True))
    if len(slopes) == 1:
        said = [f"`d{result}/d{parameters[0]} = {slopes[0]}`"]
    else:
        said = [f"`∂{result}/∂{name} = {slope}`" for name, slope in pairs if slope]
        said += [f"`∂{result}/∂{name}` without a formula" for name, slope in pairs if slope == ""]
        said += [f"none for `{name}`" for name, slope in pairs if slope is None]
    values: dict[str, list[str]] = {}
    for x, slope in row.edges.items():
        values.setdefault(f"{slope:g}", []).append(f"`{parameters[0]} = {x:g}`")
    said += [f"`{slope}` at {_listed(places)}" for slope, places in values.items()]
    return ", ".join(said)


def _code(names: Sequence[str]) -> str:
    return _listed([f"`{name}`" for name in names])


def _listed(items: list[str]) -> str:
    """Returns items as text.

    >>> _listed(["a"]), _listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(items[:-1]), items[-1]]))
