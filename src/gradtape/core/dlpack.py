"""DLPack: arrays handed to other libraries, and taken from them, without a copy.

NumPy does the work. It has no bfloat16, which DLPack has: an array of it is handed over as one of 16-bit integers, and
the capsule is told what they are.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import dtypes, errors

CPU = 1  # DLPack's numbers for devices, as far as they are known here
CUDA = 2
_DEVICE_AT, _KIND_AT = 8, 20  # in a DLManagedTensor: after the pointer to the data; after the device and the rank
_UINT, _BFLOAT = 1, 4  # DLPack's numbers for kinds of numbers

_name_of = ctypes.pythonapi.PyCapsule_GetName
_name_of.argtypes, _name_of.restype = [ctypes.py_object], ctypes.c_char_p
_address_of = ctypes.pythonapi.PyCapsule_GetPointer
_address_of.argtypes, _address_of.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
_Capsule = type(np.empty(0).__dlpack__())


def exported(array: Any, **options: Any) -> Any:
    """The array as a capsule; `options` are those of `__dlpack__`."""
    array = np.asarray(array)
    if array.dtype == dtypes.bfloat16.numpy:
        capsule = array.view(np.uint16).__dlpack__(**{**options, "max_version": None})
        _kind_in(capsule).value = _BFLOAT
        return capsule
    if not array.flags.writeable and options.get("max_version") is None:
        array = array.copy()  # an older reader cannot be told not to write
    return array.__dlpack__(**options)


def imported(capsule: Any) -> Any:
    """The array in a capsule of the host's memory."""
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


def device_of(capsule: Any) -> int:
    """The kind of device whose memory a capsule refers to: `CPU`, `CUDA` or another."""
    return ctypes.c_int32.from_address(_address(capsule) + _DEVICE_AT).value


def _kind_in(capsule: Any) -> ctypes.c_uint8:
    return ctypes.c_uint8.from_address(_address(capsule) + _KIND_AT)


def _address(capsule: Any) -> int:
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
    """What has a capsule to give, as NumPy asks for it."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU, 0
