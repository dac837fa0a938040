"""Creates functions of `tf.compat.v1` from rows of the table; helpers that the table names."""

from __future__ import annotations

from collections.abc import Callable
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
from gradtape.engine.run.convert import to_tensor
from gradtape.engine.run.randomness import seeds_of_op
from gradtape.sparse.tensor import SparseTensor
from gradtape.state.unread_variable import assigned
from gradtape.state.variable import Variable

from .sparse import KEYWORDS, as_vector, merged_sparse, ragged_or_sparse, split_at_any, split_sparse


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
    """Calls a variable's method of that name, which takes slices."""
    return getattr(variable, method)(IndexedSlices(updates, indices))


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
