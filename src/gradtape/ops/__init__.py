"""The ops, a folder a field and a file a subject; the kernel and the calculus of one op stand side by side.

Uses registry and below.
"""

from __future__ import annotations

from ..backends.numpy import onednn as onednn  # fills the table of `accelerated`, before an op looks into it
from ..engine.run.namespace import Namespace


def load_all() -> None:
    """Imports every module that defines ops, so that any rule finds any op."""
    import importlib
    import pkgutil

    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        importlib.import_module(module.name)


Namespace.load_all = staticmethod(load_all)
