"""`TensorShape`: sizes with TensorFlow's semantics. A size of `None` is unknown; the rank may be unknown, too.

It behaves like a tuple but is not one, so that `"%s" % x.shape` formats the shape instead of unpacking it. A
`Dimension` is one size as an object, as in TensorFlow 1; `TensorShape.dims` returns a list of them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .extension_points import message_class
from .operators import ARITHMETIC, EQUALITIES, ORDERINGS

_new = object.__new__


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


class TensorShape:
    """The shape of a tensor: a sequence of sizes that compares equal to lists and tuples and can be merged.

    >>> shape = tf.TensorShape([2, None, 3])
    >>> shape.rank, shape.as_list(), shape.is_fully_defined()
    (3, [2, None, 3], False)
    """

    __slots__ = ("_dims",)

    _dims: tuple[int | None, ...]

    def __new__(cls, dims: object) -> TensorShape:
        if isinstance(dims, TensorShape):
            return dims
        if dims is None:
            return UNKNOWN_RANK
        if isinstance(dims, str | bytes):
            raise TypeError(
                f"Failed to convert {dims!r} to a shape. A shape should either be single dimension (e.g. 10), or an "
                "iterable of dimensions (e.g. [1, 10, None])."
            )
        if isinstance(dims, int) or getattr(dims, "ndim", None) == 0:
            dims = (dims,)
        elif not isinstance(dims, Iterable):
            dims = _sizes_of_message(dims) if hasattr(dims, "unknown_rank") else (dims,)
            if dims is None:
                return UNKNOWN_RANK
        return cls._of(tuple([_as_size(dim) for dim in dims]))

    @classmethod
    def _of(cls, dims: tuple[int | None, ...]) -> TensorShape:
        """Creates a shape from the dimensions of an array, without validation."""
        shape = _new(cls)
        shape._dims = dims
        return shape

    @property
    def rank(self) -> int | None:
        """The number of dimensions, `None` when unknown."""
        return len(self._dims)

    @property
    def ndims(self) -> int | None:
        """Same as `rank`."""
        return self.rank

    @property
    def dims(self) -> list[Dimension] | None:
        """The sizes as `Dimension` objects; `None` when the rank is unknown."""
        return [Dimension(size) for size in self]

    def as_list(self) -> list[int | None]:
        """The sizes as a list."""
        return list(self)

    def as_proto(self) -> Any:
        """The shape as a `TensorShapeProto`."""
        kind = message_class("TensorShapeProto")
        if self.rank is None:
            return kind(unknown_rank=True)
        return kind(dim=[kind.Dim(size=-1 if size is None else size) for size in self])

    def num_elements(self) -> int | None:
        """The product of the sizes, `None` when unknown."""
        return math.prod(size for size in self if size is not None) if self.is_fully_defined() else None

    def is_fully_defined(self) -> bool:
        """Whether every size is known."""
        return None not in self._dims

    def is_compatible_with(self, other: object) -> bool:
        """Whether one tensor could have both shapes."""
        mine, its = self._dims, TensorShape(other)._dims
        if mine == its or mine is None or its is None:  # equal shapes are by far the most frequent
            return True
        return len(mine) == len(its) and all(a is None or b is None or a == b for a, b in zip(mine, its, strict=True))

    def assert_is_compatible_with(self, other: object) -> None:
        """Raises `ValueError` unless the shapes are compatible."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def merge_with(self, other: object) -> TensorShape:
        """Merges two compatible shapes: each size is known if either shape knows it."""
        other = TensorShape(other)
        if self._dims == other._dims:
            return self
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        if self.rank is None:
            return other
        if other.rank is None:
            return self
        return TensorShape([b if a is None else a for a, b in zip(self, other, strict=True)])

    def concatenate(self, other: object) -> TensorShape:
        """Returns this shape followed by `other`."""
        other = TensorShape(other)
        if self.rank is None or other.rank is None:
            return UNKNOWN_RANK
        return TensorShape([*self, *other])

    def most_specific_compatible_shape(self, other: object) -> TensorShape:
        """The most specific shape that both are instances of."""
        other = TensorShape(other)
        if self.rank is None or other.rank is None or len(self) != len(other):
            return UNKNOWN_RANK
        return TensorShape([a if a == b else None for a, b in zip(self, other, strict=True)])

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorShape | None:
        """The most specific shape that this and all the others are instances of; None if one is not a shape."""
        common = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            common = common.most_specific_compatible_shape(other)
        return common

    def is_subtype_of(self, other: object) -> bool:
        """Whether every tensor of this shape has shape `other` too."""
        if not isinstance(other, TensorShape):
            return False
        if other.rank is None:
            return True
        return (
            self.rank is not None
            and len(self) == len(other)
            and all(b is None or a == b for a, b in zip(self, other, strict=True))
        )

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, known to have `rank` dimensions."""
        try:
            return self.merge_with(unknown_shape(rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape, checked to have `rank` dimensions or more."""
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape, checked to have `rank` dimensions or fewer."""
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raises `ValueError` unless the rank is `rank`, or unknown."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: object) -> None:
        """Raises `ValueError` unless the ranks agree, or one is unknown."""
        other = TensorShape(other)
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_is_fully_defined(self) -> None:
        """Raises `ValueError` unless every size is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def __len__(self) -> int:
        return len(self._dims)

    def __iter__(self) -> Iterator[int | None]:
        return iter(self._dims)

    def __getitem__(self, key: int | slice) -> Any:
        item: Any = self._dims[key]
        return TensorShape._of(item) if isinstance(key, slice) else item

    def __bool__(self) -> bool:
        return True  # as in TensorFlow: True if the rank is known, even if it is 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorShape):
            try:
                if type(other) is tuple:
                    return self._dims == other
                other = TensorShape(other)
            except (TypeError, ValueError):
                return NotImplemented
        return self.rank == other.rank and self._dims == other._dims

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __hash__(self) -> int:
        return hash(self._dims)

    def __add__(self, other: object) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: object) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __repr__(self) -> str:
        return f"TensorShape({list(self)})"

    def __str__(self) -> str:
        return "(" + ", ".join(map(str, self)) + (",)" if len(self) == 1 else ")")

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (list(self),)


