"""`tensorflow.python.framework.tensor_spec`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape
from gradtape.state.specs import TensorSpec


class BoundedTensorSpec(TensorSpec):
    """The shape, dtype and bounds of a tensor; the bounds broadcast to the shape."""

    __slots__ = ("_maximum", "_minimum")

    def __init__(self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None) -> None:
        super().__init__(shape, dtype, name)
        if minimum is None:
            raise ValueError("`minimum` can not be None.")
        if maximum is None:
            raise ValueError("`maximum` can not be None.")
        self._minimum, self._maximum = (self._bound(bound, name) for name, bound in
                                        (("minimum", minimum), ("maximum", maximum)))  # fmt: skip

    def _bound(self, bound: Any, name: str) -> Any:
        found = np.array(bound, dtype=self.dtype.as_numpy_dtype)
        if self.shape.is_fully_defined():
            try:
                np.broadcast_to(found, self.shape.as_list())  # type: ignore[arg-type]  # all sizes are known
            except ValueError as error:
                raise ValueError(f"`{name}` {bound} is not compatible with the shape {self.shape}.") from error
        found.setflags(write=False)
        return found

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> Any:
        """Returns the bounded spec of a spec, whose bounds, unless it has some, are those of its dtype."""
        dtype = gradtape.as_dtype(spec.dtype)
        minimum, maximum = getattr(spec, "minimum", dtype.min), getattr(spec, "maximum", dtype.max)
        return cls(spec.shape, dtype, minimum, maximum, name or spec.name)

    @property
    def minimum(self) -> Any:
        """The smallest values."""
        return self._minimum

    @property
    def maximum(self) -> Any:
        """The largest values."""
        return self._maximum

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._minimum, self._maximum, self._name

    def __reduce__(self) -> Any:
        return BoundedTensorSpec, self._serialize()

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, "
            f"minimum={self._minimum!r}, maximum={self._maximum!r})"
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BoundedTensorSpec)
            and TensorSpec.__eq__(self, other)
            and np.array_equal(self._minimum, other._minimum)
            and np.array_equal(self._maximum, other._maximum)
        )

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))
