"""`tensorflow.python.util.module_wrapper`: there are no wrapped modules here, and no warnings of deprecated ones."""

from __future__ import annotations

import types


class TFModuleWrapper(types.ModuleType):
    """The class of TensorFlow 1's module `tf`, which no module has here."""


def get_rename_v2(name: str) -> str | None:
    """Returns None: no name of TensorFlow 1 is deprecated here."""
    return None
