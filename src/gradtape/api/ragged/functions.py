"""TensorFlow's functions on ragged arguments: a table from functions to their implementations.

Functions that are a single elementwise op are not listed: ops dispatch to arguments that are not tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...state.ragged.elementwise import on_flat_values
from ...state.ragged.tensor import RaggedTensor
from ..extension.fallbacks import answer
from ..namespace import resolve
from . import arrays, factory, gathering, lookups, reductions, shape, text
from .shape import DynamicRaggedShape

# Elementwise functions of one or two values; other arguments are passed through.
_UNARY = """
    cast clip_by_value debugging.assert_type debugging.check_numerics dtypes.saturate_cast ones_like zeros_like
    io.decode_base64 io.encode_base64 identity stop_gradient
    math.logical_not math.angle math.conj math.imag math.real math.log_sigmoid math.reciprocal_no_nan
    math.round math.softplus
    nn.elu nn.gelu nn.leaky_relu nn.relu nn.relu6 nn.selu nn.silu nn.softsign nn.crelu
    image.adjust_brightness image.adjust_gamma image.convert_image_dtype image.random_brightness
    image.stateless_random_brightness
    strings.as_string strings.length strings.lower strings.regex_full_match strings.regex_replace strings.strip
    strings.substr strings.to_number strings.upper
    strings.unicode_script strings.unicode_transcode
""".split()
_BINARY = """
    math.logical_and math.logical_or
    dtypes.complex math.floordiv math.logical_xor math.nextafter math.pow math.scalar_mul math.squared_difference
    nn.sigmoid_cross_entropy_with_logits
    debugging.assert_equal debugging.assert_greater debugging.assert_greater_equal debugging.assert_less
    debugging.assert_less_equal debugging.assert_near debugging.assert_none_equal
""".split()


def _mapped(count: int, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Applies `function` to the flat values of its first `count` arguments."""
    values, rest = args[:count], args[count:]
    return on_flat_values(lambda *flat: function(*flat, *rest, **kwargs), values)


def _all_of(function: Any, inputs: Any, name: Any = None) -> Any:
    """`tf.add_n`."""
    return factory.map_flat_values(function, list(inputs))


def _of_values(function: Any, x: Any, *args: Any) -> Any:
    """A function of all values in sequence."""
    return function(x.flat_values, *args)


def _dropout(function: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    names = function.__code__.co_varnames
    if args[names.index("noise_shape") - 1] is not None:
        raise ValueError("noise_shape is not supported yet for RaggedTensor x")
    return x.with_flat_values(function(x.flat_values, *args, **kwargs))


# Other functions, with an implementation that takes the function's arguments, or the function and its arguments.
_OTHERS: dict[str, Callable[..., Any]] = {
    "bitcast": arrays.bitcast, "concat": arrays.concat, "stack": arrays.stack, "expand_dims": arrays.expand_dims,
    "squeeze": arrays.squeeze, "tile": arrays.tile, "reverse": arrays.reverse, "split": arrays.split,
    "where": arrays.where, "rank": arrays.rank, "size": arrays.size, "one_hot": arrays.one_hot,
    "shape": shape.shape_of, "reshape": shape.reshape, "broadcast_to": shape.broadcast_to,
    "broadcast_dynamic_shape": shape.broadcast_dynamic_shape, "dynamic_partition": factory.dynamic_partition,
    "math.bincount": lookups.bincount, "strings.join": text.join, "strings.reduce_join": text.reduce_join,
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


def _answered(by: Callable[..., Any], with_function: bool) -> Callable[..., Any]:
    def answered(plain: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not any(map(_is_ragged, args)) and not any(map(_is_ragged, kwargs.values())):
            return NotImplemented
        return by(plain, *args, **kwargs) if with_function else by(*args, **kwargs)

    return answered


def _is_ragged(x: Any) -> bool:
    return isinstance(x, RaggedTensor | DynamicRaggedShape) or (
        isinstance(x, list | tuple) and any(isinstance(part, RaggedTensor) for part in x)
    )


def begin() -> None:
    """Registers the implementations, so that TensorFlow's functions accept ragged tensors."""
    for names, count in ((_UNARY, 1), (_BINARY, 2)):
        for name in names:
            answer(resolve(name), _answered(partial(_mapped, count), with_function=True))
    for name, by in _OTHERS.items():
        answer(resolve(name), _answered(by, with_function=False))
    for name, by in _WITH_FUNCTION.items():
        answer(resolve(name), _answered(by, with_function=True))
