"""The ops, one folder per field and one file per subject; the kernel and the derivatives of an op stand side by side.

Uses `registry` and the layers below.
"""

from __future__ import annotations

from ..core.extension_points import load_ops


def load_all() -> None:
    """Imports every module that defines ops, so that any rule finds any op."""
    import importlib
    import pkgutil

    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        importlib.import_module(module.name)


load_ops.install(load_all)
