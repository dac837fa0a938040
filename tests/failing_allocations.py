"""Makes the n-th NumPy allocation from now on fail."""

import ctypes
from contextlib import contextmanager

import numpy as np

_PLACES = {"set": 304, "get": 305}  # offsets of `PyDataMem_SetHandler` and `PyDataMem_GetHandler` in NumPy's C API
_NAME = b"mem_handler"  # a capsule does not keep its name alive
_python = ctypes.pythonapi
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

_Malloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_Calloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)


class _Handler(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", ctypes.c_void_p), ("malloc", _Malloc),
        ("calloc", _Calloc), ("realloc", ctypes.c_void_p), ("free", ctypes.c_void_p),
    )  # fmt: skip


def _function(which, *arguments):
    table = _python.PyCapsule_GetPointer(np._core._multiarray_umath._ARRAY_API, None)
    address = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[_PLACES[which]]
    return ctypes.PYFUNCTYPE(ctypes.py_object, *arguments)(address)


@contextmanager
def failing_at(number):
    """Context manager: allocation `number` of NumPy raises `MemoryError`; yields a list, one entry per allocation."""
    usual_capsule = _function("get")()
    usual = _Handler.from_address(_python.PyCapsule_GetPointer(usual_capsule, _NAME))
    seen = []

    def refused(size):
        seen.append(size)
        return len(seen) == number

    malloc = _Malloc(lambda context, size: None if refused(size) else usual.malloc(context, size))
    calloc = _Calloc(lambda context, n, size: None if refused(n * size) else usual.calloc(context, n, size))
    handler = _Handler(b"failing", 1, usual.context, malloc, calloc, usual.realloc, usual.free)
    _kept.append(handler)  # arrays created in the block refer to it
    _function("set", ctypes.py_object)(_python.PyCapsule_New(ctypes.addressof(handler), _NAME, None))
    try:
        yield seen
    finally:
        _function("set", ctypes.py_object)(usual_capsule)


_kept = []
