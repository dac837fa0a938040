"""Static properties of operators: hints, dtype, shape, dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .....core import dtypes
from .....core.dtypes import DType, as_dtype
from .....core.scopes import name_scope
from .....core.shapes import TensorShape
from .....core.tensor import Tensor
from .....engine.run.convert import to_tensor
from .....graph.trace.scratch import SymbolicTensor


class Shapes:
    """Hints, dtype, shape and dimensions of an operator; a subclass defines `_shape()`."""

    _dtype: Any
    _name: str
    _parameters: Any
    _is_non_singular: bool | None
    _is_self_adjoint: bool | None
    _is_positive_definite: bool | None
    _is_square_set_or_implied_by_hints: bool | None

    def _set_hints(self, non_singular: Any, self_adjoint: Any, positive_definite: Any, square: Any) -> None:
        if positive_definite:
            if non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            non_singular = True
        if non_singular:
            if square is False:
                raise ValueError("A non-singular matrix is always square.")
            square = True
        if self_adjoint:
            if square is False:
                raise ValueError("A self-adjoint matrix is always square.")
            square = True
        self._is_non_singular = non_singular
        self._is_self_adjoint = self_adjoint
        self._is_positive_definite = positive_definite
        self._is_square_set_or_implied_by_hints = square

    def _name_scope(self, name: str | None = None) -> Any:
        return name_scope(self.name if name is None else f"{self.name}/{name}")

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return dict(self._parameters or {})

    @property
    def dtype(self) -> DType:
        """The dtype of the entries."""
        return self._dtype  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        """The name given, or the name of the class."""
        return self._name

    @property
    def graph_parents(self) -> list[Any]:
        """Always empty: TensorFlow no longer uses them."""
        return []

    @property
    def is_non_singular(self) -> bool | None:
        """Whether the operator is invertible; None if unknown."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether the operator is self-adjoint; None if unknown."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether the real part of xᴴ A x is positive for x ≠ 0; None if unknown."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether the operator has as many rows as columns."""
        square = self.domain_dimension == self.range_dimension
        hint = self._is_square_set_or_implied_by_hints
        if hint is False and square:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return square if hint is None else hint

    def _shape(self) -> TensorShape:
        raise NotImplementedError("_shape is not implemented.")

    @property
    def shape(self) -> TensorShape:
        """`[..., rows, columns]`."""
        return self._shape()

    def _present_shape(self) -> TensorShape:
        """Returns the shape; sizes that a variable leaves open are those of its current value."""
        return self.shape if self.shape.is_fully_defined() else _of_present_values(self).shape

    def _sizes(self, select: Callable[[Any], Any]) -> Tensor:
        """Returns the sizes that `select` takes from the shape; those of symbolic tensors are symbolic."""
        shape = self._present_shape()
        symbolic = None if shape.is_fully_defined() else _find_symbolic(self)
        if symbolic is None:
            return _int32(select(shape))
        kind = type(self)
        return symbolic.trace.for_examples(lambda given: kind(**given)._sizes(select), (self.parameters,), {})

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """Returns the shape as a tensor."""
        return self._sizes(TensorShape.as_list)

    @property
    def batch_shape(self) -> TensorShape:
        """The shape without rows and columns."""
        return self.shape[:-2]  # type: ignore[return-value]

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """Returns the batch shape as a tensor."""
        return self._sizes(lambda shape: shape[:-2].as_list())

    @property
    def tensor_rank(self) -> int | None:
        """The number of axes, including rows and columns."""
        return self.shape.rank

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """Returns the number of axes as a tensor."""
        return _int32(self._present_shape().rank)

    @property
    def domain_dimension(self) -> Any:
        """The number of columns."""
        return self.shape[-1]

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """Returns the number of columns as a tensor."""
        return self._sizes(lambda shape: shape[-1])

    @property
    def range_dimension(self) -> Any:
        """The number of rows."""
        return self.shape[-2]

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """Returns the number of rows as a tensor."""
        return self._sizes(lambda shape: shape[-2])

    def _batch_shape_tensor(self, shape: Any = None) -> Tensor:
        return self.batch_shape_tensor()

    def _domain_dimension_tensor(self, shape: Any = None) -> Tensor:
        return self.domain_dimension_tensor()

    def _range_dimension_tensor(self, shape: Any = None) -> Tensor:
        return self.range_dimension_tensor()

    def _set_dtype(self, dtype: Any) -> None:
        self._dtype = None if dtype is None else as_dtype(dtype)


def _int32(value: Any) -> Tensor:
    return to_tensor(value, dtypes.int32)


def _find_symbolic(value: Any) -> SymbolicTensor | None:
    """Returns a tensor of a scratch graph that an operator or one of its component operators holds, if there is one."""
    if isinstance(value, Shapes):
        return _find_symbolic(list(value.parameters.values()))
    if isinstance(value, list | tuple):
        return next((found for each in value if (found := _find_symbolic(each)) is not None), None)
    return value if isinstance(value, SymbolicTensor) else None


def _of_present_values(value: Any) -> Any:
    """Returns the operator with tensors in place of its variables and those of its component operators."""
    if isinstance(value, list | tuple):
        return [_of_present_values(each) for each in value]
    if isinstance(value, Shapes):
        return type(value)(**{name: _of_present_values(each) for name, each in value.parameters.items()})
    return to_tensor(value) if hasattr(value, "shape") and hasattr(value, "dtype") else value
