"""Circulant matrices: convolutions, diagonal in the Fourier basis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.dtypes import as_dtype, complex64
from ....core.shapes import TensorShape
from ....core.tensor import Tensor
from ....engine.run.convert import to_tensor
from ....engine.run.namespace import ops
from ....ops.elementwise.arithmetic import absolute as modulus
from ....ops.elementwise.transcendental import log
from ...arrays.casting import cast
from ...arrays.creation import ones
from ...arrays.shaping import transpose
from ...debugging.checks import assert_less, assert_positive
from ...math.complex import conj, imag, real
from ...math.reductions import reduce_max, reduce_min, reduce_prod, reduce_sum
from ...signal.fourier import fft, fft2d, fft3d, ifft, ifft2d, ifft3d
from ..structure import adjoint as adjoint_of
from .basis.base import LinearOperator
from .basis.support import (
    as_complex,
    assert_nowhere_zero,
    assert_real,
    both_non_singular,
    both_positive_definite,
    both_self_adjoint,
    given,
    implied,
    operand,
)
from .identity import with_batch

NAMESPACES = ("linalg",)
__all__ = ["LinearOperatorCirculant", "LinearOperatorCirculant2D", "LinearOperatorCirculant3D"]

_TRANSFORMS: dict[int, Callable[[Any], Any]] = {1: fft, 2: fft2d, 3: fft3d}
_INVERSES: dict[int, Callable[[Any], Any]] = {1: ifft, 2: ifft2d, 3: ifft3d}


class _Circulant(LinearOperator):
    """`F⁻¹ diag(spectrum) F`, where `F` is the Fourier transform over the last `block_depth` axes of the spectrum."""

    _composite_tensor_fields = ("spectrum", "input_output_dtype")
    _depth = 1

    def _begin(self, spectrum: Any, dtype: Any, hints: Any, is_square: Any, name: str, parameters: Any) -> None:
        self._spectrum = operand(spectrum)
        if self._spectrum.shape.rank is not None and self._spectrum.shape.rank < self._depth:
            raise ValueError(
                f"Argument `spectrum` must have at least {self._depth} dimensions. Received: {self._spectrum}."
            )
        non_singular, self_adjoint, positive_definite = hints
        self_adjoint = implied(
            self_adjoint, not self._spectrum.dtype.is_complex,
            "A real spectrum always corresponds to a self-adjoint operator. Expected argument `is_self_adjoint` to be "
            f"True when `spectrum.dtype.is_complex` = True. Received: {self_adjoint}.",
        )  # fmt: skip
        square = implied(
            is_square, True,
            "A [[nested] block] circulant operator is always square. Expected argument `is_square` to be True. "
            f"Received: {is_square}.",
        )  # fmt: skip
        LinearOperator.__init__(
            self, as_dtype(dtype), None, non_singular, self_adjoint, positive_definite, square, name, parameters
        )

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> Any:  # type: ignore[override]
        return {"spectrum": self._depth}

    @property
    def block_depth(self) -> int:
        """The number of axes of a block: 1, 2 or 3."""
        return self._depth

    @property
    def spectrum(self) -> Any:
        """The Fourier transform of the convolution kernel."""
        return self._spectrum

    @property
    def input_output_dtype(self) -> Any:
        """The dtype of arguments and results."""
        return self.dtype

    @property
    def block_shape(self) -> TensorShape:
        """The shape of a block."""
        return self._spectrum.shape[-self._depth :]  # type: ignore[no-any-return]

    def block_shape_tensor(self) -> Tensor:
        """Returns the shape of a block as a tensor."""
        return to_tensor(np.array(self.block_shape.as_list(), np.int32))

    def _shape(self) -> TensorShape:
        count = math.prod(n or 0 for n in self.block_shape.as_list())
        return self._spectrum.shape[: -self._depth].concatenate([count, count])  # type: ignore[no-any-return]

    def convolution_kernel(self, name: str = "convolution_kernel") -> Any:
        """Returns the first column, as a block."""
        return cast(_INVERSES[self._depth](as_complex(self._spectrum)), self.dtype)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """Raises `InvalidArgumentError` unless the matrix is real."""
        bound = np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps * self.domain_dimension
        kernel = _INVERSES[self._depth](as_complex(self._spectrum))
        return assert_less(modulus(imag(kernel)), cast(bound, imag(kernel).dtype), message="Spectrum was not Hermitian")

    def _applied(self, x: Any, factor: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        """Multiplies `x` by the matrix with the spectrum `factor(spectrum)`."""
        x = with_batch(as_complex(adjoint_of(x) if adjoint_arg else x), self.batch_shape)
        spectrum = as_complex(self._spectrum)
        spectrum = cast(conj(spectrum) if adjoint else spectrum, x.dtype)
        columns = _rotate_axes(x, 1)  # the columns as the first axis
        blocks = ops.reshape(columns, shape=(*columns.dims[:-1], *self.block_shape.as_list()))
        found = _INVERSES[self._depth](factor(_TRANSFORMS[self._depth](blocks), spectrum))
        flat = ops.reshape(found, shape=(*found.dims[: -self._depth], self.domain_dimension))
        return cast(_rotate_axes(flat, -1), self.dtype)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._applied(x, lambda transform, spectrum: spectrum * transform, adjoint, adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._applied(rhs, lambda transform, spectrum: transform / spectrum, adjoint, adjoint_arg)

    def _like(self, spectrum: Any, **hints: Any) -> Any:
        kind: Any = type(self)
        return kind(spectrum, input_output_dtype=self.dtype, is_square=True, **hints)

    def _linop_adjoint(self) -> Any:
        spectrum = to_tensor(self._spectrum)
        return self._like(conj(spectrum) if spectrum.dtype.is_complex else spectrum, **self._hints())

    def _linop_inverse(self) -> Any:
        return self._like(1.0 / self._spectrum, **self._hints())

    def _with_other(self, other: Any, spectrum: Any) -> Any:
        return self._like(
            spectrum, is_non_singular=both_non_singular(self, other), is_self_adjoint=both_self_adjoint(self, other),
            is_positive_definite=both_positive_definite(self, other),
        )  # fmt: skip

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        if type(right_operator) is not type(left_operator):
            return super()._linop_matmul(left_operator, right_operator)
        return left_operator._with_other(right_operator, left_operator.spectrum * right_operator.spectrum)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        if type(right_operator) is not type(left_operator):
            return super()._linop_solve(left_operator, right_operator)
        return left_operator._with_other(right_operator, right_operator.spectrum / left_operator.spectrum)

    def _assert_non_singular(self) -> Any:
        return assert_nowhere_zero(self._spectrum, "Singular operator:  Spectrum contained zero values.")

    def _assert_positive_definite(self) -> Any:
        return assert_positive(
            real(self._spectrum), message="Not positive definite:  Real part of spectrum was not all positive."
        )

    def _assert_self_adjoint(self) -> Any:
        return assert_real(
            self._spectrum, "Not self-adjoint:  The spectrum contained non-zero imaginary part."
        )

    @property
    def _block_axes(self) -> list[int]:
        return list(range(-self._depth, 0))

    def _determinant(self) -> Any:
        return cast(reduce_prod(self._spectrum, axis=self._block_axes), self.dtype)

    def _log_abs_determinant(self) -> Any:
        return cast(reduce_sum(log(modulus(self._spectrum)), axis=self._block_axes), self.dtype)

    def _trace(self) -> Any:
        return cast(reduce_sum(self._spectrum, axis=self._block_axes), self.dtype)

    def _diag_part(self) -> Any:
        entry = self.trace() / cast(self.domain_dimension, self.dtype)
        return entry[..., None] * ones(self.shape[:-1], self.dtype)

    def _flat_spectrum(self) -> Any:
        spectrum = to_tensor(self._spectrum)
        return ops.reshape(spectrum, shape=(*spectrum.dims[: -self._depth], self.domain_dimension))

    def _eigvals(self) -> Any:
        return self._flat_spectrum()

    def _cond(self) -> Any:
        values = modulus(self._flat_spectrum())
        return reduce_max(values, axis=-1) / reduce_min(values, axis=-1)


def _rotate_axes(x: Any, shift: int) -> Any:
    """Rotates the axes: 1 moves the last to the front, -1 the first to the end."""
    axes = list(range(len(x.dims)))
    return transpose(x, axes[-1:] + axes[:-1] if shift == 1 else axes[1:] + axes[:1])


class LinearOperatorCirculant(_Circulant):
    """A matrix in which each column is the previous one shifted down by one: a circular convolution.

    >>> spectrum = tf.signal.fft(tf.constant([1.0, 2.0, 0.0], tf.complex64))
    >>> tf.linalg.LinearOperatorCirculant(spectrum, input_output_dtype=tf.float32).to_dense().numpy().round(3).tolist()
    [[1.0, 0.0, 2.0], [2.0, 1.0, 0.0], [0.0, 2.0, 1.0]]
    """

    __module__ = "gradtape.linalg"

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant",
    ) -> None:
        parameters = given(locals())
        hints = (is_non_singular, is_self_adjoint, is_positive_definite)
        self._begin(spectrum, input_output_dtype, hints, is_square, name, parameters)


class LinearOperatorCirculant2D(_Circulant):
    """A circulant matrix of circulant blocks: a convolution on a torus.

    >>> operator = tf.linalg.LinearOperatorCirculant2D([[1.0, 2.0], [3.0, 4.0]])
    >>> operator.shape.as_list(), operator.block_shape.as_list(), float(tf.math.real(operator.determinant()))
    ([4, 4], [2, 2], 24.0)
    """

    __module__ = "gradtape.linalg"

    _depth = 2

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant2D",
    ) -> None:
        parameters = given(locals())
        hints = (is_non_singular, is_self_adjoint, is_positive_definite)
        self._begin(spectrum, input_output_dtype, hints, is_square, name, parameters)


class LinearOperatorCirculant3D(_Circulant):
    """A circulant matrix of `LinearOperatorCirculant2D` blocks.

    >>> tf.linalg.LinearOperatorCirculant3D(tf.ones([2, 2, 2])).shape.as_list()
    [8, 8]
    """

    __module__ = "gradtape.linalg"

    _depth = 3

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant3D",
    ) -> None:
        parameters = given(locals())
        hints = (is_non_singular, is_self_adjoint, is_positive_definite)
        self._begin(spectrum, input_output_dtype, hints, is_square, name, parameters)
