"""`SparseTensor`: the explicit elements of a tensor in coordinate (COO) format."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes, errors
from ..core.composites import EagerComposite
from ..core.dtypes import DType
from ..core.protocols import Attrs
from ..core.shapes import TensorShape
from ..core.tensor import Tensor, is_tensor_like
from ..core.tracebacks import bounded
from ..engine.registry.op import Op
from ..engine.run.convert import to_tensor
from ..engine.run.namespace import ops

# The unary functions that TensorFlow applies to the values of a sparse tensor.
_MAPPED = {
    "abs", "asin", "asinh", "atan", "atanh", "bessel_i0e", "bessel_i1e", "erf", "neg", "sign", "sin", "sqrt", "square",
    "tan", "tanh",
}  # fmt: skip


class SparseTensorValue(NamedTuple):
    """The three components of a sparse tensor as NumPy arrays."""

    indices: Any
    values: Any
    dense_shape: Any


SparseTensorValue.__module__ = "gradtape.compat.v1"


def _static_shape(dense_shape: Tensor) -> TensorShape:
    """Returns the shape, whose sizes are partly unknown in a scratch graph."""
    if hasattr(dense_shape, "static_values"):
        return TensorShape(dense_shape.static_values)
    return TensorShape([None if n < 0 else int(n) for n in dense_shape.array])


@bounded
class SparseTensor(EagerComposite):
    """A tensor of shape `dense_shape` with `dense[indices[i]] = values[i]`; all other elements are implicit.

    Tapes do not accept it as a target or a source; its `values` are an ordinary tensor.

    >>> s = tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[2, 3])
    >>> tf.sparse.to_dense(s).numpy().tolist()
    [[1, 0, 0], [0, 0, 2]]
    """

    __module__ = "gradtape.sparse"

    __slots__ = ("__dict__", "__weakref__", "_batch_sizes", "_dense_shape", "_indices", "_shape", "_values")

    _batch_sizes: tuple[int, ...]  # of the batches that `Dataset.batch` combined; unset otherwise

    def __init__(self, indices: object, values: object, dense_shape: object) -> None:
        self._indices = to_tensor(indices, dtypes.int64)
        self._values = to_tensor(values)
        self._dense_shape = to_tensor(dense_shape, dtypes.int64)
        count, rank = self._indices.shape.with_rank(2)
        (given,) = self._values.shape.with_rank(1)
        (sizes,) = self._dense_shape.shape.with_rank(1)
        if count != given:
            raise ValueError(
                f"Dimensions {count} and {given} are not compatible: there must be as many rows of indices as values"
            )
        if rank != sizes:
            raise ValueError(
                f"Dimensions {rank} and {sizes} are not compatible: a row of indices must be as long as dense_shape"
            )
        self._shape = _static_shape(self._dense_shape)

    @classmethod
    def from_value(cls, sparse_tensor_value: object) -> SparseTensor:
        """Create a SparseTensor from another one or from a SparseTensorValue."""
        if isinstance(sparse_tensor_value, SparseTensorValue):
            return cls(*sparse_tensor_value)
        if not isinstance(sparse_tensor_value, SparseTensor):
            raise TypeError(
                f"Argument sparse_tensor_value={sparse_tensor_value} is neither a SparseTensor nor SparseTensorValue."
            )
        return cls(*sparse_tensor_value._parts())

    @property
    def indices(self) -> Tensor:
        """The coordinates of the values, one row each."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The values, one per row of the indices."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape of the dense tensor, as a tensor."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The static shape of the dense tensor."""
        return self._shape

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape of the dense tensor as a plain tuple."""
        if self._shape.is_fully_defined():
            return tuple(self._shape)  # type: ignore[arg-type]
        return tuple(int(n) for n in self._dense_shape.array)

    def get_shape(self) -> TensorShape:
        """Same as `shape`."""
        return self._shape

    def set_shape(self, shape: object) -> None:
        """Merge `shape` into the static shape; raise `ValueError` if they are incompatible."""
        self._shape = self._shape.merge_with(shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype

    def with_values(self, new_values: object) -> SparseTensor:
        """Returns a SparseTensor with other values at the same coordinates."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def __mul__(self, y: object) -> SparseTensor:
        """Multiply the values elementwise by a dense tensor, broadcast to this shape."""
        return self.with_values(self._values * self._beside(to_tensor(y, None if is_tensor_like(y) else self.dtype)))

    def __rmul__(self, y: object) -> Any:
        return self * y if isinstance(y, Tensor) else NotImplemented

    def __truediv__(self, y: object) -> SparseTensor:
        """Divide the values elementwise by a dense tensor, broadcast to this shape."""
        divisor = self._beside(to_tensor(y, None if is_tensor_like(y) else self.dtype))
        if type(divisor) is Tensor and not np.all(divisor.array):
            raise errors.InvalidArgumentError(
                f"SparseDenseCwiseDiv cannot divide by zero, but at places of the sparse tensor stands {divisor.array}"
            )
        return self.with_values(self._values / divisor)

    def _beside(self, dense: Tensor) -> Tensor:
        """Gather the elements of a dense tensor, broadcast to this shape, at this tensor's coordinates."""
        if not dense.dims:
            return dense
        mine, its = self.dims[len(self.dims) - len(dense.dims) :], dense.dims
        if len(mine) != len(its) or any(b not in (a, 1) for a, b in zip(mine, its, strict=True)):
            raise errors.InvalidArgumentError(
                "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
                f"{list(self.dims)} vs. {list(its)}"
            )
        axes = [i for i, n in enumerate(its) if n != 1]
        flat = places(self, [len(self.dims) - len(its) + i for i in axes])
        return ops.gather(ops.reshape(dense, shape=(math.prod(its),)), flat, axis=0, batch=0)

    def _mapped(self, op: Op, values: Sequence[object], attrs: Attrs) -> Any:
        """Apply a unary op to the values; NotImplemented if TensorFlow does not support it on sparse tensors."""
        if len(values) > 1 or op.name not in _MAPPED:
            return NotImplemented
        return self.with_values(op.call(self._values, **attrs))

    def _shape_invariant_to_type_spec(self, shape: object) -> Any:
        return type(self._type_spec)(shape, self.dtype)

    def _parts(self) -> list[Any]:
        return [self._indices, self._values, self._dense_shape]

    def _with_parts(self, parts: Sequence[Any]) -> SparseTensor:
        return SparseTensor(*parts)

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s})"


