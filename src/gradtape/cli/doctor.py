"""`gradtape doctor`: shows what gradtape finds on this machine, and whether it works."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import importlib.util
import io
import json
import os
import platform
import sys
from typing import Any

from rich.markup import escape

import gradtape
from gradtape.core.extras import install_command
from gradtape.engine.run.progress import reporting

from .gpus import device_facts
from .output import console, table
from .self_test import TESTS, SelfTestOutcome, perform

# Optional dependencies: module, distribution, purpose and the extra that adds it.
PARTS = [
    ("keras", "keras", "tf.keras", "keras"),
    ("jax", "jax", "jit_compile=True", "xla"),
    ("torch", "torch", "kernels for large arrays", "torch"),
    ("array_api_compat", "array-api-compat", "GPUs, with PyTorch", "torch"),
    ("PIL", "pillow", "image files", "jpeg"),
    ("tensorboardX", "tensorboardX", "tf.summary", "summary"),
    ("matplotlib", "matplotlib", "plots of the demo", "examples"),
]


def doctor(*, test: bool = True, as_json: bool = False) -> int:
    """Shows versions, machine, dependencies and self-test results.

    Returns 1 if a test fails or a required dependency is missing.
    """
    with reporting("looking for devices"):
        sections = {"versions": versions(), "machine": machine(), "devices": _devices()}
    parts = [part_found(*part) for part in PARTS]
    outcomes: list[SelfTestOutcome] = []
    if as_json:
        for name in TESTS if test else ():
            with reporting(f"testing {name}"):
                outcomes.append(perform(name))
        tests = [outcome._asdict() for outcome in outcomes]
        print(json.dumps({**sections, "parts": parts, "tests": tests}, indent=1))
    else:
        _show(sections, parts)
        outcomes = _show_tests() if test else []
    return int("missing" in sections["versions"].values() or any(outcome.status == "failed" for outcome in outcomes))


def versions() -> dict[str, str]:
    """Returns the versions of gradtape, Python and required dependencies."""
    found = {"gradtape": gradtape.__gradtape_version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "ml_dtypes", "rich", "diastatic-malt"):
        found[name] = _version(name) or "missing"
    return found


def _devices() -> dict[str, str]:
    """Returns the devices and details of GPUs."""
    try:
        return device_facts()
    except Exception as error:  # a broken driver may raise anything
        return {"GPU": f"could not be queried: {type(error).__name__}: {error}"}


def machine() -> dict[str, str]:
    """Returns the processor, the devices and the numerical libraries."""
    return {
        "system": f"{platform.system()} {platform.release()} on {platform.machine()}",
        "processor": _processor(),
        "cores": f"{len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()} usable of "
        f"{os.cpu_count()}",
        "devices": ", ".join(device.name for device in gradtape.config.list_logical_devices()),
        "BLAS": _blas(),
        "threads": _thread_settings() or "one per core (no *_NUM_THREADS is set)",
        "large arrays": _kernels(),
        "executable": sys.executable,
    }


def _thread_settings() -> str:
    return ", ".join(f"{name}={os.environ[name]}" for name in sorted(os.environ) if name.endswith("_NUM_THREADS"))


def part_found(module: str, distribution: str, purpose: str, extra: str) -> dict[str, str | None]:
    """Describes an optional dependency: its version, or None and how to install it."""
    there = importlib.util.find_spec(module) is not None
    version = (_version(distribution) or "unknown version") if there else None
    return {"name": distribution, "for": purpose, "version": version, "install": install_command(extra)}


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _blas() -> str:
    """Describes NumPy's BLAS: by threadpoolctl if installed, else from NumPy's build configuration."""
    import numpy

    if importlib.util.find_spec("threadpoolctl"):
        import threadpoolctl

        numpy.dot(numpy.ones((2, 2)), numpy.ones((2, 2)))
        pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
        if pools:
            about = "{internal_api} {version} ({num_threads} threads)"
            return ", ".join(about.format(**pool) for pool in pools)
    config: Any = numpy.show_config(mode="dicts")
    blas = config["Build Dependencies"]["blas"]
    return f"{blas['name']} {blas['version']}"


def _kernels() -> str:
    """Says which library computes large arrays in host memory, and how to change that."""
    library = importlib.import_module("gradtape.backends.torch.library")
    if library.IS_ENABLED:
        return "PyTorch's kernels (GRADTAPE_KERNELS=numpy turns them off)"
    reason = "PyTorch is not installed" if importlib.util.find_spec("torch") is None else "GRADTAPE_KERNELS=numpy"
    return f"NumPy's kernels ({reason})"


def _show(sections: dict[str, dict[str, str]], parts: list[dict[str, str | None]]) -> None:
    out = console()
    for title, facts in sections.items():
        shown = table(out, title, "", "")
        for name, value in facts.items():
            shown.add_row(name, escape(value))
        out.print(shown)
    shown = table(out, "optional dependencies", "", "", "")
    for part in parts:
        state = f"[green]{part['version']}[/]" if part["version"] else "[yellow]missing[/]"
        remedy = "" if part["version"] else f": {escape(str(part['install']))}"
        shown.add_row(part["name"], state, f"{part['for']}{remedy}")
    out.print(shown)


def _show_tests() -> list[SelfTestOutcome]:
    """Runs the self-tests and prints a line for each as it ends."""
    out = console()
    outcomes = []
    colours = {"passed": "green", "failed": "red", "skipped": "yellow"}
    for name in TESTS:
        with contextlib.redirect_stdout(io.StringIO()), reporting(f"testing {name}"):
            outcome = perform(name)
        outcomes.append(outcome)
        note = f": {escape(outcome.note)}" if outcome.note else ""
        out.print(f"[{colours[outcome.status]}]{outcome.status}[/] {name} ({outcome.seconds:.1f} s){note}")
    failed = sum(outcome.status == "failed" for outcome in outcomes)
    skipped = sum(outcome.status == "skipped" for outcome in outcomes)
    rest = f"; {skipped} skipped: install what they need to use it" if skipped else ""
    out.print((f"[red]{failed} of {len(outcomes)} tests failed[/]" if failed else "[green]no test failed[/]") + rest)
    return outcomes
