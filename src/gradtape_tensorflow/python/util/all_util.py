"""`tensorflow.python.util.all_util`: the public names of a module."""

from __future__ import annotations

from typing import Any


def remove_undocumented(module_name: str, allowed_exception_list: Any = None, doc_string_modules: Any = None) -> None:
    """Does nothing: all names of a module stay."""


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """Returns the names of a module without leading underscore."""
    import sys

    return sorted(name for name in vars(sys.modules[module_name]) if not name.startswith("_"))
