"""`tf.sysconfig`: build information."""

from __future__ import annotations

import importlib.util
from typing import Any

NAMESPACES = ("sysconfig", "test")
__all__ = ["get_build_info", "is_built_with_rocm", "is_built_with_xla", "is_cpu_target_available"]


def get_build_info() -> dict[str, Any]:
    """Returns build information: no compiler, and neither CUDA nor ROCm, which other libraries provide.

    >>> import gradtape as tf
    >>> tf.sysconfig.get_build_info()["is_cuda_build"]
    False
    """
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}


def is_built_with_rocm() -> bool:
    """Returns False: there are no kernels for ROCm.

    >>> import gradtape as tf
    >>> tf.test.is_built_with_rocm()
    False
    """
    return False


def is_built_with_xla() -> bool:
    """Returns whether `jit_compile=True` is supported: whether JAX is installed.

    >>> import gradtape as tf
    >>> isinstance(tf.test.is_built_with_xla(), bool)
    True
    """
    return importlib.util.find_spec("jax") is not None


def is_cpu_target_available(target: str) -> bool:
    """Returns whether code for a CPU architecture (`x86_64`, `aarch64`) can run on this machine.

    >>> import gradtape as tf
    >>> isinstance(tf.test.is_cpu_target_available("x86_64"), bool)
    True
    """
    import platform

    if target not in ("aarch64", "x86_64"):
        raise AssertionError(f"Unknown CPU target: {target}")
    return platform.machine().lower().replace("amd64", "x86_64") == target
