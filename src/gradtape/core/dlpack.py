"""DLPack: zero-copy exchange of arrays with other libraries.

NumPy does the work. It has no bfloat16 and float8, but DLPack does: such an array is exported as one of unsigned
integers, and the type code in the capsule is then patched.

The memory of a tensor is shared where every consumer can read it, and where the array may be written; others are
copied. PyTorch ends the process for negative strides and ignores that memory is read-only. Consumers of unversioned
capsules expect elements without gaps, and so does JAX, the one that passes a stream for memory of the host.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import dtypes, errors

CPU = 1  # DLPack's device type codes
CUDA = 2
_DEVICE_AT, _KIND_AT = 8, 20  # offsets in a DLManagedTensor: after the data pointer; after the device and the rank
_UINT = 1  # DLPack's type code of unsigned integers
# Those of the dtypes that NumPy does not export.
_NARROW = {
    dtype.numpy: code
    for dtype, code in (
        (dtypes.bfloat16, 4), (dtypes.float8_e4m3b11fnuz, 9), (dtypes.float8_e4m3fn, 10), (dtypes.float8_e4m3fnuz, 11),
        (dtypes.float8_e5m2, 12), (dtypes.float8_e5m2fnuz, 13),
    )
}  # fmt: skip
_NARROW_DTYPES = {code: dtype for dtype, code in _NARROW.items()}

_name_of = ctypes.pythonapi.PyCapsule_GetName
_name_of.argtypes, _name_of.restype = [ctypes.py_object], ctypes.c_char_p
_address_of = ctypes.pythonapi.PyCapsule_GetPointer
_address_of.argtypes, _address_of.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
_Capsule = type(np.empty(0).__dlpack__())

# NumPy 2.0 exports capsules without a version, and knows no other option than `stream`.
_IS_VERSIONED = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def exported(array: np.ndarray[Any, Any], **options: Any) -> Any:
    """Exports the array as a capsule; `options` are those of `__dlpack__`."""
    array = np.asarray(array)
    code = _NARROW.get(array.dtype)
    is_versioned = _IS_VERSIONED and (options.get("max_version") or (0,))[0] >= 1 and code is None
    if not _can_share(array, allows_gaps=is_versioned and "stream" not in options):
        if options.get("copy") is False:
            raise BufferError("other libraries cannot share this tensor's memory: allow a copy, with copy=None")
        array = array.copy()
    if code is None:
        return _capsule(array, options)
    capsule = _capsule(array.view(f"u{array.itemsize}"), {**options, "max_version": None})
    _kind_in(capsule).value = code
    return capsule


def _capsule(array: np.ndarray[Any, Any], options: dict[str, Any]) -> Any:
    """Returns NumPy's capsule of an array."""
    if _IS_VERSIONED:
        return array.__dlpack__(**options)
    if options.get("dl_device") not in (None, (CPU, 0)):
        raise BufferError("unsupported device requested")
    return (array.copy() if options.get("copy") else array).__dlpack__(stream=options.get("stream"))


def _can_share(array: np.ndarray[Any, Any], allows_gaps: bool) -> bool:
    """Whether the consumer can use the memory of an array as it is."""
    flags = array.flags
    if not (flags.writeable and flags.aligned and array.size):
        return False
    if allows_gaps:
        return all(stride > 0 and stride % array.itemsize == 0 for stride in array.strides)
    return _is_compact(array)


def _is_compact(array: np.ndarray[Any, Any]) -> bool:
    """Whether the elements follow each other without gaps, in any order of the axes."""
    size = array.itemsize
    for stride, n in sorted(zip(array.strides, array.shape, strict=True)):
        if stride != size and (n > 1 or stride < 0):
            return False
        size *= n
    return True


def imported(capsule: object) -> Any:
    """Imports the array of a capsule in host memory."""
    kind, device = _kind_in(capsule), device_of(capsule)
    if device != CPU:
        raise errors.InvalidArgumentError(
            f"The DLPack tensor is in the memory of a device, DLPack's kind {device}, that gradtape does not use here. "
            "Bring it to the host first"
        )
    narrow = _NARROW_DTYPES.get(kind.value)
    if narrow is not None:
        kind.value = _UINT
    array = np.from_dlpack(_Held(capsule))
    return array if narrow is None else array.view(narrow)


def device_of(capsule: object) -> int:
    """Returns the device type whose memory a capsule refers to: `CPU`, `CUDA` or another."""
    return ctypes.c_int32.from_address(_address(capsule) + _DEVICE_AT).value


def _kind_in(capsule: object) -> ctypes.c_uint8:
    return ctypes.c_uint8.from_address(_address(capsule) + _KIND_AT)


def _address(capsule: object) -> int:
    if type(capsule) is not _Capsule:
        raise TypeError(f"a DLPack capsule is needed, such as x.__dlpack__() gives, got {capsule!r}")
    name = _name_of(capsule)
    if name != b"dltensor":
        raise errors.InvalidArgumentError(
            f'DLPack tensor must be a capsule with name "dltensor", got "{(name or b"").decode()}". Note that a DLPack '
            "tensor may be consumed at most once."
        )
    return _address_of(capsule, name)


class _Held:
    """Adapts a capsule to the `__dlpack__` protocol that NumPy expects."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU, 0
