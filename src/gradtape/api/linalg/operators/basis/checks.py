"""Run-time assertions about operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....debugging.checks import assert_equal, assert_less, assert_positive
from ....math.reductions import reduce_max, reduce_min
from ...decompositions import cholesky, svd
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