def places(s: SparseTensor, axes: Sequence[int] | None = None) -> Tensor:
    """The position of each value in the flattened dense tensor; with `axes`, in one that has these axes only."""
    dims = s.dims
    indices = s.indices
    if axes is not None:
        dims = tuple(dims[i] for i in axes)
        indices = columns(indices, axes)
    check_countable(dims)
    return ops.ravel_index(indices, dims=dims)


def check_countable(dims: Sequence[int]) -> None:
    """Raises unless int64 can count the places of a dense tensor of this shape."""
    if math.prod(dims) >= 2**63:
        raise errors.InvalidArgumentError(f"a tensor of shape {list(dims)} has more places than int64 can count")


def columns(indices: Tensor, axes: Sequence[int]) -> Tensor:
    """The coordinates along these axes."""
    return ops.gather(indices, to_tensor(np.array(axes, np.int64)), axis=1, batch=0)


def coordinates(flat: Tensor, dims: tuple[int, ...]) -> Tensor:
    """Invert `places`: the coordinates of positions in the flattened tensor, one row each."""
    strides = np.array([math.prod(dims[i + 1 :]) for i in range(len(dims))], np.int64)
    column = ops.reshape(flat, shape=(*flat.dims, 1))
    return ops.mod(ops.floordiv(column, to_tensor(strides)), to_tensor(np.array(dims, np.int64)))


def made_sparse(value: object) -> Any:
    """Convert a SparseTensorValue to a SparseTensor; return other values as is."""
    return SparseTensor(*value) if isinstance(value, SparseTensorValue) else value
