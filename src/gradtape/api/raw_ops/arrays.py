"""Helpers of the table of raw ops: bits, slices, strings and files of words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ...engine.run.convert import to_array, to_tensor
from ..namespace import resolve

_BITS_OF_BYTES = np.array([byte.bit_count() for byte in range(256)], np.uint8)
_MOST = 2**31 - 1  # TensorFlow counts the words of a row in int32


def population_count(x: Any) -> Tensor:
    """Returns the number of bits that are set in each integer."""
    octets = resolve("cast")(resolve("bitcast")(x, dtypes.uint8), dtypes.int32)
    counts = resolve("gather")(resolve("constant")(_BITS_OF_BYTES), octets)
    return counts if to_tensor(x).dtype.size == 1 else resolve("reduce_sum")(counts, -1)


def updated_slice(input: Any, begin: Any, end: Any, strides: Any, value: Any, masks: tuple[int, ...]) -> Tensor:
    """Returns a tensor in which a strided slice is replaced by a value, which is broadcast."""
    x = to_tensor(input)
    places = resolve("reshape")(resolve("range")(int(np.prod(x.dims, dtype=np.int64))), x.dims)
    places = resolve("strided_slice")(places, begin, end, strides, *masks)
    updates = resolve("reshape")(resolve("broadcast_to")(to_tensor(value, x.dtype), places.dims), [-1])
    flat, rows = resolve("reshape")(x, [-1]), resolve("reshape")(places, [-1, 1])
    return resolve("reshape")(resolve("tensor_scatter_nd_update")(flat, rows, updates), x.dims)


def ngrams_of_rows(
    data: Any, splits: Any, separator: Any, widths: Any, left: Any, right: Any, pad_width: int, keep_short: bool
) -> tuple[Tensor, Tensor]:
    """Joins neighbors in rows, which are given by their splits; a negative padding is as wide as it can be."""
    words, bounds = to_tensor(data), to_array(splits)
    if len(bounds):
        _check_splits(words.dims[0], bounds.tolist())
        longest = max((bounds[1:] - bounds[:-1]).tolist(), default=0)
        for width in widths:
            pad = width - 1 if pad_width < 0 else min(pad_width, width - 1)
            if longest + 2 * pad > _MOST:
                raise InvalidArgumentError(f"Pad width could lead to integer overflow, got pad_width = {pad}")
    if keep_short and not widths and pad_width < 0:
        raise InvalidArgumentError(
            "Pad width should be >= 0 when preserve_short_sequences is True and ngram_widths are not provided, got "
            f"{pad_width}"
        )
    rows = resolve("RaggedTensor").from_row_splits(words, resolve("convert_to_tensor")(splits))
    padding = (None, None) if pad_width == 0 else ((left, right), pad_width if pad_width > 0 else None)
    found = resolve("strings.ngrams")(rows, list(widths), separator, *padding, keep_short)
    return found.values, found.row_splits


def _check_splits(count: int, bounds: list[int]) -> None:
    if bounds[0] != 0:
        raise InvalidArgumentError(f"First split value must be 0, got {bounds[0]}")
    before = 0
    for bound in bounds[1:]:
        if not before <= bound <= count:
            raise InvalidArgumentError(f"Invalid split value {bound}, must be in [{before}, {count}]")
        before = bound
    if before != count:
        raise InvalidArgumentError(f"Last split value must be data size. Expected {count}, got {before}")


def remapped_vocabulary(
    new_file: Any, old_file: Any, offset: int, count: int, old_size: int
) -> tuple[Tensor, Tensor]:
    """Returns, for words of a new file, their line in an old file or -1, and how many the old file has."""
    new, old = (Path(to_array(file).item().decode()).read_bytes().splitlines() for file in (new_file, old_file))
    lines = {word: line for line, word in enumerate(old if old_size < 0 else old[:old_size])}
    found = [lines.get(word, -1) for word in new[offset : offset + count]]
    return to_tensor(found, dtypes.int64), to_tensor(sum(line >= 0 for line in found), dtypes.int32)


def decoded_characters(
    input: Any, encoding: Any, errors: Any, replacement: int, control: bool, splits: Any, with_starts: bool
) -> tuple[Tensor, ...]:
    """Returns the row splits of the characters of a vector of strings, the characters and the bytes they start at."""
    named = [x.decode() if isinstance(x, bytes) else x for x in (encoding, errors)]
    function = "strings.unicode_decode_with_offsets" if with_starts else "strings.unicode_decode"
    found = resolve(function)(resolve("reshape")(input, [-1]), *named, replacement, control)
    first = found[0] if with_starts else found
    starts = (found[1].values,) if with_starts else ()
    return resolve("cast")(first.row_splits, splits), first.values, *starts
