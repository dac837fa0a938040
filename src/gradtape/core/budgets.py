"""Parses memory budgets (bytes, `"512MB"`, or a fraction of the unconstrained memory) and formats byte counts."""

from __future__ import annotations

import math
import operator
import re
import threading
from typing import Any

from .scopes import carried

_UNITS = {"": 1, "B": 1} | {
    f"{prefix}{suffix}": base**power
    for suffix, base in (("B", 1000), ("iB", 1024))
    for power, prefix in enumerate("KMGT", 1)
}
_SPELLINGS = {unit.upper(): size for unit, size in _UNITS.items()}
_WRITTEN = r"\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*([a-z]*|%)\s*"
_EXPECTED = "a number of bytes, a string such as '512MB', '2GiB' or '25%', or a fraction between 0 and 1"
SMALLEST_BYTES = 1000  # a smaller budget is almost certainly a forgotten unit: no step fits in it


class _InForce(threading.local):
    budget: int | float | None = None


in_force = carried(_InForce())  # set by `gradtape.memory_budget` for this thread, as returned by `parse_budget`


def parse_budget(budget: Any, name: str = "memory_budget") -> int | float:
    """Returns a budget: bytes as an int, or a fraction of the unconstrained memory as a float between 0 and 1.

    Fewer than `SMALLEST_BYTES` bytes raise an error, since the caller probably forgot the unit.

    `name` is the name of the argument, for error messages.

    >>> parse_budget("512MB"), parse_budget("2GiB"), parse_budget(4096), parse_budget(0.25), parse_budget("10%")
    (512000000, 2147483648, 4096, 0.25, 0.1)
    """
    if isinstance(budget, str):
        return _of_text(budget, name)
    try:
        if isinstance(budget, bool):
            raise TypeError
        value: int | float = operator.index(budget)
    except TypeError:
        if isinstance(budget, bool) or not hasattr(budget, "__float__") or getattr(budget, "shape", ()) != ():
            raise TypeError(f"{name} must be {_EXPECTED}, got {budget!r} of type {type(budget).__name__}") from None
        value = float(budget)
    return _checked(value, budget, name)


def _of_text(budget: str, name: str) -> int | float:
    written = re.fullmatch(_WRITTEN, budget, re.IGNORECASE)
    if written is None:
        raise ValueError(f"{name} must be {_EXPECTED}, got {budget!r}")
    number, unit = float(written[1]), written[2]
    if unit == "%":
        if not 0 < number < 100:
            raise ValueError(f"{name} must be between 0% and 100% of what would be kept, got {budget!r}")
        return number / 100
    size = _SPELLINGS.get(unit.upper())
    if size is None:
        raise ValueError(f"{name} has the unit {unit!r}, which is none of {', '.join(_UNITS)[2:]}: got {budget!r}")
    return _checked(round(number * size) if unit else number, budget, name)


def _checked(value: int | float, budget: int | float | str, name: str) -> int | float:
    if isinstance(value, float) and 0 < value < 1:
        return value
    if not math.isfinite(value) or value <= 0 or value != int(value) or value == 1.0:
        raise ValueError(f"{name} must be {_EXPECTED}, got {budget!r}. Without a budget (None) everything is kept")
    if value < SMALLEST_BYTES:
        hint = "" if isinstance(budget, str) and budget.strip()[-1:].isalpha() else _units_hint(value)
        raise ValueError(
            f"{name}={budget!r} is {value:.0f} bytes, and the smallest budget is {SMALLEST_BYTES} bytes, '1KB'. A "
            f"number is one of bytes{hint}; a fraction of what would be kept is one between 0 and 1, or '25%'"
        )
    return int(value)


def _units_hint(value: int | float) -> str:
    return f": write '{value:.0f}GB' or '{value:.0f}MB' for other units"


def readable_bytes(count: float) -> str:
    """Formats a number of bytes with a unit.

    >>> readable_bytes(1_500_000)
    '1.5 MB'
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError
