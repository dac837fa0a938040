"""`tensorflow.python.tools.module_util`: where modules are."""

from __future__ import annotations

import os
import types


def get_parent_dir(module: types.ModuleType) -> str:
    """Returns the folder of a module."""
    return os.path.abspath(os.path.join(os.path.dirname(module.__file__ or ""), ".."))


def get_parent_dir_for_name(module_name: str) -> str | None:
    """Returns the folder above the module with a name, or None."""
    import importlib.util

    spec = importlib.util.find_spec(module_name)
    return os.path.dirname(os.path.dirname(spec.origin)) if spec and spec.origin else None
