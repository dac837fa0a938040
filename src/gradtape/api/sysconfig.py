"""`tf.sysconfig`: build information."""

from __future__ import annotations

import importlib.util
from typing import Any

NAMESPACES = ("sysconfig", "test")
__all__ = [
    "CXX11_ABI_FLAG", "CXX_VERSION", "MONOLITHIC_BUILD", "get_build_info", "get_compile_flags", "get_include",
    "get_lib", "get_link_flags", "is_built_with_rocm", "is_built_with_xla", "is_cpu_target_available",
]  # fmt: skip

# Those of TensorFlow's own builds: programs print them, or choose a download by them.
CXX11_ABI_FLAG = 1
CXX_VERSION = 201703
MONOLITHIC_BUILD = 0


def get_build_info() -> dict[str, Any]:
    """Returns build information: no compiler, and neither CUDA nor ROCm, which other libraries provide.

    >>> tf.sysconfig.get_build_info()["is_cuda_build"]
    False
    """
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}


def is_built_with_rocm() -> bool:
    """Returns False: there are no kernels for ROCm.

    >>> tf.test.is_built_with_rocm()
    False
    """
    return False


def is_built_with_xla() -> bool:
    """Returns whether `jit_compile=True` is supported: whether JAX is installed.

    >>> isinstance(tf.test.is_built_with_xla(), bool)
    True
    """
    return importlib.util.find_spec("jax") is not None


def is_cpu_target_available(target: str) -> bool:
    """Returns whether code for a CPU architecture (`x86_64`, `aarch64`) can run on this machine.

    >>> isinstance(tf.test.is_cpu_target_available("x86_64"), bool)
    True
    """
    import platform

    if target not in ("aarch64", "x86_64"):
        raise AssertionError(f"Unknown CPU target: {target}")
    return platform.machine().lower().replace("amd64", "x86_64") == target


def _not_compiled(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"tf.sysconfig.{name} is for building ops in C++ against TensorFlow's library, and gradtape is written in "
        "Python. Write the op in Python: see gradtape.extend, or tf.custom_gradient"
    )


def get_include() -> str:
    """Raises an error: there are no C++ headers. `gradtape.extend` defines ops in Python.

    >>> tf.sysconfig.get_include()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NotImplementedError: ...
    """
    raise _not_compiled("get_include")


def get_lib() -> str:
    """Raises an error: there is no compiled library. `gradtape.extend` defines ops in Python.

    >>> tf.sysconfig.get_lib()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NotImplementedError: ...
    """
    raise _not_compiled("get_lib")


def get_compile_flags() -> list[str]:
    """Raises an error: there are no C++ headers. `gradtape.extend` defines ops in Python.

    >>> tf.sysconfig.get_compile_flags()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NotImplementedError: ...
    """
    raise _not_compiled("get_compile_flags")


def get_link_flags() -> list[str]:
    """Raises an error: there is no compiled library. `gradtape.extend` defines ops in Python.

    >>> tf.sysconfig.get_link_flags()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NotImplementedError: ...
    """
    raise _not_compiled("get_link_flags")
