"""Constants that depend on sizes, as nodes that compute them: filled shapes, ranges, masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from .generalisation import Place, Size, size_of
from .writer import Ref, Unsaved, Writer


def constant(writer: Writer, place: Place) -> Ref:
    """Writes a constant, which may depend on sizes."""
    arrays = place.constants
    assert arrays is not None
    if all(array is arrays[0] or _are_identical(array, arrays[0]) for array in arrays[1:]):
        return writer.constant(arrays[0], place.dtype)
    if not place.dims:
        return _number(writer, place, arrays)
    for attempt in (_write_fill, _write_integers, _rising, _triangle):
        found = attempt(writer, place, arrays)
        if found is not None:
            return found
    raise Unsaved(
        f"a constant in it, of shape {place.dims}, depends on the sizes of its inputs, and is neither one value, nor "
        "numbers in a row, nor a triangle. Give the function an input signature without None"
    )


def _are_identical(a: Any, b: Any) -> bool:
    """Returns whether two arrays are bitwise equal."""
    if a.shape != b.shape:
        return False
    return np.array_equal(a, b) if a.dtype == object else a.tobytes() == b.tobytes()


def _number(writer: Writer, place: Place, arrays: list[Any]) -> Ref:
    numbers = [array.item() for array in arrays]
    if place.dtype.is_complex and not any(n.imag for n in numbers):
        numbers = [n.real for n in numbers]
    if all(isinstance(n, int) or (isinstance(n, float) and n.is_integer()) for n in numbers):
        return writer.ref(Size(tuple(int(n) for n in numbers)), place.dtype)
    inverse = [1 / n if n else 0 for n in numbers] if place.dtype.is_floating else []
    whole = [round(n) for n in inverse]
    if inverse and all(abs(a - b) < 1e-4 * max(b, 1) for a, b in zip(inverse, whole, strict=True)):
        size = writer.ref(Size(tuple(whole)), place.dtype)
        return writer.Reciprocal(size)
    raise Unsaved(f"a number in it depends on the sizes of its inputs: it is {' or '.join(map(str, numbers))}")


def _write_fill(writer: Writer, place: Place, arrays: list[Any]) -> Ref | None:
    """Writes a constant with one value everywhere."""
    value = next((array.flat[0] for array in arrays if array.size), None)
    if value is None or any((array != value).any() for array in arrays):
        return None
    return writer.Fill(writer.shape(place.dims), writer.constant(np.asarray(value), place.dtype))


def _write_integers(writer: Writer, place: Place, arrays: list[Any]) -> Ref | None:
    """Writes a few integers, such as a shape."""
    if len(place.dims) != 1 or isinstance(place.dims[0], Size) or not place.dtype.is_integer:
        return None
    sizes = [size_of([int(array[i]) for array in arrays]) for i in range(place.dims[0])]
    return writer.Pack([writer.ref(size, place.dtype) for size in sizes])


def _rising(writer: Writer, place: Place, arrays: list[Any]) -> Ref | None:
    """Writes numbers that increase evenly along one axis and are constant along the others."""
    if place.dtype is dtypes.bool or place.dtype is dtypes.string:
        return None
    for axis, size in enumerate(place.dims):
        rows = [np.moveaxis(array, axis, -1) for array in arrays]
        longest = max((row for row in rows if row.size), key=lambda row: row.shape[-1], default=None)
        if longest is None or longest.shape[-1] < 2:
            continue
        start, step = longest.flat[0], longest[..., 1].flat[0] - longest.flat[0]
        wanted = [np.broadcast_to(start + step * np.arange(row.shape[-1]), row.shape) for row in rows]
        if not all(np.allclose(row, want) for row, want in zip(rows, wanted, strict=True)):
            continue
        count = writer.Range(0, writer.ref(size, dtypes.int32), 1)
        numbers = writer.Cast(count, DstT=place.dtype) if place.dtype is not dtypes.int32 else count
        numbers = writer.AddV2(writer.Mul(numbers, writer.ref(step, place.dtype)), writer.ref(start, place.dtype))
        return _along(writer, numbers, place, axis)
    return None


def _along(writer: Writer, numbers: Ref, place: Place, axis: int) -> Ref:
    """Reshapes a row of numbers to an array of this shape."""
    if len(place.dims) == 1:
        return numbers
    column = writer.Reshape(numbers, [-1 if i == axis else 1 for i in range(len(place.dims))])
    return writer.BroadcastTo(column, writer.shape(place.dims))


def _triangle(writer: Writer, place: Place, arrays: list[Any]) -> Ref | None:
    """Writes bools, or two numbers, separated by a diagonal of the last two axes."""
    if len(place.dims) < 2:
        return None
    tests = {"GreaterEqual": np.greater_equal, "Greater": np.greater, "LessEqual": np.less_equal, "Less": np.less,
             "Equal": np.equal, "NotEqual": np.not_equal}  # fmt: skip
    for name, test in tests.items():
        grids = [test.outer(np.arange(array.shape[-2]), np.arange(array.shape[-1])) for array in arrays]
        inside, outside = (
            {array[..., part].flat[0] for array, part in zip(arrays, parts, strict=True) if array[..., part].size}
            for parts in (grids, [~grid for grid in grids])
        )
        if len(inside) != 1 or len(outside) != 1:
            continue
        (yes,), (no,) = inside, outside
        if not all(np.array_equal(array, np.broadcast_to(np.where(grid, yes, no), array.shape))
                   for array, grid in zip(arrays, grids, strict=True)):  # fmt: skip
            continue
        rows, columns = (writer.Range(0, writer.ref(n, dtypes.int32), 1) for n in place.dims[-2:])
        holds = getattr(writer, name)(writer.Reshape(rows, [-1, 1]), columns)
        values = [writer.constant(np.asarray(value), place.dtype) for value in (yes, no)]
        chosen = writer.SelectV2(holds, *values)
        return writer.BroadcastTo(chosen, writer.shape(place.dims)) if len(place.dims) > 2 else chosen
    return None
