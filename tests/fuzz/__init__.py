"""Random inputs for one feature each, compared with a slow, obvious implementation.

A module of this package is a feature. It defines `disagreements(seed)`, which generates one case from the seed and
returns a message for every way in which the feature and its reference differ: an empty list means that they agree. A
message contains what is needed to reproduce the case. A feature whose reference is TensorFlow takes a second argument,
the path of an interpreter that has it, and returns an empty list when that is None.

`python -m fuzz` (`make fuzz`) runs thousands of cases; `tests/test_fuzz.py` runs the first few of each feature.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable


def features() -> dict[str, Callable[..., list[str]]]:
    """Returns `disagreements` of every module here that defines it, by the module's name."""
    modules = (importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)
               if not found.name.startswith("_"))
    return {module.__name__.rpartition(".")[2]: module.disagreements for module in modules
            if hasattr(module, "disagreements")}


def check(feature: Callable[..., list[str]], seed: int, tensorflow: str | None = None) -> list[str]:
    """Runs one case of a feature, with TensorFlow's interpreter where the feature compares with it."""
    takes_tensorflow = len(inspect.signature(feature).parameters) > 1
    return feature(seed, tensorflow) if takes_tensorflow else feature(seed)
