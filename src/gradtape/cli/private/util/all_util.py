"""`tensorflow.python.util.all_util`: which names of a module are public."""

from __future__ import annotations

from typing import Any


def remove_undocumented(module_name: str, allowed_exception_list: Any = None, doc_string_modules: Any = None) -> None:
    """Nothing to do: what a module defines stays where it is."""


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """The names of a module that do not begin with an underscore."""
    import sys

    return sorted(name for name in vars(sys.modules[module_name]) if not name.startswith("_"))
