"""`tensorflow.python.distribute.sharded_variable`: one variable whose rows are held by several variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import gradtape
from gradtape.core.owners import Owner


class ShardedVariable(Owner):
    """A variable that is split along its first axis; as a tensor it is the concatenation of its parts.

    Args:
        variables: the parts, of one dtype and of shapes that differ only in the first axis.
        name: the name of the whole; by default that of the first part, without its number.
    """

    def __init__(self, variables: Sequence[gradtape.Variable], name: str = "ShardedVariable") -> None:
        self._variables = list(variables)
        if not self._variables or not all(isinstance(part, gradtape.Variable) for part in self._variables):
            raise TypeError(f"Argument `variables` should be a non-empty list of `variables.Variable`. Got {variables}")
        if len(kinds := {part.dtype for part in self._variables}) > 1:
            raise ValueError(f"All elements in argument `variables` must have the same dtype. Got {list(kinds)}")
        if len(shapes := {tuple(part.shape[1:]) for part in self._variables}) > 1:
            raise ValueError(
                f"All variables must have identical shapes except for the first axis. Got {list(shapes)} after it"
            )
        self.name = name

    @property
    def variables(self) -> list[gradtape.Variable]:
        """The parts."""
        return self._variables

    @property
    def dtype(self) -> gradtape.DType:
        """The dtype of all parts."""
        return self._variables[0].dtype

    @property
    def shape(self) -> gradtape.TensorShape:
        """The shape of the whole."""
        rows = sum(int(part.shape[0]) for part in self._variables)
        return gradtape.TensorShape([rows, *self._variables[0].shape[1:]])

    def __iter__(self) -> Iterator[gradtape.Variable]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __getitem__(self, key: Any) -> gradtape.Tensor:
        return self.__tf_tensor__()[key]

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> gradtape.Tensor:
        whole = gradtape.concat(self._variables, axis=0)
        return whole if dtype is None else gradtape.cast(whole, dtype)

    def assign(self, value: Any, **kwargs: Any) -> ShardedVariable:
        """Assigns each part its rows of `value`."""
        return self._with_each_part("assign", value)

    def assign_add(self, delta: Any, **kwargs: Any) -> ShardedVariable:
        """Adds to each part its rows of `delta`."""
        return self._with_each_part("assign_add", delta)

    def assign_sub(self, delta: Any, **kwargs: Any) -> ShardedVariable:
        """Subtracts from each part its rows of `delta`."""
        return self._with_each_part("assign_sub", delta)

    def _with_each_part(self, method: str, value: Any) -> ShardedVariable:
        rows = gradtape.split(value, [int(part.shape[0]) for part in self._variables])
        for part, own in zip(self._variables, rows, strict=True):
            getattr(part, method)(own)
        return self
