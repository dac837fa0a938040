"""The switch for deliberate differences in numbers: off, gradtape's own numbers; on, TensorFlow's.

What it changes is listed in docs/coming-from-tensorflow.md. A function keeps the numbers it was traced with.
"""

from __future__ import annotations

import os

VARIABLE = "GRADTAPE_TENSORFLOW_NUMERICS"


class Numerics:
    """The state of the switch, of the whole process; the environment sets it first."""

    def __init__(self) -> None:
        self.like_tensorflow = os.environ.get(VARIABLE, "0") not in ("", "0")


numerics = Numerics()
