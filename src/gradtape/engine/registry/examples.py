"""What an op does with examples, which it says beside its kernel: its `rows`.

Along the first axis of a value stand the rows of one example after the other, as many of each. `op.rows(inputs, flags,
attrs, count)` is asked about an op that is linear in the inputs flagged, which have the rows of `count` examples, as
`gradient(per="example")` sends them through the rules. Its answer is `KEEPS`, `SummedRows`, or None if it cannot say.
Then, and for an op without `rows`, the sweep falls back to one pass per example, which is slower but always correct.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...core.tensor import Tensor


class KeptRows(NamedTuple):
    """Every row of the output belongs to the example whose rows it was made of."""


class SummedRows(NamedTuple):
    """The output is a sum over the examples. All inputs have their rows, but those that are `shared`, by position.

    Outputs that are `kept` are no sums: they have rows of the examples.
    """

    shared: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()


KEEPS = KeptRows()
Rows = Callable[[Sequence[Tensor], Sequence[bool], dict[str, Any], int], KeptRows | SummedRows | None]


def aligned_rows(inputs: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any], count: int) -> KeptRows | None:
    """Of an elementwise op: the rows of an example meet the same rows of others, or one that all have in common."""
    rank = max(len(x.dims) for x in inputs)
    mine = {x.dims[0] if len(x.dims) == rank else -1 for x, flag in zip(inputs, flags, strict=True) if flag}
    return KEEPS if len(mine) == 1 and all(len(x.dims) < rank or x.dims[0] in (1, *mine) for x in inputs) else None


def all_rows(inputs: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any], count: int) -> KeptRows | None:
    """Of an op that does the same with every row of every input, whatever it is asked for."""
    return KEEPS if all(x.dims and x.dims[0] % count == 0 for x in inputs) else None


def rows_of_first(
    inputs: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any], count: int
) -> KeptRows | None:
    """Of an op that is linear in its first input, whose first axis is one of examples, as that of images is."""
    return KEEPS if flags[0] and not any(flags[1:]) else None


def rows_beside_axis(
    inputs: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any], count: int
) -> KeptRows | None:
    """Of an op along `axis`, one or several: it keeps rows if none is the first."""
    axes = attrs["axis"] if isinstance(attrs["axis"], tuple) else (attrs["axis"],)
    rank = min(len(x.dims) for x in inputs)
    return KEEPS if all(axis > 0 if axis >= 0 else -axis < rank for axis in axes) else None


def summed_by_letter(equation: str, flags: Sequence[bool]) -> KeptRows | SummedRows | None:
    """Of a contraction: the examples' letter is the first of all that have it; it stays first, or is summed over."""
    if all(flags):
        return None
    given, output = equation.split("->")
    mine, other = given.split(",") if flags[0] else given.split(",")[::-1]
    letter = mine[0]
    if letter in other[1:] or letter in output[1:]:
        return None
    return KEEPS if output[:1] == letter else SummedRows() if letter in other[:1] else None
