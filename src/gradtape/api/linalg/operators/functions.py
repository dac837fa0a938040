"""TensorFlow's matrix functions on operators: `tf.matmul(operator, x)` is `operator.matmul(x)`."""

from __future__ import annotations

from typing import Any

from ...experimental.dispatch import dispatch_for_api
from ...namespace import resolve
from ..structure import adjoint
from .basis.base import LinearOperator


@dispatch_for_api(resolve("linalg.adjoint"), {"matrix": LinearOperator})
def _adjoint(matrix: Any, name: Any = None) -> Any:
    return matrix.adjoint()


@dispatch_for_api(resolve("linalg.cholesky"), {"input": LinearOperator})
def _cholesky(input: Any, name: Any = None) -> Any:
    return input.cholesky()


@dispatch_for_api(resolve("linalg.diag_part"), {"input": LinearOperator})
def _diag_part(
    input: Any, name: Any = "diag_part", k: Any = 0, padding_value: Any = 0, align: Any = "RIGHT_LEFT"
) -> Any:
    return input.diag_part()


@dispatch_for_api(resolve("linalg.det"), {"input": LinearOperator})
def _det(input: Any, name: Any = None) -> Any:
    return input.determinant()


@dispatch_for_api(resolve("linalg.inv"), {"input": LinearOperator})
def _inv(input: Any, adjoint: Any = False, name: Any = None) -> Any:
    found = input.inverse()
    return found.adjoint() if adjoint else found


@dispatch_for_api(resolve("linalg.logdet"), {"matrix": LinearOperator})
def _logdet(matrix: Any, name: Any = None) -> Any:
    if matrix.is_positive_definite and matrix.is_self_adjoint:
        return matrix.log_abs_determinant()
    raise ValueError("Expected matrix to be self-adjoint positive definite.")


@dispatch_for_api(resolve("linalg.matmul"), {"a": LinearOperator}, {"b": LinearOperator})
def _matmul(*args: Any, **kwargs: Any) -> Any:
    names = ("a", "b", "transpose_a", "transpose_b", "adjoint_a", "adjoint_b", "a_is_sparse", "b_is_sparse")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    if given.get("transpose_a") or given.get("transpose_b"):
        raise ValueError("Transposing not supported at this time.")
    if given.get("a_is_sparse") or given.get("b_is_sparse"):
        raise ValueError("Sparse methods not supported at this time.")
    a, b, adjoint_a, adjoint_b = given["a"], given["b"], given.get("adjoint_a", False), given.get("adjoint_b", False)
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b)
    return adjoint(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a))


@dispatch_for_api(resolve("linalg.matvec"), {"a": LinearOperator})
def _matvec(
    a: Any, b: Any, transpose_a: Any = False, adjoint_a: Any = False, a_is_sparse: Any = False,
    b_is_sparse: Any = False, name: Any = None,
) -> Any:  # fmt: skip
    if transpose_a:
        raise ValueError("Transposing not supported at this time.")
    return a.matvec(b, adjoint=adjoint_a)


@dispatch_for_api(resolve("linalg.solve"), {"matrix": LinearOperator}, {"rhs": LinearOperator})
def _solve(matrix: Any, rhs: Any, adjoint: Any = False, name: Any = None) -> Any:
    if not isinstance(matrix, LinearOperator):
        raise ValueError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.")
    return matrix.solve(rhs, adjoint=adjoint)


@dispatch_for_api(resolve("linalg.trace"), {"x": LinearOperator})
def _trace(x: Any, name: Any = None) -> Any:
    return x.trace()
