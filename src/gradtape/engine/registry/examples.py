"""Per-example rules: how an op treats examples along the first axis, declared beside its kernel as `rows`.

The first axis of a value holds the rows of one example after the other, equally many of each.
`op.rows(inputs, flags, attrs, count)` is called for an op that is linear in the flagged inputs, which hold the rows of
`count` examples, as `gradient(per="example")` sends them through the rules. It returns `KEEPS`, `SummedRows`, or None
if it cannot tell. Then, and for an op without `rows`, the sweep falls back to one pass per example, which is slower but
always correct.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...core.protocols import Attrs, Tensors


class KeptRows(NamedTuple):
    """Every row of the output belongs to the example of the rows it is computed from."""


class SummedRows(NamedTuple):
    """The output is a sum over the examples. All inputs hold examples' rows, except the `shared` ones, by index.

    The outputs in `kept` are not sums: they hold the examples' rows.
    """

    shared: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()


KEEPS = KeptRows()
Rows = Callable[[Tensors, Sequence[bool], dict[str, Any], int], KeptRows | SummedRows | None]


def aligned_rows(inputs: Tensors, flags: Sequence[bool], attrs: Attrs, count: int) -> KeptRows | None:
    """The rule of an elementwise op: an example's rows combine with the same rows of others, or with a shared one."""
    rank = max(len(x.dims) for x in inputs)
    mine = {x.dims[0] if len(x.dims) == rank else -1 for x, flag in zip(inputs, flags, strict=True) if flag}
    return KEEPS if len(mine) == 1 and all(len(x.dims) < rank or x.dims[0] in (1, *mine) for x in inputs) else None


def all_rows(inputs: Tensors, flags: Sequence[bool], attrs: Attrs, count: int) -> KeptRows | None:
    """The rule of an op that treats every row of every input alike."""
    return KEEPS if all(x.dims and x.dims[0] % count == 0 for x in inputs) else None


def rows_of_first(inputs: Tensors, flags: Sequence[bool], attrs: Attrs, count: int) -> KeptRows | None:
    """The rule of an op that is linear in its first input, whose first axis is the batch axis, as for images."""
    return KEEPS if flags[0] and not any(flags[1:]) else None


def rows_beside_axis(inputs: Tensors, flags: Sequence[bool], attrs: Attrs, count: int) -> KeptRows | None:
    """The rule of an op along one or several axes: it keeps rows if none is the first."""
    axes = attrs["axis"] if isinstance(attrs["axis"], tuple) else (attrs["axis"],)
    rank = min(len(x.dims) for x in inputs)
    return KEEPS if all(axis > 0 if axis >= 0 else -axis < rank for axis in axes) else None


def summed_by_letter(equation: str, flags: Sequence[bool]) -> KeptRows | SummedRows | None:
    """The rule of a contraction: the examples' letter is first wherever it occurs; it stays first or is summed over."""
    if all(flags):
        return None
    given, output = equation.split("->")
    mine, other = given.split(",") if flags[0] else given.split(",")[::-1]
    letter = mine[0]
    if letter in other[1:] or letter in output[1:]:
        return None
    return KEEPS if output[:1] == letter else SummedRows() if letter in other[:1] else None