TensorShape.__module__ = "gradtape"


def _sizes_of_message(message: Any) -> list[int | None] | None:
    """Returns the sizes in a `TensorShapeProto`; None if the rank is unknown."""
    return None if message.unknown_rank else [None if dim.size < 0 else dim.size for dim in message.dim]


class _UnknownRank(TensorShape):
    """The shape of unknown rank."""

    __slots__ = ()

    rank = None
    dims = None

    def as_list(self) -> list[int | None]:
        raise ValueError("as_list() is not defined on an unknown TensorShape.")

    def is_fully_defined(self) -> bool:
        return False

    def __len__(self) -> int:
        raise ValueError("Cannot take the length of shape with unknown rank.")

    def __iter__(self) -> Any:
        raise ValueError("Cannot iterate over a shape with unknown rank.")

    def __bool__(self) -> bool:
        return False

    def __getitem__(self, key: object) -> Any:
        if not isinstance(key, slice):
            return None
        start = key.start or 0
        if key.stop is None or key.stop < 0 or start < 0 or key.step not in (None, 1):
            return UNKNOWN_RANK
        return unknown_shape(max(0, key.stop - start))

    def __hash__(self) -> int:
        return hash("unknown rank")

    def __repr__(self) -> str:
        return "TensorShape(None)"

    def __str__(self) -> str:
        return "<unknown>"

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (None,)


UNKNOWN_RANK: TensorShape = _UnknownRank._of(None)  # type: ignore[arg-type]


def unknown_shape(rank: int | None = None) -> TensorShape:
    """A shape of `rank` unknown sizes, or of unknown rank."""
    return UNKNOWN_RANK if rank is None else TensorShape([None] * rank)


def _as_size(dim: Any) -> int | None:
    if dim is None or (type(dim) is Dimension and dim.value is None):
        return None
    try:
        size = dim.__index__()
    except AttributeError:
        raise TypeError(
            f"Dimension value must be integer or None or have an __index__ method, got value '{dim!r}' with type "
            f"'{type(dim)!r}'"
        ) from None
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the shape that the shapes broadcast to; raises `ValueError` if there is none."""
    rank = max((len(shape) for shape in shapes), default=0)
    out = [1] * rank
    for shape in shapes:
        for i, size in enumerate(shape, rank - len(shape)):
            if size != 1:
                if out[i] not in (1, size):
                    raise ValueError(f"shapes {' and '.join(map(str, shapes))} cannot be broadcast together")
                out[i] = size
    return tuple(out)
