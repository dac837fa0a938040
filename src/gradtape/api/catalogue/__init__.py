"""The catalogue of public functions: one row per function that is a single op or a single expression.

A row (`row.py`) has the public names, the parameters, the op, the documentation and an example. `api.namespace.resolve`
publishes it behind a front (`fronts.py`); the index of names, the stubs and the reference derive from it.
"""

import importlib
from functools import cache

from .row import Row

SECTIONS = ("analysis", "arithmetic", "logic", "special")


@cache
def rows() -> tuple[Row, ...]:
    """Returns all rows."""
    sections = [importlib.import_module(f"{__name__}.{section}") for section in SECTIONS]
    return tuple(value for section in sections for value in vars(section).values() if isinstance(value, Row))
