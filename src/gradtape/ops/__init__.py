"""The ops, one folder per field and one file per subject; the kernel and the derivatives of an op stand side by side.

Uses `registry` and the layers below.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..core.extension_points import load_op
from ..engine.run.namespace import ops

_FIRST = (f"{__name__}.arrays.structure", f"{__name__}.arrays.reductions")  # which nearly every program needs


def load(name: str) -> None:
    """Imports modules that define ops, one by one, until one of them has defined the op `name`."""
    import importlib

    for module in _modules():
        importlib.import_module(module)
        if name in vars(ops):
            return


def load_all() -> None:
    """Imports every module that defines ops."""
    load("")


def _modules() -> Iterator[str]:
    """Yields the names of the modules that define ops, some of them twice."""
    yield from _FIRST
    import pkgutil

    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        yield module.name


load_op.install(load)
