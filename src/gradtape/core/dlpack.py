"""DLPack: zero-copy exchange of arrays with other libraries.

NumPy does the work. NumPy has no bfloat16 but DLPack does: a bfloat16 array is exported as one of 16-bit integers, and
the type code in the capsule is then patched.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import dtypes, errors

CPU = 1  # DLPack's device type codes
CUDA = 2
_DEVICE_AT, _KIND_AT = 8, 20  # offsets in a DLManagedTensor: after the data pointer; after the device and the rank
_UINT, _BFLOAT = 1, 4  # DLPack's type codes

_name_of = ctypes.pythonapi.PyCapsule_GetName
_name_of.argtypes, _name_of.restype = [ctypes.py_object], ctypes.c_char_p
_address_of = ctypes.pythonapi.PyCapsule_GetPointer
_address_of.argtypes, _address_of.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
_Capsule = type(np.empty(0).__dlpack__())


def exported(array: np.ndarray[Any, Any], **options: Any) -> Any:
    """Exports the array as a capsule; `options` are those of `__dlpack__`."""
    array = np.asarray(array)
    if not array.flags.writeable and (options.get("max_version") is None or array.dtype == dtypes.bfloat16.numpy):
        array = array.copy()  # an unversioned capsule has no read-only flag
    if array.dtype == dtypes.bfloat16.numpy:
        capsule = array.view(np.uint16).__dlpack__(**{**options, "max_version": None})
        _kind_in(capsule).value = _BFLOAT
        return capsule
    return array.__dlpack__(**options)


def imported(capsule: object) -> Any:
    """Imports the array of a capsule in host memory."""
    kind, device = _kind_in(capsule), device_of(capsule)
    if device != CPU:
        raise errors.InvalidArgumentError(
            f"The DLPack tensor is in the memory of a device, DLPack's kind {device}, that gradtape does not use here. "
            "Bring it to the host first"
        )
    is_bfloat = kind.value == _BFLOAT
    if is_bfloat:
        kind.value = _UINT
    array = np.from_dlpack(_Held(capsule))
    return array.view(dtypes.bfloat16.numpy) if is_bfloat else array


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
