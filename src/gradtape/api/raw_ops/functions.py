"""Creates ops of `tf.raw_ops` from rows of the table; helpers that the table names."""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.errors import FailedPreconditionError, InvalidArgumentError, runs_with_examples
from ...core.tensor import Tensor, is_tensor_like
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from ...sparse.tensor import SparseTensor
from ..catalogue.definitions import definition_of
from ..catalogue.expressions import compiled
from ..image.geometry import transform_images
from ..image.glimpses import glimpses
from ..image.resampling import resized
from ..namespace import resolve, root
from ..random.arguments import scrambled
from .arrays import decoded_characters, ngrams_of_rows, population_count, remapped_vocabulary, updated_slice
from .attributes import ATTRIBUTES
from .derivatives import cotangent, filled_rows_gradient, fractional_pool_gradient, gamma_derivative, vjp
from .optimizers import RULES
from .recurrent import block_lstm, block_lstm_gradients, lstm_block_cell
from .rows import rows


@cache
def op_named(name: str) -> Callable[..., Any]:
    """Returns TensorFlow's op with this name; raises AttributeError if there is no such op."""
    definition = definition_of(name)
    if name not in rows() or definition is None:
        raise AttributeError(f"tf.raw_ops.{name} is not in gradtape; dir(tf.raw_ops) lists what is")
    compute = compiled(f"{definition.parameters}, name=None".lstrip(", "), rows()[name], HELPERS)
    names = list(inspect.signature(compute).parameters)
    outputs = [output.name for output in definition.outputs]
    result = namedtuple(name, outputs) if outputs else None  # type: ignore[misc]

    @runs_with_examples
    @wraps(compute)
    def named(*args: Any, **kwargs: Any) -> Any:
        value = compute(*args, **kwargs)
        if len(outputs) == 1:
            return value
        return result(*value) if result else None

    @wraps(named)
    def op(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise TypeError(
                f"{name} only takes keyword args (possible keys: {names}). Please pass these args as kwargs instead."
            )
        return named(**kwargs)

    op.__name__ = op.__qualname__ = name
    op.__module__ = "gradtape.raw_ops"
    op.__doc__ = named.__doc__ = f"TensorFlow's op `{name}`; its arguments are passed by keyword."
    return op


# Helpers of the table's expressions, in addition to the API.


def stretched_axes(s0: Any, s1: Any) -> tuple[Tensor, Tensor]:
    """Returns, for two broadcast shapes, the axes along which each gradient is summed."""
    shapes = [values(s0), values(s1)]
    rank = max(len(shape) for shape in shapes)
    padded = [[1] * (rank - len(shape)) + shape for shape in shapes]
    axes = [[i for i, size in enumerate(sizes) if size == 1 and shapes[0] != shapes[1]] for sizes in padded]
    dtype = to_tensor(s0).dtype
    return to_tensor(axes[0], dtype), to_tensor(axes[1], dtype)


def text(value: Any) -> str:
    """Returns an attribute as text; TensorFlow also allows bytes."""
    return value.decode() if isinstance(value, bytes) else value


def values(x: Any) -> list[Any]:
    """Returns a value that must be known during tracing, as a list."""
    return to_array(x).tolist()


def zeros(shape: Any, like: Any) -> Tensor:
    """Returns zeros with the dtype of another tensor."""
    if not isinstance(shape, list | tuple) and (rank := len(to_tensor(shape).dims)) != 1:
        raise InvalidArgumentError(f"the sizes of a shape must be rank 1 but are rank {rank}: {shape}")
    return resolve("zeros")(shape, to_tensor(like).dtype)


def paddings(padding: Any, explicit: Any) -> Any:
    """Converts a padding to the form of `tf.nn`: a name, or a pair of numbers per axis."""
    if text(padding) != "EXPLICIT":
        return text(padding)
    return [list(explicit[i : i + 2]) for i in range(0, len(explicit), 2)]


def depthwise(
    x: Any, filter: Any, strides: Any, padding: Any, explicit: Any, data_format: Any, dilations: Any
) -> Tensor:
    """`tf.nn.depthwise_conv2d` with the dilations of height and width."""
    first = 2 if text(data_format) == "NCHW" else 1
    between = list(dilations[first : first + 2])
    return resolve("nn.depthwise_conv2d")(x, filter, strides, paddings(padding, explicit), text(data_format), between)


def fused_batch_norm(
    x: Any, scale: Any, offset: Any, mean: Any, variance: Any, epsilon: float, factor: float, data_format: Any,
    is_training: bool,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Normalizes a batch; returns the updated running statistics, and those that were used.

    Statistics of 16-bit values are in float32, in which they are also normalized.
    """
    x = to_tensor(x)
    dtype = dtypes.float32 if x.dtype.size < 4 else x.dtype
    values = x if x.dtype is dtype else resolve("cast")(x, dtype)
    given = (None if value is None else to_tensor(value, dtype) for value in (mean, variance, offset, scale))
    mean, variance, offset, scale = given
    first = text(data_format).startswith("NC")
    shape = [1 if axis != (1 if first else len(x.dims) - 1) else -1 for axis in range(len(x.dims))]
    axes = [axis for axis, size in enumerate(shape) if size == 1]
    if is_training:
        used = resolve("nn.moments")(values, axes)
        count = np.prod([x.dims[axis] for axis in axes])
        # Two factors, which are sizes that SavedModels keep open, unlike their quotient.
        kept = [used[0], used[1] * float(count) / float(max(count - 1, 1))]
        if factor != 1:
            kept = [old * (1 - factor) + new * factor for old, new in zip((mean, variance), kept, strict=True)]
    else:
        used = kept = [mean, variance]
    shaped = [resolve("reshape")(value, shape) for value in (*used, offset, scale)]
    y = resolve("nn.batch_normalization")(values, *shaped, epsilon)
    return (y if y.dtype is x.dtype else resolve("cast")(y, x.dtype), *kept, *used)


def alike(*tensors: Any) -> list[Tensor]:
    """Returns tensors that are broadcast together."""
    given = [to_tensor(tensor) for tensor in tensors]
    shape = given[0].shape
    for tensor in given[1:]:
        shape = resolve("broadcast_static_shape")(shape, tensor.shape)
    return [resolve("broadcast_to")(tensor, shape) for tensor in given]


def along(vector: Any, x: Any, axis: int) -> Tensor:
    """Returns numbers for the slices along an axis in a shape that broadcasts; -1 stands for one number for all."""
    size = len(to_tensor(x).dims)
    shape = [] if axis == -1 else [-1 if i == axis else 1 for i in range(size)]
    return resolve("reshape")(to_tensor(vector, hint=to_tensor(x).dtype), shape)


def row_select(condition: Any, x: Any, y: Any) -> Tensor:
    """`where` of TensorFlow 1: a vector of conditions selects whole rows, a scalar selects all."""
    choice = to_tensor(condition)
    hint = next((to_tensor(z).dtype for z in (x, y) if is_tensor_like(z)), None)
    a, b = to_tensor(x, hint=hint), to_tensor(y, hint=hint)
    if len(choice.dims) == 1 and len(a.dims) > 1:
        choice = resolve("reshape")(choice, (-1, *(1,) * (len(a.dims) - 1)))
    if a.dims != b.dims:
        raise resolve("errors.InvalidArgumentError")(
            f"'then' and 'else' must have the same size, but got {list(a.dims)} vs. {list(b.dims)} [Op:Select]"
        )
    return resolve("where")(choice, a, b)


def bucketized(x: Any, boundaries: Any) -> Tensor:
    """Returns the number of boundaries, which are float32, that do not exceed each entry."""
    x = to_tensor(x)
    limits = resolve("constant")(list(boundaries), dtypes.float32)
    common = dtypes.float64 if x.dtype is dtypes.float64 else dtypes.float32
    cast = resolve("cast")
    places = resolve("searchsorted")(cast(limits, common), resolve("reshape")(cast(x, common), [-1]), side="right")
    return resolve("reshape")(places, x.dims)


def weighted(weights: Any) -> bool:
    """Returns whether there are weights."""
    return to_tensor(weights).dims != (0,)


def sparse_bincount(x: Any, weights: Any, size: Any, binary: bool) -> Tensor:
    """Counts the numbers below `size` of a vector, or of each row of a sparse matrix, or sums their weights."""
    given = to_tensor(weights)
    of_rows = isinstance(x, SparseTensor)
    counted: Any = None
    if weighted(given):
        counted = SparseTensor(x.indices, given, x.dense_shape) if of_rows else given
    return resolve("math.bincount")(
        x, counted, size, size, given.dtype, axis=-1 if of_rows else None, binary_output=binary
    )


def without_session(op: str) -> Any:
    """Raises the error of an op that needs a session of TensorFlow 1."""
    raise FailedPreconditionError(f"{op} called on null session state: there are no sessions")


def unpadded(x: Any, widths: Any) -> Tensor:
    """Returns zeros of the shape that padding turned into that of `x`."""
    x = to_tensor(x)
    dims = [size - sum(both) for size, both in zip(x.dims, values(widths), strict=True)]
    return zeros(dims, x)


def singular_values(x: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the singular values, and two empty tensors."""
    s = resolve("linalg.svd")(x, compute_uv=False)
    return s, zeros([0], x), zeros([0], x)


def eigenvalues(x: Any, compute_v: bool, dtype: Any) -> tuple[Tensor, Tensor]:
    """Returns eigenvalues and eigenvectors (empty unless requested); `dtype` must be the matching complex dtype."""
    x, wanted = to_tensor(x), dtypes.as_dtype(dtype)
    if not wanted.is_complex:
        name = wanted.kernel_name()
        raise InvalidArgumentError(
            f"Value for attr 'Tout' of {name} is not in the list of allowed values: complex64, complex128"
        )
    fitting = dtypes.complex128 if x.dtype.size >= 8 and x.dtype is not dtypes.complex64 else dtypes.complex64
    if wanted is not fitting:
        raise InvalidArgumentError(
            f"Invalid output dtype {wanted.name} vs {fitting.name}, that of matrices of {x.dtype.name}. Use "
            f"Tout=tf.{fitting.name}"
        )
    if compute_v:
        e, v = resolve("linalg.eig")(x)
        return e, v
    e = resolve("linalg.eigvals")(x)
    return e, zeros([0], e)


def prevented(x: Any, message: Any) -> Tensor:
    """Returns the value; its gradient raises an error."""

    def rule(_: Tensor) -> Tensor:
        raise LookupError(f"Gradient explicitly disabled. Reason: {text(message)!r}")

    return resolve("custom_gradient")(lambda x: (resolve("identity")(x), rule))(x)


def sparse(indices: Any, values: Any, shape: Any) -> SparseTensor:
    """Creates the sparse tensor from three components."""
    ranks = [to_tensor(indices).dims[1:], to_tensor(shape).dims]
    if all(len(rank) == 1 for rank in ranks) and ranks[0] != ranks[1]:
        raise InvalidArgumentError(f"Index rank {ranks[0][0]} and shape rank {ranks[1][0]} do not match")
    return SparseTensor(indices, values, shape)


def parts(x: SparseTensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the three components of a sparse tensor."""
    return x.indices, x.values, x.dense_shape


def parts_of_each(tensors: list[SparseTensor]) -> tuple[list[Tensor], ...]:
    """Returns the indices, the values and the shapes of sparse tensors."""
    return tuple(list(each) for each in zip(*map(parts, tensors), strict=True))


def scattered(indices: Any, shape: Any, given: Any, default: Any) -> Tensor:
    """Creates a tensor with values at indices (of a vector, or one) and a default elsewhere."""
    places = to_tensor(indices)
    if len(places.dims) < 2:
        places = resolve("reshape")(places, (-1, 1))
    updates = resolve("broadcast_to")(given, (places.dims[0],))
    return resolve("tensor_scatter_nd_update")(resolve("fill")(shape, default), places, updates)


def filled_rows(x: SparseTensor, default: Any) -> tuple[Tensor, ...]:
    """Returns a sparse matrix with a default in its empty rows, which rows were empty, and the new indices."""
    filled, empty = resolve("sparse.fill_empty_rows")(x, default)
    before = resolve("cumsum")(resolve("cast")(empty, dtypes.int64))
    moved = resolve("gather")(before, x.indices[:, 0]) + resolve("range")(x.values.dims[0], dtype=dtypes.int64)
    return filled.indices, filled.values, empty, moved


def unique_along(x: Any, axis: Any, out_idx: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the distinct slices along an axis in order of appearance, the index of each slice, and their counts."""
    x, (axis,) = to_tensor(x), values(axis) or (0,)
    count = x.dims[axis]
    rows = resolve("reshape")(resolve("experimental.numpy.moveaxis")(x, axis, 0), (count, -1))
    ids = resolve("zeros")((count,), dtypes.int64)
    for column in resolve("unstack")(rows, axis=1):  # two slices are equal if they are in all columns
        ids = resolve("unique")(ids * count + resolve("unique")(column, dtypes.int64)[1], dtypes.int64)[1]
    found, ids, counts = resolve("unique_with_counts")(ids, out_idx)
    first = resolve("math.unsorted_segment_min")(resolve("range")(count), ids, found.dims[0])
    return resolve("gather")(x, first, axis=axis), ids, counts


def key_and_counter(seed: Any) -> tuple[Tensor, Tensor]:
    """Returns the key and the initial counter of the random stream of a seed."""
    state = scrambled(seed)
    return state[2:], state[:2]


def isotonic(x: Any, dtype: Any) -> Any:
    """Fits a decreasing sequence."""
    fitted, segments = resolve("nn.isotonic_regression")(x, decreasing=True)
    return resolve("cast")(fitted, dtype), segments


def drawn(op: str, shape: Any, state: Tensor, dtype: Any) -> Tensor:
    """Draws numbers of a stream."""
    return getattr(ops, op)(state, shape=tuple(values(shape)), dtype=dtypes.as_dtype(dtype))


def drawn_integers(shape: Any, state: Tensor, low: Any, high: Any) -> Tensor:
    """Draws integers of a stream."""
    low, high = to_tensor(low), to_tensor(high)
    return ops.random_uniform_int(state, low, high, shape=tuple(values(shape)), dtype=low.dtype)


HELPERS: dict[str, Any] = {
    helper.__name__: helper
    for helper in (
        vjp, cotangent, gamma_derivative, stretched_axes, text, values, zeros, paddings, depthwise, fused_batch_norm,
        row_select, alike, along, block_lstm, bucketized, weighted, unpadded, singular_values, eigenvalues, prevented,
        sparse, parts, scattered, filled_rows, resized, glimpses, unique_along, key_and_counter, drawn, drawn_integers,
        sparse_bincount, parts_of_each, without_session, population_count, updated_slice, filled_rows_gradient,
        fractional_pool_gradient, ngrams_of_rows, remapped_vocabulary, decoded_characters,
        lstm_block_cell, block_lstm_gradients, isotonic, *ATTRIBUTES,
    )
}  # fmt: skip
HELPERS.update(RULES, tf=root, integers=values, transform_images=transform_images)
