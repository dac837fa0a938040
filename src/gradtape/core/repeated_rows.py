"""Whether optimizers sum repeated rows of a gradient first; TensorFlow squares and clips each entry by itself.

TensorFlow's rule is the default. A traced function keeps the setting it was traced with.
"""

from __future__ import annotations

import os

VARIABLE = "GRADTAPE_REPEATED_ROW_SUMS"


class RepeatedRows:
    """The process-wide setting, initialized from the environment."""

    def __init__(self) -> None:
        self.are_summed = os.environ.get(VARIABLE, "0") not in ("", "0")


repeated_rows = RepeatedRows()
