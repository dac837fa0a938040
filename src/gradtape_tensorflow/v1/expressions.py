"""Creates functions of `tf.compat.v1` from rows of the table; helpers that the table names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from gradtape.api.catalogue.expressions import Expression, compiled, read
from gradtape.api.catalogue.v1_table import TABLE
from gradtape.api.image.resampling import resized
from gradtape.api.namespace import resolve, root
from gradtape.api.raw_ops.functions import HELPERS as RAW_HELPERS
from gradtape.api.tape_arguments import UnconnectedGradients
from gradtape.core.dtypes import int64
from gradtape.core.slices import IndexedSlices
from gradtape.core.tensor import Tensor
from gradtape.engine.run.convert import to_array, to_tensor
from gradtape.engine.run.randomness import seeds_of_op
from gradtape.ragged.tensor import RaggedTensor
from gradtape.sparse.conversion import sparse
from gradtape.sparse.tensor import SparseTensor
from gradtape.state.unread_variable import assigned
from gradtape.state.variable import Variable

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


@cache
def rows() -> dict[str, Expression]:
    """Returns the lines of the table by function name."""
    return read(TABLE)


@cache
def function_named(name: str) -> Callable[..., Any]:
    """Returns the function of `tf.compat.v1` with this name; raises AttributeError if the table has no such row."""
    if name not in rows():
        raise AttributeError(f"tf.compat.v1.{name} is not in gradtape")
    parameters, text = rows()[name]
    function = compiled(parameters, text, HELPERS)
    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__module__ = "gradtape.compat.v1"
    function.__doc__ = f"`tf.compat.v1.{name}`: see the function of that name of TensorFlow 2, `{text}`."
    return function


_NEEDED = object()


def either(new: Any, old: Any, default: Any = _NEEDED) -> Any:
    """Returns an argument given under its new or its old name, but not both."""
    if new is not None and old is not None:
        raise ValueError("An argument was given under its new and its old name: use the new one")
    given = old if new is None else new
    if given is None:
        if default is _NEEDED:
            raise ValueError("An argument is missing: it is to be given under its new or its old name")
        return default
    return given


def square(block: Any) -> Any:
    """Returns a block size for both axes, from one number or two."""
    return [block, block] if isinstance(block, int) else block


def constant(value: Any, dtype: Any, shape: Any, verify_shape: bool) -> Tensor:
    """Creates a constant, which repeats its last number to fill its shape, as in TensorFlow 1."""
    made = resolve("constant")(value, dtype)
    if shape is None:
        return made
    shape = tuple(resolve("TensorShape")(shape))
    if verify_shape:
        if tuple(made.shape) != shape:
            raise TypeError(f"Expected Tensor's shape: {shape}, got {tuple(made.shape)}.")
        return made
    return resolve("constant")(value, dtype, shape)


def scattered(variable: Any, method: str, indices: Any, updates: Any) -> Variable:
    """Calls a variable's method of that name, which takes slices, and returns what an assignment returns."""
    return assigned(getattr(variable, method)(IndexedSlices(updates, indices)))


def listing(body: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a loop body that may return its single variable directly."""

    def step(*variables: Any) -> Any:
        given = body(*variables)
        return given if isinstance(given, list | tuple) or len(variables) > 1 else [given]

    return step


def unpacked(result: Any, as_given: bool) -> Any:
    """Returns the variable of a loop with one variable, as in TensorFlow 1."""
    return result[0] if not as_given and isinstance(result, list | tuple) and len(result) == 1 else result


def dropped(keep_prob: Any, rate: Any) -> Any:
    """Returns the dropout rate, which may be given as a keep probability."""
    if keep_prob is not None and rate is not None:
        raise ValueError("You can't set both `rate` and `keep_prob`.")
    if keep_prob is None and rate is None:
        raise ValueError("You must provide a rate to dropout.")
    return 1 - keep_prob if rate is None else rate


def parted(params: Any, ids: Any, strategy: str) -> tuple[Any, Any]:
    """Returns a table of embeddings, possibly partitioned by a strategy, and the indices into it."""
    if strategy not in ("mod", "div"):
        raise ValueError(f"Unrecognized partition strategy: {strategy}. Must be one of either `mod` or `div`.")
    if not isinstance(params, list | tuple) or len(params) == 1 or strategy == "div":
        return params, ids
    tables = [to_tensor(table) for table in params]
    at: Any = to_tensor(ids)
    count = len(tables)
    starts = to_tensor(np.cumsum([0, *(table.dims[0] for table in tables[:-1])]), at.dtype)
    return resolve("concat")(tables, 0), resolve("gather")(starts, at % count) + at // count


def parted_sparse(params: Any, sp_ids: Any, strategy: str) -> tuple[Any, Any]:
    """Returns a table of embeddings, possibly partitioned by a strategy, and sparse indices into it."""
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    table, ids = parted(params, sp_ids.values, strategy)
    if isinstance(table, list | tuple):
        table = resolve("concat")([to_tensor(part) for part in table], 0)
    return table, SparseTensor(sp_ids.indices, ids, sp_ids.dense_shape)


def filled_in(indices: Any, shape: Any, values: Any, default: Any, validated: bool) -> Tensor:
    """Creates a tensor with values at given indices (a number, numbers, or rows), and a default value elsewhere."""
    at, given = to_tensor(indices), to_tensor(values)
    rows = resolve("cast")(resolve("reshape")(at, [-1, 1] if len(at.dims) < 2 else at.dims), int64)
    sparse = SparseTensor(rows, resolve("broadcast_to")(given, rows.dims[:1]), shape)
    return resolve("sparse.to_dense")(sparse, to_tensor(default, given.dtype), validated)


def seeds(op_seed: int | None) -> tuple[int | None, int | None]:
    """Returns the global seed and the op seed, or None for both."""
    return seeds_of_op(op_seed) or (None, None)


_METHODS = ("bilinear", "nearest", "bicubic", "area")


def resized_images(images: Any, size: Any, method: Any, align_corners: bool, preserve_aspect_ratio: bool) -> Tensor:
    """Resizes images by a method given as a number or a name."""
    name = _METHODS[method] if isinstance(method, int) else method
    if preserve_aspect_ratio:
        size = resolve("image.resize")(images, size, "nearest", True).shape[-3:-1]
    return resized(name, images, list(size), align_corners, False)


HELPERS = {
    **RAW_HELPERS,
    **{
        helper.__name__: helper
        for helper in (
            either, square, constant, scattered, listing, unpacked, dropped, filled_in, parted, parted_sparse,
            resized_images, seeds, split_sparse, merged_sparse, as_vector, split_at_any, ragged_or_sparse,
            assigned,
        )
    },
    "KEYWORDS": KEYWORDS,
    "UnconnectedGradients": UnconnectedGradients,
    "tf": root,
}
