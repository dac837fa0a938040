"""Registers the GPUs of PyTorch, which is imported when the first tensor is created.

Importing PyTorch takes more than a second. Without a GPU it is not imported: the file of its version says what it was
built for, and a driver that is not there cannot be loaded.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..backends.arrays import ArrayModule
from ..core import devices, logger
from ..core.device_kinds import Device
from ..core.extras import install_command

IS_APPLE = sys.platform == "darwin" and platform.machine() == "arm64"
_NO_BUILD = re.compile(r"^(cuda|hip)\b[^=\n]*= None$", re.MULTILINE)

NO_TORCH = f"PyTorch is missing: {install_command('torch')}"
NO_CUDA = "PyTorch is built without CUDA: install a build with CUDA, as pytorch.org/get-started says"
NO_DRIVER = "no NVIDIA driver was found on this machine"
APPLE_OFF = "Apple's GPU, which has no float64, is used only with GRADTAPE_DEVICE=gpu"
NO_STANDARD = f"PyTorch is installed, but array-api-compat is missing: {install_command('torch')}"


def use_if_there() -> None:
    """Place new tensors on a GPU if PyTorch supports one and GPUs are not disabled."""
    if devices.turned_off():
        return
    reason = why_unusable()
    if reason == NO_STANDARD:
        logger.warning("GPUs are not used: %s", reason)
    if reason:
        return
    from ..engine.registry.devices import use

    use(_gpus, _module_of)


def why_unusable() -> str:
    """Returns why gradtape can use no GPU here, and what to do; "" if it may. Does not import PyTorch."""
    torch = find_spec("torch")
    if torch is None:
        return NO_TORCH
    if IS_APPLE:
        if os.environ.get("GRADTAPE_DEVICE", "").strip().lower() != "gpu":
            return APPLE_OFF
    else:
        missing = {name for folder in torch.submodule_search_locations or () for name in _missing_builds(folder)}
        if {"cuda", "hip"} <= missing:
            return NO_CUDA
        if "hip" in missing and cuda_driver() is None:
            return NO_DRIVER
    return NO_STANDARD if find_spec("array_api_compat") is None else ""


def _missing_builds(folder: str) -> list[str]:
    """Returns for which of CUDA and ROCm the PyTorch in `folder` was not built, as its generated `version.py` says."""
    try:
        with open(os.path.join(folder, "version.py"), encoding="utf-8") as file:
            return _NO_BUILD.findall(file.read())
    except (OSError, UnicodeDecodeError):
        return []


def cuda_driver() -> ctypes.CDLL | None:
    """Loads the library of NVIDIA's driver, without initializing it; None if there is no driver."""
    for name in ("libcuda.so.1", "libcuda.so", "nvcuda.dll"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _torch() -> Any:
    return import_module("gradtape.backends.torch.device")


def _gpus() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _torch().gpus()
    devices.set_memory_probe(_torch().memory_info, _torch().reset_memory_stats)
    devices.tensor_float_32.add_follower(_torch().use_tensor_float_32)
    devices.op_determinism.add_follower(_torch().use_deterministic_algorithms)
    from . import device_storage  # noqa: F401  where variables are stored there

    return found


def _module_of(device: Device) -> ArrayModule:
    return _torch().module_of(device.name)
