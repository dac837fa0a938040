"""Determinants, diagonals, eigenvalues and the dense matrix of operators, and assertions about them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....engine.run.convert import to_tensor
from .....engine.run.namespace import ops
from .....ops.elementwise.transcendental import exp, log
from ....arrays.creation import eye
from ....debugging.checks import assert_equal, assert_less, assert_positive
from ....math.reductions import reduce_max, reduce_min, reduce_sum
from ...decompositions import cholesky, eigvalsh, svd
from ...solvers import det, slogdet
from ...structure import adjoint, diag_part
from .shapes import Shapes


class Checks(Shapes):
    """`assert_non_singular` and similar methods, with the dense matrix unless a subclass overrides them."""

    def to_dense(self, name: str = "to_dense") -> Any:
        """Returns the dense matrix."""
        raise NotImplementedError

    def _can_use_cholesky(self) -> Any:
        return self.is_self_adjoint and self.is_positive_definite

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """Raises `InvalidArgumentError` if the operator is singular."""
        return self._assert_non_singular()

    def _assert_non_singular(self) -> Any:
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        values = svd(self.to_dense(), compute_uv=False)
        condition = reduce_max(values, axis=-1) / reduce_min(values, axis=-1)
        size = max(100.0, self.range_dimension, self.domain_dimension)
        epsilon = size * np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps
        return assert_less(condition, 1.0 / epsilon, message="Singular matrix up to precision epsilon.")

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """Raises `InvalidArgumentError` if the operator is not positive definite."""
        return self._assert_positive_definite()

    def _assert_positive_definite(self) -> Any:
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented: say is_self_adjoint=True if it is.")
        return assert_positive(diag_part(cholesky(self.to_dense())), message="Matrix was not positive definite.")

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        """Raises `InvalidArgumentError` if the operator is not its own adjoint."""
        return self._assert_self_adjoint()

    def _assert_self_adjoint(self) -> Any:
        dense = self.to_dense()
        return assert_equal(dense, adjoint(dense), message="Matrix was not equal to its adjoint.")


class Numbers(Checks):
    """Numeric properties of an operator, computed from the dense matrix unless a subclass overrides them."""

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """Returns `A x`."""
        raise NotImplementedError

    def _check_input_dtype(self, arg: Any) -> None:
        if arg.dtype is not self.dtype:
            raise TypeError(f"Expected argument to have dtype {self.dtype}.  Found: {arg.dtype} in tensor {arg}")

    def determinant(self, name: str = "det") -> Any:
        """Returns the determinant of each matrix."""
        self._check_has_determinant()
        return self._determinant()

    def _determinant(self) -> Any:
        return exp(self.log_abs_determinant()) if self._can_use_cholesky() else det(self.to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """Returns the logarithm of the absolute determinant."""
        self._check_has_determinant()
        return self._log_abs_determinant()

    def _log_abs_determinant(self) -> Any:
        if self._can_use_cholesky():
            return reduce_sum(log(diag_part(cholesky(self.to_dense()))), axis=-1) * 2
        return slogdet(self.to_dense())[1]

    def _check_has_determinant(self) -> None:
        if self.is_square is False:
            raise NotImplementedError("Determinant not implemented for an operator that is expected to not be square.")

    def to_dense(self, name: str = "to_dense") -> Any:
        """Returns the dense matrix."""
        return self._to_dense()

    def _to_dense(self) -> Any:
        return self.matmul(eye(self.domain_dimension, batch_shape=self.batch_shape, dtype=self.dtype))

    def diag_part(self, name: str = "diag_part") -> Any:
        """Returns the diagonal."""
        return self._diag_part()

    def _diag_part(self) -> Any:
        return diag_part(self.to_dense())

    def trace(self, name: str = "trace") -> Any:
        """Returns the sum of the diagonal."""
        return self._trace()

    def _trace(self) -> Any:
        return reduce_sum(self.diag_part(), axis=-1)

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Any:
        """Returns `A + x` as a tensor."""
        x = to_tensor(x, hint=self.dtype)
        self._check_input_dtype(x)
        return self._add_to_tensor(x)

    def _add_to_tensor(self, x: Any) -> Any:
        return self.to_dense() + x

    def eigvals(self, name: str = "eigvals") -> Any:
        """Returns the eigenvalues of a self-adjoint operator."""
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()

    def _eigvals(self) -> Any:
        return eigvalsh(self.to_dense())

    def cond(self, name: str = "cond") -> Any:
        """Returns the condition number: the largest singular value divided by the smallest."""
        return self._cond()

    def _cond(self) -> Any:
        values = ops.abs(self._eigvals()) if self.is_self_adjoint else svd(self.to_dense(), compute_uv=False)
        return reduce_max(values, axis=-1) / reduce_min(values, axis=-1)
