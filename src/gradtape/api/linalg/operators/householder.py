"""Reflections and permutations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core import errors
from ....core.dtypes import float32
from ....core.shapes import TensorShape
from ....engine.run.convert import to_tensor
from ....ops.elementwise.logic import equal
from ...arrays.casting import cast
from ...arrays.concat import concat
from ...arrays.conversion import get_static_value
from ...arrays.creation import eye, ones, zeros
from ...arrays.indexing import gather
from ...arrays.repeating import broadcast_to
from ...math.complex import conj
from ...math.contraction import matmul
from ...math.reductions import l2_normalize
from ...math.sorting import argsort
from ..structure import adjoint as adjoint_of
from .basis.base import LinearOperator
from .basis.support import broadcast, given, implied, operand

NAMESPACES = ("linalg",)
__all__ = ["LinearOperatorHouseholder", "LinearOperatorPermutation"]


class LinearOperatorHouseholder(LinearOperator):
    """The reflection at the hyperplane orthogonal to `reflection_axis`.

    >>> tf.linalg.LinearOperatorHouseholder([2.0, 0.0]).matvec([1.0, 1.0]).numpy().tolist()
    [-1.0, 1.0]
    """

    __module__ = "gradtape.linalg"

    _composite_tensor_fields = ("reflection_axis",)
    _experimental_parameter_ndims_to_matrix_ndims = {"reflection_axis": 1}  # noqa: RUF012

    def __init__(
        self,
        reflection_axis: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        parameters = given(locals())
        self._reflection_axis = operand(reflection_axis)
        if self._reflection_axis.shape.rank is not None and self._reflection_axis.shape.rank < 1:
            raise ValueError(
                f"Argument reflection_axis must have at least 1 dimension.  Found: {self._reflection_axis}"
            )
        is_self_adjoint = implied(is_self_adjoint, True, "A Householder operator is always self adjoint.")
        if is_positive_definite:
            raise ValueError("A Householder operator is always non-positive definite.")
        is_square = implied(is_square, True, "A Householder operator is always square.")
        super().__init__(
            self._reflection_axis.dtype, None, is_non_singular, is_self_adjoint, False, is_square, name, parameters
        )

    @property
    def reflection_axis(self) -> Any:
        """The axis, of any length."""
        return self._reflection_axis

    def _shape(self) -> TensorShape:
        shape = self._reflection_axis.shape
        return shape.concatenate(shape[-1:])  # type: ignore[no-any-return]

    def _unit(self) -> Any:
        return l2_normalize(to_tensor(self._reflection_axis), axis=-1)

    def _linop_adjoint(self) -> Any:
        return self

    _linop_inverse = _linop_adjoint

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        column = self._unit()[..., None]
        return x - 2 * column * matmul(column, x, adjoint_a=True)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _to_dense(self) -> Any:
        column = self._unit()[..., None]
        return eye(self.domain_dimension, dtype=self.dtype) - matmul(column, column, adjoint_b=True) * 2

    def _diag_part(self) -> Any:
        unit = self._unit()
        return 1.0 - 2 * unit * conj(unit)

    def _trace(self) -> Any:
        return cast(self.domain_dimension - 2, self.dtype) * ones(self.batch_shape, self.dtype)

    def _determinant(self) -> Any:
        return -ones(self.batch_shape, self.dtype)

    def _log_abs_determinant(self) -> Any:
        return zeros(self.batch_shape, self.dtype)

    def _cond(self) -> Any:
        return ones(self.batch_shape, self.dtype)

    def _eigvals(self) -> Any:
        others = ones(self.batch_shape.concatenate([self.domain_dimension - 1]), self.dtype)
        return concat([-ones(self.batch_shape.concatenate([1]), self.dtype), others], axis=-1)

    def _assert_non_singular(self) -> Any:
        return None

    _assert_self_adjoint = _assert_non_singular

    def _assert_positive_definite(self) -> Any:
        raise errors.InvalidArgumentError("Householder operators are always non-positive definite.")


class LinearOperatorPermutation(LinearOperator):
    """The permutation that moves entry `perm[i]` to position `i`.

    >>> tf.linalg.LinearOperatorPermutation([2, 0, 1]).matvec([10.0, 20.0, 30.0]).numpy().tolist()
    [30.0, 10.0, 20.0]
    """

    __module__ = "gradtape.linalg"

    _composite_tensor_fields = ("perm", "dtype")
    _experimental_parameter_ndims_to_matrix_ndims = {"perm": 1}  # noqa: RUF012

    def __init__(
        self,
        perm: Any,
        dtype: Any = float32,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorPermutation",
    ) -> None:
        parameters = given(locals())
        self._perm = operand(perm)
        if self._perm.shape.rank is not None and self._perm.shape.rank < 1:
            raise ValueError(f"Argument `perm` must have at least 1 dimension. Received: {self._perm}.")
        if not self._perm.dtype.is_integer:
            raise TypeError(f"Argument `perm` must be integer dtype. Received: {self._perm}.")
        if is_non_singular is False:
            raise ValueError(
                "A Permutation operator is always non-singular. Expected argument `is_non_singular` to be True. "
                f"Received: {is_non_singular}."
            )
        is_square = implied(
            is_square, True,
            "A Permutation operator is always square. Expected argument `is_square` to be True. Received: "
            f"{is_square}.",
        )  # fmt: skip
        _check_permutation(self._perm)
        super().__init__(
            dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name, parameters
        )

    @property
    def perm(self) -> Any:
        """The permutation."""
        return self._perm

    def _shape(self) -> TensorShape:
        shape = self._perm.shape
        return shape.concatenate(shape[-1:])  # type: ignore[no-any-return]

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        perm = to_tensor(self._perm)
        perm = argsort(perm, axis=-1) if adjoint and not self.is_self_adjoint else perm
        shape = broadcast(x.shape[:-1], perm.shape)
        x = broadcast_to(x, shape.concatenate(x.shape[-1:]))
        return gather(x, broadcast_to(perm, shape), axis=-2, batch_dims=len(shape) - 1)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _assert_non_singular(self) -> Any:
        return None

    def _log_abs_determinant(self) -> Any:
        return zeros(self.batch_shape, self.dtype)

    def _cond(self) -> Any:
        return ones(self.batch_shape, self.dtype)

    def _to_dense(self) -> Any:
        perm = to_tensor(self._perm)
        return cast(equal(cast(np.arange(self.domain_dimension), perm.dtype), perm[..., None]), self.dtype)

    def _diag_part(self) -> Any:
        perm = to_tensor(self._perm)
        return cast(equal(cast(np.arange(self.domain_dimension), perm.dtype), perm), self.dtype)


def _check_permutation(perm: Any) -> None:
    """Raises an error if a statically known value is not a permutation; traced values are not checked."""
    known = get_static_value(perm)
    if known is not None and (np.sort(known, axis=-1) != np.arange(known.shape[-1])).any():
        raise ValueError(f"Argument `perm` must be a vector of unique integers from 0 to {known.shape[-1] - 1}.")
