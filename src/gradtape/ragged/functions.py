"""TensorFlow's functions on ragged arguments: a table from functions to their implementations.

The fronts of the functions look here when a call with a ragged argument raises. Most elementwise ops do not raise: ops
dispatch to arguments that are not tensors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

from ..api.arrays import concat as joining
from ..api.catalogue.elementwise import ASSERTING, elementwise_functions
from ..api.names import NAMES
from ..api.namespace import resolve
from ..api.strings import strings
from ..core import dtypes
from ..core.tensor import Tensor
from ..core.type_hints import DTypeLike
from ..engine.run.namespace import ops
from . import arrays, factory, gathering, indices, reductions, shape
from .constructors import rows_of
from .elementwise import on_flat_values
from .reductions import along
from .tensor import RaggedTensor

# Functions of one or two values that apply to the flat values besides the elementwise ones; `nn.log_softmax` does not.
_UNARY = "debugging.assert_all_finite debugging.assert_type identity nn.crelu stop_gradient".split()
_BINARY = [*ASSERTING, "math.nextafter", "compat.v1.div"]
_NOT_MAPPED = "nn.log_softmax"


def _mapped(count: int, function: Callable[..., Any], *args: object, **kwargs: object) -> Any:
    """Applies `function` to the flat values of its first `count` arguments, if one of them is ragged."""
    values, rest = args[:count], args[count:]
    if not any(isinstance(x, RaggedTensor) for x in values):
        return NotImplemented
    return on_flat_values(lambda *flat: function(*flat, *rest, **kwargs), values)


def _all_of(function: Callable[..., Any], inputs: Iterable[Any], name: str | None = None) -> Any:
    """`tf.add_n`."""
    return factory.map_flat_values(function, list(inputs))


def _of_values(function: Callable[..., Any], x: RaggedTensor, *args: object) -> Any:
    """A function of all values in sequence."""
    return function(x.flat_values, *args)


def _dropout(function: Callable[..., Any], x: RaggedTensor, *args: object, **kwargs: object) -> Any:
    names = list(inspect.signature(function).parameters)
    if args[names.index("noise_shape") - 1] is not None:
        raise ValueError("noise_shape is not supported yet for RaggedTensor x")
    return x.with_flat_values(function(x.flat_values, *args, **kwargs))


def _shape_n(input: Iterable[Any], out_type: DTypeLike | None = None, name: str | None = None) -> list[Any]:
    return [resolve("shape")(x, out_type) for x in input]


def _join(inputs: Any, separator: str = "", name: Any = None) -> Any:
    """`tf.strings.join`."""
    return on_flat_values(lambda *flat: strings.join(flat, separator), inputs)


def _reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: Any = None) -> Any:
    """`tf.strings.reduce_join`."""

    def whole(x: Any, axis: Any, keepdims: bool) -> Tensor:
        return strings.reduce_join(x, axis, keepdims, separator)

    return along(
        inputs, axis, keepdims, whole, lambda x, ids, count: strings.unsorted_segment_join(x, ids, count, separator)
    )


def _embedding_lookup(plain: Any, params: Any, ids: Any, *others: Any) -> Any:
    """`tf.nn.embedding_lookup` with ragged ids."""
    return ids.with_flat_values(plain(params, ids.flat_values, *others))


def _embedding_lookup_sparse(plain: Any, params: Any, sp_ids: Any, sp_weights: Any, *others: Any) -> Any:
    """`tf.nn.embedding_lookup_sparse` and its safe form, which are the same for rows that are not sparse."""
    if isinstance(sp_ids, RaggedTensor) and sp_weights is not None:
        if not isinstance(sp_weights, RaggedTensor):
            raise TypeError(f"sp_weights must be RaggedTensor, got {type(sp_weights)}")
        arrays.check_same_rows([sp_ids, sp_weights], "sp_ids and sp_weights must have the same rows")
    return plain(params, *(x.to_sparse() if isinstance(x, RaggedTensor) else x for x in (sp_ids, sp_weights)), *others)


def _bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: Any = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Tensor:
    """`tf.math.bincount`: of all values, or of each row with `axis=-1`."""
    from ..api.math.bincount import bincount as dense
    from ..api.math.bincount import by_rows

    if weights is not None:
        if binary_output:
            raise ValueError(
                "Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one."
            )
        if not isinstance(weights, RaggedTensor):
            raise ValueError(
                "`weights` must be a RaggedTensor if `values` is a RaggedTensor. Received argument "
                f"weights={weights} of type: {type(weights).__name__}."
            )
        arrays.check_same_rows([weights, arr], "'weights' and 'values' must have the same row splits.")
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    values = arr.flat_values
    values = values if values.dtype.is_integer else ops.cast(values, dtype=dtypes.int32)
    counted = None if weights is None else weights.flat_values
    if axis != -1:
        return dense(values, counted, minlength, maxlength, dtype, binary_output=binary_output)
    size = indices.looked_at(ops.max(values, axis=(0,), keepdims=False)) + 1 if values.dims[0] else 0
    size = size if minlength is None else max(size, indices.looked_at(minlength))
    size = size if maxlength is None else min(size, indices.looked_at(maxlength))
    return by_rows(arr.value_rowids(), values, counted, size, rows_of(arr), dtypes.as_dtype(dtype), binary_output)


def _sparse_bincount(plain: Any, values: Any, weights: Any = None, *others: Any) -> Any:
    """`tf.sparse.bincount`."""
    return plain(*(x.to_sparse() if isinstance(x, RaggedTensor) else x for x in (values, weights)), *others)


def _resize(plain: Any, images: Any, *others: Any) -> Tensor:
    """`tf.image.resize` of images with different sizes to one size."""
    each = [images[i] for i in range(rows_of(images))]
    if not each:
        raise ValueError("there must be an image to resize")
    return joining.stack([plain(x.to_tensor() if isinstance(x, RaggedTensor) else x, *others) for x in each])


# Other functions, with an implementation that takes the function's arguments, or the function and its arguments.
_OTHERS: dict[str, Callable[..., Any]] = {
    "bitcast": arrays.bitcast, "concat": arrays.concat, "stack": arrays.stack, "expand_dims": arrays.expand_dims,
    "squeeze": arrays.squeeze, "tile": arrays.tile, "reverse": arrays.reverse, "split": arrays.split,
    "where": arrays.where, "compat.v1.where": gathering.where_rows, "rank": arrays.rank, "size": arrays.size,
    "one_hot": arrays.one_hot,
    "shape": shape.shape_of, "shape_n": _shape_n, "reshape": shape.reshape, "broadcast_to": shape.broadcast_to,
    "broadcast_dynamic_shape": shape.broadcast_dynamic_shape, "dynamic_partition": factory.dynamic_partition,
    "math.bincount": _bincount, "strings.join": _join, "strings.reduce_join": _reduce_join,
    "gather": gathering.gather, "gather_nd": gathering.gather_nd,
    "reduce_sum": reductions.reduce_sum, "reduce_prod": reductions.reduce_prod, "reduce_max": reductions.reduce_max,
    "reduce_min": reductions.reduce_min, "reduce_mean": reductions.reduce_mean,
    "math.reduce_variance": reductions.reduce_variance, "math.reduce_std": reductions.reduce_std,
    "reduce_logsumexp": reductions.reduce_logsumexp, 
    "reduce_all": reductions.reduce_all, "reduce_any": reductions.reduce_any,
    "nn.softmax": reductions.softmax, "nn.moments": reductions.moments,
    "math.cumsum": reductions.cumsum, "linalg.matmul": reductions.matmul,
    "math.unsorted_segment_sum": reductions.unsorted_segment_sum,
    "math.unsorted_segment_prod": reductions.unsorted_segment_prod,
    "math.unsorted_segment_max": reductions.unsorted_segment_max,
    "math.unsorted_segment_min": reductions.unsorted_segment_min,
    "math.unsorted_segment_mean": reductions.unsorted_segment_mean,
    "math.unsorted_segment_sqrt_n": reductions.unsorted_segment_sqrt_n,
}  # fmt: skip
_WITH_FUNCTION: dict[str, Callable[..., Any]] = {
    "nn.embedding_lookup": _embedding_lookup, "nn.embedding_lookup_sparse": _embedding_lookup_sparse,
    "nn.safe_embedding_lookup_sparse": _embedding_lookup_sparse, "sparse.bincount": _sparse_bincount,
    "image.resize": _resize, "math.is_non_decreasing": _of_values, "math.is_strictly_increasing": _of_values, 
    "repeat": _of_values,
    "add_n": _all_of, "zeros": shape.filled, "ones": shape.filled, "fill": shape.filled,
    "nn.dropout": _dropout, "nn.experimental.stateless_dropout": _dropout
}


def _without_front(implementation: Callable[..., Any]) -> Callable[..., Any]:
    return lambda front, *args, **kwargs: implementation(*args, **kwargs)


@cache
def _implementations() -> dict[str, Callable[..., Any]]:
    """Returns the implementations by the locations of the functions, which all names of a function share."""
    table: dict[str, Callable[..., Any]] = {}
    table |= dict.fromkeys([*elementwise_functions("unary"), *_UNARY], partial(_mapped, 1))
    table |= dict.fromkeys([*elementwise_functions("binary"), *_BINARY], partial(_mapped, 2))
    del table[_NOT_MAPPED]
    table |= {name: _without_front(implementation) for name, implementation in _OTHERS.items()}
    return {NAMES[name]: implementation for name, implementation in (table | _WITH_FUNCTION).items()}


def implementation_of(path: str) -> Callable[..., Any] | None:
    """Returns the implementation `f(function, *args)` of a public function for ragged arguments, or None."""
    return _implementations().get(NAMES[path])
