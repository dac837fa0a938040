"""`tf.strings`: splitting strings. The parts of several strings form a ragged tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np

from ...core import dtypes
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ...core.type_hints import StringLike
from ...engine.run.convert import to_array
from ...engine.run.namespace import ops
from ...ragged.partition import cut_at
from ...ragged.tensor import RaggedTensor
from .strings import in_bytes, spelled, text_tensor

NAMESPACES = ("strings",)
__all__ = ["bytes_split", "ngrams", "split"]


def strings_of(value: Any) -> Any:
    """Returns a tensor of strings, ragged or not."""
    if not isinstance(value, RaggedTensor):
        return text_tensor(value)
    if value.dtype is not dtypes.string:
        raise InvalidArgumentError(
            f"Expected a tensor of strings, got {value.dtype.name}. tf.strings.as_string makes one"
        )
    return value


def cut(input: Any, function: Callable[[bytes], Sequence[Any]], *kinds: Any) -> list[Any]:
    """Returns the parts of each string as rows; `function` returns a list of them for each of the `kinds`.

    A kind is the dtype of an array: object for strings.
    """
    x = strings_of(input)
    if isinstance(x, RaggedTensor):
        return [x.with_flat_values(parts) for parts in cut(x.flat_values, function, *kinds)]
    if len(x.dims) > 1:
        return cut(RaggedTensor.from_tensor(x, ragged_rank=len(x.dims) - 1), function, *kinds)

    def pieces(array: Any) -> Any:
        found = [function(text) for text in np.ravel(array).tolist()]
        counts = [len(parts[0]) for parts in found]
        columns = [[piece for parts in found for piece in parts[i]] for i in range(len(kinds))]
        return *map(_array, columns, kinds), np.cumsum([0, *counts], dtype=np.int64)

    if hasattr(function, "spelling"):
        pieces = spelled(pieces, function.spelling[0], **function.spelling[1])
    *values, splits = ops.cut_text(x, function=pieces)
    return values if not x.dims else [RaggedTensor(v, cut_at(splits), internal=True) for v in values]


def _array(values: list[Any], kind: Any) -> Any:
    array = np.empty(len(values), dtype=kind)
    array[:] = values
    return array


def split(input: StringLike, sep: StringLike | None = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """Splits strings at white space or at `sep`: one string to a tensor, several to a ragged tensor.

    >>> tf.strings.split("a,b", sep=",").numpy().tolist()
    [b'a', b'b']
    >>> tf.strings.split(["hello world", "a b c"])
    <tf.RaggedTensor [[b'hello', b'world'], [b'a', b'b', b'c']]>
    """
    between = None if sep is None else np.asarray(to_array(text_tensor(sep))).item() or None
    if maxsplit == 0:  # Python then drops leading white space
        return cut(input, lambda text: [[text] if text or between else []], object)[0]
    spelling = {"sep": between or b"", "maxsplit": maxsplit}
    return cut(input, spelled(lambda text: [text.split(between, maxsplit)], "StringSplitV2", **spelling), object)[0]


def bytes_split(input: StringLike, name: str | None = None) -> Any:
    """Splits strings into bytes: a ragged tensor with one more axis.

    >>> tf.strings.bytes_split(["ab", "c"])
    <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    return cut(input, lambda text: [[text[i : i + 1] for i in range(len(text))]], object)[0]


@overload
def ngrams(  # type: ignore[overload-overlap]
    data: RaggedTensor, ngram_width: int | Sequence[int], separator: str = " ",
    pad_values: str | bytes | tuple[str | bytes, str | bytes] | None = None, padding_width: int | None = None,
    preserve_short_sequences: bool = False, name: str | None = None,
) -> RaggedTensor: ...  # fmt: skip
@overload
def ngrams(
    data: StringLike, ngram_width: int | Sequence[int], separator: str = " ",
    pad_values: str | bytes | tuple[str | bytes, str | bytes] | None = None, padding_width: int | None = None,
    preserve_short_sequences: bool = False, name: str | None = None,
) -> Tensor: ...  # fmt: skip
def ngrams(
    data: StringLike,
    ngram_width: int | Sequence[int],
    separator: str = " ",
    pad_values: str | bytes | tuple[str | bytes, str | bytes] | None = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Joins `ngram_width` neighbors along the last axis.

    >>> tf.strings.ngrams(["A", "B", "C", "D"], 2, pad_values=("L", "R")).numpy().tolist()
    [b'L A', b'A B', b'B C', b'C D', b'D R']
    """
    left, right = _padding(pad_values)
    if padding_width is not None and padding_width < 1:
        raise ValueError("padding_width must be greater than 0.")
    if padding_width is not None and pad_values is None:
        raise ValueError("pad_values must be provided if padding_width is set.")
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    if any(width < 1 for width in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    most = 0 if pad_values is None else padding_width or -1
    x = strings_of(data)
    if not isinstance(x, RaggedTensor) and not x.dims:
        raise ValueError("Data must have rank>0")
    between = in_bytes(separator)

    def of_row(row: list[bytes]) -> list[bytes]:
        return [gram for width in widths for gram in _grams(row, width, between, left, right, most)] or (
            _join_short_row(row, between, left, right, most) if preserve_short_sequences else []
        )

    return _by_rows(x, of_row)


def _padding(values: Any) -> tuple[bytes, bytes]:
    pair = ("", "") if values is None else values if isinstance(values, list | tuple) else (values, values)
    if not all(isinstance(value, str | bytes) for value in pair[:2]):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    first, second = map(in_bytes, pair[:2])
    return first, second


def _grams(row: list[bytes], width: int, between: bytes, left: bytes, right: bytes, most: int) -> list[bytes]:
    pad = width - 1 if most < 0 else min(most, width - 1)
    whole = [left] * pad + row + [right] * pad
    return [between.join(whole[i : i + width]) for i in range(len(whole) - width + 1)]


def _join_short_row(row: list[bytes], between: bytes, left: bytes, right: bytes, most: int) -> list[bytes]:
    """Returns a row that is too short for any width, joined."""
    if not row:
        return []
    pad = max(most, 0)
    return [between.join([left] * pad + row + [right] * pad)]


def _by_rows(x: Any, of_row: Callable[[list[bytes]], list[bytes]]) -> Any:
    """Applies a function to each row along the last axis; the result for a tensor is a tensor."""
    if isinstance(x, RaggedTensor) and (x.ragged_rank > 1 or len(x.flat_values.dims) > 1):
        return x.with_values(_by_rows(x.values, of_row))
    if not isinstance(x, RaggedTensor):
        return ops.cut_text(x, function=lambda array: _of_array(array, of_row))

    def rows(values: Any, splits: Any) -> Any:
        ends, flat = splits.tolist(), values.tolist()
        found = [of_row(flat[i:j]) for i, j in pairwise(ends)]
        counts = np.cumsum([0, *map(len, found)]).astype(splits.dtype)
        return _array([gram for row in found for gram in row], object), counts

    values, splits = ops.cut_text(x.values, x.row_splits, function=rows)
    return RaggedTensor(values, cut_at(splits), internal=True)


def _of_array(array: Any, of_row: Callable[[list[bytes]], list[bytes]]) -> Any:
    rows = array.reshape(int(np.prod(array.shape[:-1], dtype=int)), array.shape[-1])
    found = [of_row(row.tolist()) for row in rows]
    count = len(found[0]) if found else 0
    return _array([gram for row in found for gram in row], object).reshape(*array.shape[:-1], count)


