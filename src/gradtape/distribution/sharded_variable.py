"""`ShardedVariable`: one variable as parts along its first axis, which a parameter server strategy may hold apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..core import dtypes
from ..core.owners import Owner
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..engine.run.convert import register, to_tensor
from ..ops.arrays import structure
from ..state.variable import Variable


class ShardedVariable(Owner):
    """Variables of one dtype that make one variable together, divided along the first axis."""

    def __init__(self, variables: Sequence[Variable], name: str = "ShardedVariable") -> None:
        if not variables or not all(isinstance(v, Variable) for v in variables):
            raise TypeError(f"variables should be a non-empty list of `Variable`s, got {variables}")
        if len({v.dtype for v in variables}) > 1:
            raise ValueError(f"All elements in variables should have the same dtype, got {variables}")
        if len({tuple(v.shape)[1:] for v in variables}) > 1:
            raise ValueError(f"All variables must have the same shape except for the first axis, got {variables}")
        self._variables = list(variables)
        self._name = name

    @property
    def variables(self) -> list[Variable]:
        """The parts."""
        return self._variables

    @property
    def name(self) -> str:
        """The name of the whole variable."""
        return self._name

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of every part."""
        return self._variables[0].dtype  # type: ignore[no-any-return]

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole variable."""
        rest = self._variables[0].shape[1:]
        return TensorShape([sum(v.shape[0] for v in self._variables), *rest])

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __getitem__(self, key: Any) -> Tensor:
        return self.read_value()[key]

    def read_value(self) -> Tensor:
        """Returns the parts as one tensor."""
        return structure.concat(*(v.read_value() for v in self._variables), axis=0)  # type: ignore[no-any-return]

    value = read_value

    def numpy(self) -> Any:
        """Returns the parts as one array."""
        return self.read_value().numpy()

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> ShardedVariable:
        """Assigns each part its rows of the value."""
        return self._update("assign", value)

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> ShardedVariable:
        """Adds to each part its rows of the value."""
        return self._update("assign_add", delta)

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> ShardedVariable:
        """Subtracts from each part its rows of the value."""
        return self._update("assign_sub", delta)

    def _update(self, method: str, value: Any) -> ShardedVariable:
        whole = to_tensor(value, self.dtype)
        start = 0
        for variable in self._variables:
            size = variable.shape[0]
            getattr(variable, method)(whole[start : start + size])
            start += size
        return self

    def __repr__(self) -> str:
        return f"ShardedVariable(name={self._name}, shape={self.shape}, dtype={self.dtype.name})"


register(ShardedVariable, lambda value, dtype=None: value.read_value())
