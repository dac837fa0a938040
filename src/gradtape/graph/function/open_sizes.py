"""A size that represents the open sizes of input signatures while functions are traced to be saved.

A trace has concrete sizes. While a prime represents the open ones, a size that is a multiple of it depends on them, so
the function that a traced one calls is traced for an open signature, too.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ...core import nest
from ...core.scopes import holding
from ...core.tensor import Tensor
from ...state.specs import TensorSpec

_PRIMES = (67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113)


class _OpenSizes(threading.local):
    """The size that represents open ones in this thread, if any."""

    size: int | None = None


representative = _OpenSizes()


@contextmanager
def represent_open_sizes(known: Iterable[int]) -> Iterator[None]:
    """Context manager: a prime that divides none of the known sizes represents open ones."""
    sizes = set(known)
    prime = next((p for p in _PRIMES if not any(n % p == 0 for n in sizes if n)), None)
    with holding(representative, size=prime):
        yield


def open_arguments(arguments: Any) -> Any:
    """Returns arguments with specs in place of tensors that have open sizes."""
    return nest.map_structure(_open_tensor, arguments)


def _open_tensor(x: Any) -> Any:
    prime = representative.size
    if prime is None or not isinstance(x, Tensor) or not any(n and n % prime == 0 for n in x.dims):
        return x
    return TensorSpec([None if n and n % prime == 0 else n for n in x.dims], x.dtype)
