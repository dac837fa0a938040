"""TensorFlow's functions on ragged arguments: a table from functions to their implementations.

The fronts of the functions look here when a call with a ragged argument raises. Most elementwise ops do not raise: ops
dispatch to arguments that are not tensors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

from ..api.catalogue.elementwise import ASSERTING, elementwise_functions
from ..api.names import NAMES
from ..api.namespace import resolve
from ..api.strings import strings
from ..core.tensor import Tensor
from ..core.type_hints import DTypeLike
from . import arrays, factory, gathering, lookups, reductions, shape
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


# Other functions, with an implementation that takes the function's arguments, or the function and its arguments.
_OTHERS: dict[str, Callable[..., Any]] = {
    "bitcast": arrays.bitcast, "concat": arrays.concat, "stack": arrays.stack, "expand_dims": arrays.expand_dims,
    "squeeze": arrays.squeeze, "tile": arrays.tile, "reverse": arrays.reverse, "split": arrays.split,
    "where": arrays.where, "compat.v1.where": arrays.where, "rank": arrays.rank, "size": arrays.size,
    "one_hot": arrays.one_hot,
    "shape": shape.shape_of, "shape_n": _shape_n, "reshape": shape.reshape, "broadcast_to": shape.broadcast_to,
    "broadcast_dynamic_shape": shape.broadcast_dynamic_shape, "dynamic_partition": factory.dynamic_partition,
    "math.bincount": lookups.bincount, "strings.join": _join, "strings.reduce_join": _reduce_join,
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
    "nn.embedding_lookup": lookups.embedding_lookup, "nn.embedding_lookup_sparse": lookups.embedding_lookup_sparse,
    "nn.safe_embedding_lookup_sparse": lookups.embedding_lookup_sparse, "sparse.bincount": lookups.sparse_bincount,
    "image.resize": lookups.resize, "math.is_non_decreasing": _of_values, "math.is_strictly_increasing": _of_values, 
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
