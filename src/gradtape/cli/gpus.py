"""The GPU section of `gradtape doctor`: the driver, the GPUs that PyTorch and JAX see, and why gradtape uses none.

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
from ..core.extras import install_command
from ..state import gpu

_SECONDS = 90  # time limit for querying a library

_ASK_TORCH = """
import json, torch
sees = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
if torch.backends.mps.is_available():
    sees.append("Apple GPU")
said = {"cuda": torch.version.cuda, "hip": torch.version.hip, "sees": sees}
if torch.version.cuda and not sees:
    try:
        torch.cuda.init()
    except Exception as error:
        said["because"] = str(error).partition(". ")[0]
print(json.dumps(said))
"""
_ASK_JAX = """
import json, os
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
print(json.dumps({"sees": [f"{d.platform}:{d.id} {d.device_kind}" for d in jax.devices()]}))
"""


def device_facts() -> dict[str, str]:
    """Returns a description of each device, the driver, PyTorch's and JAX' devices, and why there is no GPU."""
    driver, torch = _describe_outcome(_driver), _query_subprocess("torch", _ASK_TORCH)
    facts = {f"{device.kind}:{device.index}": _describe_outcome(_about, device) for device in devices.logical_devices()}
    reason = _describe_outcome(why_no_gpu, torch)
    if reason:
        facts["GPU"] = f"none is used: {reason}"
    return {
        **facts,
        "NVIDIA driver": driver,
        "GPUs": _describe_outcome(_from_nvidia_smi),
        "PyTorch": describe_torch(torch),
        "JAX": describe_jax(_query_subprocess("jax", _ASK_JAX), uses_gpu=not reason),
        "TF32": "on" if devices.tensor_float_32.enabled else "off",
    }


def why_no_gpu(torch: dict[str, Any] | None = None) -> str:
    """Returns why gradtape uses no GPU and what to do; "" if it uses one. `torch` is PyTorch's answer, if known."""
    if devices.logical_devices("GPU"):
        return ""
    off = devices.turned_off()
    if off:
        return f"{off} turns GPUs off"
    if devices.physical_devices("GPU"):
        return "tf.config.set_visible_devices excludes them"
    torch = torch or _query_subprocess("torch", _ASK_TORCH)
    driver = _cuda()
    if not gpu.IS_APPLE and not torch.get("hip"):
        if driver is None:
            return gpu.NO_DRIVER
        if not driver["count"]:
            return f"NVIDIA's driver, for CUDA {driver['version']}, sees no GPU"
    if "missing" in torch:
        return gpu.NO_TORCH
    if "error" in torch:
        return f"PyTorch does not work ({torch['error']}){_matching_build(driver)}"
    if torch.get("cuda") and not torch["sees"]:
        because = torch.get("because", "it does not say why")
        return f"PyTorch, built for CUDA {torch['cuda']}, sees no GPU ({because}){_matching_build(driver)}"
    return gpu.why_unusable() or devices.no_gpu_because()


def _matching_build(driver: dict[str, Any] | None) -> str:
    """Says which PyTorch a driver runs."""
    if driver is None:
        return ""
    return (
        f". The driver is for CUDA {driver['version']}: update it, or install a PyTorch built for CUDA "
        f"{driver['version']} or older, as pytorch.org/get-started says"
    )


def _describe_outcome(ask: Callable[..., str], *args: Any) -> str:
    """Returns the result of `ask`, or a description of its failure."""
    try:
        return ask(*args)
    except Exception as error:
        return f"could not be queried: {type(error).__name__}: {error}"


def _about(device: Device) -> str:
    if device.kind == "CPU":
        return "NumPy"
    physical = gradtape.config.list_physical_devices("GPU")[device.physical]
    details = gradtape.config.experimental.get_device_details(physical)
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
    library = gpu.cuda_driver()
    if library is None:
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


def describe_torch(said: dict[str, Any]) -> str:
    """Describes PyTorch in one line: its version, what it was built for, and the GPUs that it sees."""
    platforms = {"CUDA": said.get("cuda"), "ROCm": said.get("hip")}
    built = [f"{name} {version}" for name, version in platforms.items() if version]
    runtime = f" for {built[0]}" if built else "" if gpu.IS_APPLE else " without CUDA"
    because = f" ({said['because']})" if "because" in said else ""
    return _library("torch", said, install_command("torch"), runtime) + because


def describe_jax(said: dict[str, Any], uses_gpu: bool) -> str:
    """Describes JAX in one line, and what to do if it sees no GPU although gradtape uses one."""
    line = _library("jax", said, install_command("xla"))
    if uses_gpu and all(device.startswith("cpu") for device in said.get("sees", ["unknown"])):
        line += "; without CUDA, it compiles no function for the GPU: pip install 'jax[cuda12]'"
    return line


def _library(distribution: str, said: dict[str, Any], install: str, runtime: str = "") -> str:
    """Formats the answer of a library in one line."""
    if "missing" in said:
        return f"missing: {install}"
    version = _version(distribution)
    if "error" in said:
        return f"{version} does not work: {said['error']}"
    return f"{version}{runtime}, sees {', '.join(said['sees']) or 'no GPU'}"


def _version(distribution: str) -> str:
    try:
        return f"{distribution} {importlib.metadata.version(distribution)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{distribution}, unknown version"
