"""Realistic programs whose gradients are lost, and healthy ones, for `gradtape run --trace`.

Each lost gradient has its kind, the cause, text that the explanation must contain, and the program, in which the faulty
line is marked with `# here`.
"""

from __future__ import annotations

from typing import NamedTuple


class Lost(NamedTuple):
    """A program and its expected explanation."""

    kind: str  # None, zero or not finite
    cause: str
    says: tuple[str, ...]
    program: str
    raises: bool = False  # whether it ends in Keras' "No gradients provided"


LOST: dict[str, Lost] = {}
HEALTHY: dict[str, str] = {}

TF = "import numpy as np\nimport tensorflow as tf\n"


def lost(name: str, kind: str, cause: str, says: tuple[str, ...], program: str, raises: bool = False) -> None:
    """Adds a program."""
    LOST[name] = Lost(kind, cause, says, TF + program.strip("\n") + "\n", raises)


def healthy(name: str, program: str) -> None:
    """Adds a program that must not be reported."""
    HEALTHY[name] = TF + program.strip("\n") + "\n"


from . import cut, not_finite, sound, unconnected, unconnected_in_functions, zeros  # noqa: E402, F401  which add theirs
