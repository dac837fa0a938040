"""`tf.debugging`'s checks of ranks and shapes: a ValueError names the tensor that fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...core.type_hints import TensorLike, ValueLike
from ...engine.run.convert import to_array, to_tensor
from ...sparse.tensor import SparseTensor, made_sparse

NAMESPACES = ("debugging", "")
__all__ = ["assert_rank", "assert_rank_at_least", "assert_rank_in", "assert_scalar", "assert_shapes"]


def _prefix(message: Any) -> str:
    return f"{message}.  " if message else ""


def with_shape(x: ValueLike) -> Any:
    """Returns `x` as an object with a shape and a dtype: a tensor, or a sparse tensor."""
    x = made_sparse(x)
    return x if isinstance(x, SparseTensor) else to_tensor(x)


def _rank(given: Any) -> int:
    rank = to_array(given)
    if rank.dtype.kind not in "iu":
        raise TypeError(f"tensor must be of type tf.int32; got {rank.dtype.name}: a rank is an integer")
    if rank.shape:
        raise ValueError(f"Rank must be a scalar, got shape {rank.shape}.")
    return int(rank)


def _check_rank(x: Any, holds: bool, wanted: str, message: Any) -> None:
    if not holds:
        raise ValueError(
            f"{_prefix(message)}Tensor  must have rank {wanted}.  Received rank {len(x.dims)}, shape {x.shape}"
        )


def assert_rank(x: ValueLike, rank: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """Raises ValueError unless `x` has `rank` dimensions.

    >>> tf.debugging.assert_rank(tf.constant([1.0]), 1)
    """
    value, n = with_shape(x), _rank(rank)
    _check_rank(value, len(value.dims) == n, f"{n}", message)


def assert_rank_at_least(x: ValueLike, rank: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """Raises ValueError unless `x` has at least `rank` dimensions.

    >>> tf.debugging.assert_rank_at_least(tf.constant([[1.0]]), 1)
    """
    value, n = with_shape(x), _rank(rank)
    _check_rank(value, len(value.dims) >= n, f"at least {n}", message)


def assert_rank_in(
    x: ValueLike, ranks: Sequence[TensorLike], message: str | None = None, name: str | None = None
) -> None:
    """Raises ValueError unless the rank of `x` is one of `ranks`.

    >>> tf.debugging.assert_rank_in(tf.constant([1.0]), (1, 2))
    """
    value, allowed = with_shape(x), tuple(_rank(rank) for rank in ranks)
    _check_rank(value, len(value.dims) in allowed, f"in {allowed}", message)


def assert_scalar(tensor: ValueLike, message: str | None = None, name: str | None = None) -> None:
    """Raises ValueError unless `tensor` is a scalar.

    >>> tf.debugging.assert_scalar(tf.constant(1.0))
    """
    x = to_tensor(tensor)
    if x.dims:
        raise ValueError(f"{_prefix(message)}Expected scalar shape, saw shape: {x.shape}.")


def assert_shapes(
    shapes: Any, data: Sequence[ValueLike] | None = None, summarize: int | None = None, message: str | None = None,
    name: str | None = None,
) -> None:  # fmt: skip
    """Raises ValueError unless tensors have the given shapes, in which letters are sizes that must agree.

    Args:
      shapes: pairs `(tensor, shape)`, or a dict. An entry of a shape is an integer, a name for a size that must be the
        same everywhere, or None or "." for any size; a leading `...` or "*" matches any number of dimensions. The shape
        None matches any shape; `()` and `(1,)` are equivalent.

    >>> x, w = tf.ones([5, 3]), tf.ones([3, 2])
    >>> tf.debugging.assert_shapes([(x, ("N", "D")), (w, ("D", "K"))])
    """
    known: dict[Any, tuple[int, str]] = {}
    for tensor, wanted in shapes.items() if isinstance(shapes, dict) else shapes:
        if wanted is None:
            continue
        x = with_shape(tensor)
        for axis, symbol in _axes(x, wanted, message):
            size = x.dims[axis] if x.dims else 1  # a scalar is accepted as a vector of size 1
            where = f"tensor {_describe(x)} dimension {axis}"
            if isinstance(symbol, int):
                expected, origin = symbol, "Specified explicitly"
            else:
                expected, origin = known.setdefault(symbol, (size, f"Specified by {where}"))
            if size != expected:
                raise ValueError(
                    f"{_prefix(message)}{origin}.  T{where[1:]} must have size {expected}.  Received size {size}, "
                    f"shape {x.shape}"
                )


def _axes(x: Tensor, wanted: Any, message: Any) -> list[tuple[int, Any]]:
    """Returns the axes of `x` with a required size, and that size."""
    if not hasattr(wanted, "__iter__"):
        raise ValueError(
            f"{_prefix(message)}Tensor {_describe(x)}.  Specified shape must be an iterable.  Received specified "
            f"shape: {wanted!r}"
        )
    entries = ["..." if entry is Ellipsis else entry for entry in wanted] or [1]
    rank, leading = len(x.dims), bool(entries) and entries[0] in ("...", "*")
    for index, entry in enumerate(entries[1:], 1):
        if entry in ("...", "*"):
            raise ValueError(
                f"{_prefix(message)}Tensor {_describe(x)} specified shape index {index}.  Symbol `...` or `*` for a "
                "variable number of unspecified dimensions is only allowed as the first entry"
            )
    if leading:
        entries = entries[1:]
        _check_rank(x, rank >= len(entries), f"at least {len(entries)}", message)
    elif len(entries) == 1:
        _check_rank(x, rank in (0, 1), "in (0, 1)", message)
        rank = 1
    else:
        _check_rank(x, rank == len(entries), f"{len(entries)}", message)
    sizes = [int(e) if isinstance(e, str) and e.isdigit() else e for e in entries]
    return [(axis, e) for axis, e in enumerate(sizes, rank - len(sizes)) if e is not None and e != "."]


def _describe(x: Tensor) -> str:
    return f"shape={x.shape} dtype={x.dtype.name}"
