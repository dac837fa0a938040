"""The CuPy backend: arrays and kernels on NVIDIA GPUs. Imported when a device is first needed, if CuPy is installed."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

import cupy
import numpy as np

from .arrays import ArrayModule
from .cupy_fusion import fuse
from .cupy_rows import fuse_rows


def gpus() -> list[dict[str, Any]]:
    """Returns the attributes of each GPU of this machine."""
    found = []
    for i in range(cupy.cuda.runtime.getDeviceCount()):
        properties = cupy.cuda.runtime.getDeviceProperties(i)
        capability = (properties["major"], properties["minor"])
        found.append({"device_name": properties["name"].decode(), "compute_capability": capability})
    return found


def memory_info(number: int) -> dict[str, int]:
    """Returns the bytes used by arrays, and as the peak the size of the memory pool, which grows until it is freed."""
    with cupy.cuda.Device(number):
        pool = cupy.get_default_memory_pool()
        return {"current": pool.used_bytes(), "peak": pool.total_bytes()}


def reset_memory_stats(number: int) -> None:
    """Frees the pool's unused blocks, so that the peak equals the current use."""
    with cupy.cuda.Device(number):
        cupy.get_default_memory_pool().free_all_blocks()


@cache
def module_of(name: str) -> ArrayModule:
    """Returns the array library for the GPU of that name."""
    # By default XLA preallocates three quarters of the GPU's memory, which would leave CuPy too little.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    return ArrayModule(
        "CuPy", cupy, cupy.ndarray, name,
        to_host=cupy.asnumpy, from_host=cupy.asarray, to_xla=_to_xla, from_xla=_from_xla,
        has_own_memory=_has_own_memory, fuse=fuse, fuse_rows=fuse_rows,
        synchronize=lambda: cupy.cuda.Device().synchronize(), memory=_memory,
    )  # fmt: skip


def use_tensor_float_32(enabled: bool) -> None:
    """Sets whether products of float32 matrices use TensorFloat-32 (10-bit mantissas), which is eight times as fast."""
    with suppress(ImportError, AttributeError):  # CuPy's public switch is an environment variable read at import
        linalg = import_module("cupy._core._routines_linalg")
        linalg.set_compute_type(np.float32, linalg.COMPUTE_TYPE_TF32 if enabled else linalg.COMPUTE_TYPE_DEFAULT)


def _memory() -> str:
    """Describes the device's memory use in words."""
    free, total = cupy.cuda.runtime.memGetInfo()
    pool = cupy.get_default_memory_pool()
    return (
        f"of {total >> 20} MiB, {free >> 20} are free, arrays hold {pool.used_bytes() >> 20}, and "
        f"{pool.free_bytes() >> 20} wait in CuPy's pool"
    )


def _has_own_memory(array: Any) -> bool:
    """Whether CuPy allocated this array's memory. False for views, and for memory from XLA, which XLA may still use."""
    memory = cupy.cuda.memory
    return array.base is None and isinstance(array.data.mem, memory.PooledMemory | memory.Memory | memory.MemoryAsync)


def _to_xla(array: Any, own: bool = False) -> Any:
    """Passes an array to XLA: zero-copy on the same GPU, copied to XLA's memory if `own`, else through the host."""
    import jax

    if jax.default_backend() != "gpu":
        return cupy.asnumpy(array)
    if not array.flags.c_contiguous:
        array = cupy.ascontiguousarray(array)
    with jax.enable_x64(True):
        there = jax.dlpack.from_dlpack(array)
        return jax.numpy.array(there, copy=True) if own else there


def _from_xla(array: Any) -> Any:
    """Takes a result from XLA: zero-copy on a GPU, else through the host."""
    if array.devices() and next(iter(array.devices())).platform != "gpu":
        return cupy.asarray(np.asarray(array))
    return cupy.from_dlpack(array)
