"""The GPU section of `gradtape doctor`: the driver, the GPUs that CuPy and JAX see, and why gradtape uses none.

Other libraries are queried in subprocesses, since a library built for another CUDA version may crash.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gradtape

from ..core import devices
from ..core.device_kinds import Device

_SECONDS = 90  # time limit for querying a library

_ASK_CUPY = """
import json, cupy
runtime = cupy.cuda.runtime
version = runtime.runtimeGetVersion()
print(json.dumps({"cuda": f"{version // 1000}.{version % 1000 // 10}", "sees": [
    runtime.getDeviceProperties(i)["name"].decode() for i in range(runtime.getDeviceCount())]}))
"""
_ASK_JAX = """
import json, os
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
print(json.dumps({"sees": [f"{d.platform}:{d.id} {d.device_kind}" for d in jax.devices()]}))
"""


def device_facts() -> dict[str, str]:
    """Returns a description of each device, the driver, CuPy's and JAX' devices, and why there is no GPU."""
    driver, cupy = _describe_outcome(_driver), _query_subprocess("cupy", _ASK_CUPY)
    facts = {f"{device.kind}:{device.index}": _describe_outcome(_about, device) for device in devices.logical_devices()}
    reason = _describe_outcome(why_no_gpu, cupy)
    if reason:
        facts["GPU"] = f"none is used: {reason}"
    return {
        **facts,
        "NVIDIA driver": driver,
        "GPUs": _describe_outcome(_from_nvidia_smi),
        "CuPy": _library(cupy_distribution(), cupy, "pip install 'gradtape[cuda]'"),
        "JAX": _library("jax", _query_subprocess("jax", _ASK_JAX), "pip install 'gradtape[xla]'"),
        "TF32": "on" if devices.tensor_float_32() else "off",
    }


def why_no_gpu(cupy: dict[str, Any] | None = None) -> str:
    """Returns why gradtape uses no GPU and what to do; "" if it uses one. `cupy` is CuPy's answer, if known."""
    if devices.logical_devices("GPU"):
        return ""
    off = devices.turned_off()
    if off:
        return f"{off} turns GPUs off"
    if devices.physical_devices("GPU"):
        return "tf.config.set_visible_devices excludes them"
    driver = _cuda()
    if driver is None:
        return "no NVIDIA driver was found on this machine"
    if not driver["count"]:
        return f"NVIDIA's driver, for CUDA {driver['version']}, sees no GPU"
    cupy = cupy or _query_subprocess("cupy", _ASK_CUPY)
    if cupy is None or "missing" in cupy:
        return "CuPy is missing: pip install 'gradtape[cuda]'"
    if "error" in cupy:
        return (
            f"CuPy does not work ({cupy['error']}). The driver is for CUDA {driver['version']}: install the "
            f"matching CuPy, cupy-cuda{driver['version'].partition('.')[0]}x"
        )
    return devices.no_gpu_because()


def _describe_outcome(ask: Callable[..., str], *args: Any) -> str:
    """Returns the result of `ask`, or a description of its failure."""
    try:
        return ask(*args)
    except Exception as error:
        return f"could not be queried: {type(error).__name__}: {error}"


def _about(device: Device) -> str:
    if device.kind == "CPU":
        return "NumPy"
    gpu = gradtape.config.list_physical_devices("GPU")[device.physical]
    details = gradtape.config.experimental.get_device_details(gpu)
    memory = gradtape.config.experimental.get_memory_info(f"GPU:{device.index}")
    capability = ".".join(map(str, details.get("compute_capability", ("?",))))
    used = ", ".join(f"{name} {bytes_ / 2**20:.0f} MiB" for name, bytes_ in memory.items())
    return f"{details.get('device_name', 'a GPU')}, compute capability {capability}; memory of tensors: {used}"


def _driver() -> str:
    found = _cuda()
    if found is None:
        return "none"
    return f"for CUDA {found['version']}, sees {found['count']} GPU{'' if found['count'] == 1 else 's'}"


def _cuda() -> dict[str, Any] | None:
    """Queries the driver library: its CUDA version and the number of GPUs; None if there is no driver."""
    for name in ("libcuda.so.1", "libcuda.so", "nvcuda.dll"):
        try:
            library = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        return None
    version, count = ctypes.c_int(0), ctypes.c_int(0)
    library.cuDriverGetVersion(ctypes.byref(version))
    if library.cuInit(0) == 0:
        library.cuDeviceGetCount(ctypes.byref(count))
    return {"version": f"{version.value // 1000}.{version.value % 1000 // 10}", "count": count.value}


def _from_nvidia_smi() -> str:
    """Returns driver version, name and memory of each GPU of the machine, used by gradtape or not."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return "unknown: nvidia-smi was not found"
    asked = "--query-gpu=index,name,driver_version,memory.used,memory.total,compute_cap"
    done = subprocess.run([program, asked, "--format=csv,noheader"], capture_output=True, text=True, timeout=_SECONDS)
    if done.returncode:
        return f"unknown: {(done.stdout + done.stderr).strip()}"
    rows = [[part.strip() for part in line.split(",")] for line in done.stdout.splitlines() if line.count(",") == 5]
    return "; ".join("{}: {}, driver {}, {} of {} in use, compute capability {}".format(*row) for row in rows)


def _query_subprocess(module: str, program: str) -> dict[str, Any]:
    """Runs a query in a subprocess: returns a dict with `sees`, `missing` or `error`."""
    if importlib.util.find_spec(module) is None:
        return {"missing": True}
    try:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    try:
        said: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        last = done.stderr.strip().splitlines()[-1:] or [f"the process ended with {done.returncode}"]
        return {"error": last[0].strip()}
    return said


def _library(distribution: str, said: dict[str, Any], install: str) -> str:
    """Formats the answer of a library in one line."""
    if "missing" in said:
        return f"missing: {install}"
    version = _version(distribution)
    if "error" in said:
        return f"{version} does not work: {said['error']}"
    runtime = f" for CUDA {said['cuda']}" if "cuda" in said else ""
    return f"{version}{runtime}, sees {', '.join(said['sees']) or 'no GPU'}"


def _version(distribution: str) -> str:
    try:
        return f"{distribution} {importlib.metadata.version(distribution)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{distribution}, unknown version"


def cupy_distribution() -> str:
    """Returns the name of the installed CuPy distribution; there is one per CUDA version."""
    return next(iter(importlib.metadata.packages_distributions().get("cupy", ())), "cupy")
