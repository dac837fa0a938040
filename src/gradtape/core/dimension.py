"""`Dimension`: one size of a shape as an object, as in TensorFlow 1. `TensorShape.dims` returns a list of them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .operators import ARITHMETIC, EQUALITIES, ORDERINGS


class Dimension:
    """One size of a shape; `value` is None where the size is unknown.

    >>> tf.compat.v1.Dimension(3) + 2
    Dimension(5)
    """

    __module__ = "gradtape.compat.v1"

    def __init__(self, value: Any) -> None:
        if isinstance(value, Dimension):
            value = value.value
        if value is not None:
            try:
                value = operator.index(value)
            except TypeError:
                raise TypeError(
                    "Dimension value must be integer or None or have an __index__ method, got value "
                    f"'{value!r}' with type '{type(value)!r}'"
                ) from None
            if value < 0:
                raise ValueError(f"Dimension {value} must be >= 0")
        self.value: int | None = value

    def __repr__(self) -> str:
        return f"Dimension({self.value})"

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return self.value  # type: ignore[return-value]

    __index__ = __int__

    def is_compatible_with(self, other: object) -> bool:
        """Whether the sizes are equal or one of them is unknown."""
        known = Dimension(other)
        return self.value is None or known.value is None or self.value == known.value

    def assert_is_compatible_with(self, other: object) -> None:
        """Raises ValueError unless `is_compatible_with(other)`."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {Dimension(other)} are not compatible")

    def merge_with(self, other: object) -> Dimension:
        """Returns the more specific of two compatible sizes."""
        self.assert_is_compatible_with(other)
        return Dimension(other) if self.value is None else self


def _of_sizes(function: Callable[..., Any], compares: bool = False, reflected: bool = False) -> Callable[..., Any]:
    def method(self: Dimension, other: object) -> Any:
        try:
            sizes = self.value, Dimension(other).value
        except (TypeError, ValueError):
            return NotImplemented
        if None in sizes:
            return None if compares else Dimension(None)
        value = function(*(reversed(sizes) if reflected else sizes))
        return value if compares else Dimension(value)

    return method


for _row in ORDERINGS + EQUALITIES:
    setattr(Dimension, _row.method, _of_sizes(_row.function, compares=True))
for _row in ARITHMETIC:
    if _row.name in ("add", "sub", "mul", "floordiv", "mod"):
        setattr(Dimension, _row.method, _of_sizes(_row.function))
        setattr(Dimension, _row.reflected, _of_sizes(_row.function, reflected=True))
