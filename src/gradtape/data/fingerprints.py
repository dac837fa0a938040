"""Fingerprints of datasets: equal ones mean equal elements.

A fingerprint covers how a dataset is computed: kinds, parameters and inputs, and the code, constants and captured
values of user functions. A value of an unknown type counts as different from every other, so that fingerprints may
differ for equal datasets but never agree for different ones.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import types
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..core.dtypes import DType
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..state.specs import TypeSpec
from .calls import Call

_LIBRARY = __name__.partition(".")[0]
_tokens = itertools.count()
_known_tokens: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


def fingerprint(dataset: Any) -> int:
    """Returns a 64-bit hash of what a dataset is computed from."""
    digest = hashlib.blake2b(digest_size=8)
    for part in _parts(dataset, {}):
        digest.update(part)
    return int.from_bytes(digest.digest(), "little")


def _parts(value: Any, seen: dict[int, int]) -> Iterator[bytes]:
    """Yields a description of a value; an object that occurs again is described by its number."""
    if isinstance(value, str | bytes | int | float | complex | None | DType | TensorShape | TypeSpec | range):
        yield repr(value).encode()
        return
    if id(value) in seen:
        yield b"#%d" % seen[id(value)]
        return
    seen[id(value)] = len(seen)
    yield f"<{type(value).__module__}.{type(value).__qualname__}".encode()
    for part in _children(value):
        yield from _parts(part, seen)
    yield b">"


def _children(value: Any) -> Iterator[Any]:
    if hasattr(value, "_elements") and hasattr(value, "_kind"):
        yield from (value._kind, value._size, value._elements)
    elif isinstance(value, Call):
        yield from (value._function, value._seed)
    elif isinstance(value, tuple | list):
        yield from value
    elif isinstance(value, Mapping):
        yield from itertools.chain(*value.items())
    elif isinstance(value, Tensor):
        yield from (value.dtype, value.array)
    elif isinstance(value, np.ndarray | np.generic):
        yield from (str(value.dtype), value.shape, value.tolist() if value.dtype.hasobject else value.tobytes())
    elif isinstance(value, functools.partial):
        yield from (value.func, value.args, value.keywords)
    elif isinstance(value, types.FunctionType):
        yield from (value.__code__, value.__defaults__, value.__kwdefaults__)
        yield from (cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType())
        if value.__module__.partition(".")[0] != _LIBRARY:
            yield from (value.__globals__[name] for name in value.__code__.co_names if name in value.__globals__)
    elif isinstance(value, types.CodeType):
        yield from (value.co_code, value.co_names, value.co_varnames, value.co_consts)
    elif isinstance(value, types.MethodType):
        yield from (value.__func__, value.__self__)
    elif isinstance(value, types.ModuleType | type | types.BuiltinFunctionType):
        yield from (getattr(value, "__module__", ""), value.__name__)
    else:
        yield _token(value)


def _token(value: Any) -> int:
    try:
        return _known_tokens.setdefault(value, next(_tokens))
    except TypeError:  # it cannot be hashed or referenced weakly
        return next(_tokens)
