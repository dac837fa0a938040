"""The switch for deliberate numerical differences: off selects gradtape's results, on TensorFlow's.

docs/coming-from-tensorflow.md lists what it changes. A traced function keeps the setting it was traced with.
"""

from __future__ import annotations

import os

VARIABLE = "GRADTAPE_TENSORFLOW_NUMERICS"


class Numerics:
    """The process-wide state of the switch, initialized from the environment."""

    def __init__(self) -> None:
        self.like_tensorflow = os.environ.get(VARIABLE, "0") not in ("", "0")


numerics = Numerics()
