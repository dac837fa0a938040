"""Helpers of the table of `tf.compat.v1` for sparse tensors, and for strings that are split into them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from gradtape.api.namespace import resolve
from gradtape.core.dtypes import int64
from gradtape.core.tensor import Tensor
from gradtape.engine.run.convert import to_array, to_tensor
from gradtape.ragged.tensor import RaggedTensor
from gradtape.sparse.conversion import sparse
from gradtape.sparse.tensor import SparseTensor

KEYWORDS = object()  # stands before parameters that TensorFlow 1 takes by keyword only


def split_sparse(first: object, sp_input: Any, num_split: Any, axis: Any) -> list[SparseTensor]:
    """Splits a sparse tensor; all arguments are given by keyword."""
    if first is not KEYWORDS:
        raise ValueError("Keyword arguments are required for this function.")
    for name, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"{name} is required")
    parts: list[SparseTensor] = resolve("sparse.split")(sp_input, num_split, axis)
    return parts


def merged_sparse(sp_ids: Any, sp_values: Any, vocab_size: Any, already_sorted: bool) -> SparseTensor:
    """Creates a sparse tensor whose last coordinates are ids, one for each list of ids, with the given values."""
    listed = isinstance(sp_ids, list | tuple) and not hasattr(sp_ids, "indices")  # a SparseTensorValue is a tuple
    several = listed and isinstance(vocab_size, list | tuple | Tensor)
    ids: Sequence[Any] = sp_ids if several else [sp_ids]
    sizes = list(vocab_size) if several else [vocab_size]
    if listed and not several:
        raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(vocab_size)}")
    if len(ids) != len(sizes):
        raise ValueError(f"sp_ids and vocab_size have to have equal lengths. {len(ids)} vs {len(sizes)}")
    given = [sparse(each) for each in ids]
    values = sparse(sp_values)
    columns = [resolve("cast")(each.values, int64) for each in given]
    last = resolve("stack")(columns, 1)
    indices = resolve("concat")([given[0].indices[:, :-1], last], 1)
    ends = [resolve("cast")(resolve("reshape")(size, [1]), int64) for size in sizes]
    merged = SparseTensor(indices, values.values, resolve("concat")([given[0].dense_shape[:-1], *ends], 0))
    return merged if already_sorted else resolve("sparse.reorder")(merged)


def as_vector(strings: Any) -> Any:
    """Returns a string as a vector of one."""
    if isinstance(strings, RaggedTensor):
        return strings
    x = to_tensor(strings)
    return x if x.dims else resolve("reshape")(x, [1])


def split_at_any(source: Any, delimiter: Any, skip_empty: bool) -> Any:
    """Splits strings at each character of a delimiter, or into bytes if it is empty; returns a ragged tensor."""
    marks = to_array(delimiter)
    if marks.ndim:
        raise ValueError(f"delimiter must be a scalar string, got {delimiter!r}")
    strings = as_vector(source)
    text = marks.item()
    found = text if isinstance(text, bytes) else str(text).encode()
    if not found:
        return resolve("strings.bytes_split")(strings)
    mark = found[:1]
    if len(found) > 1:
        rewrite = rb"\\" if mark == b"\\" else mark
        strings = resolve("strings.regex_replace")(strings, f"[{re.escape(found.decode())}]", rewrite)
    parts = resolve("strings.split")(strings, mark)
    if not skip_empty:
        return parts
    return resolve("ragged.boolean_mask")(parts, resolve("strings.length")(parts) > 0)


def ragged_or_sparse(split: Callable[[], Any], result_type: str) -> Any:
    """Returns split strings as a sparse tensor, or as a ragged tensor."""
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    parts = split()
    return parts if result_type == "RaggedTensor" else parts.to_sparse()
