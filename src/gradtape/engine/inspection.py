"""The questions one may ask about a tape, rather than of it: why, from where, at what cost, and is it right.

The answers are made in `gradtape.inspect`, above the engine, which is imported when the first question is asked.
"""

from __future__ import annotations

import importlib
from typing import Any


def _inspect() -> Any:
    return importlib.import_module("gradtape.inspect")


class Inspection:
    """What a tape says about itself."""

    def explain(self, target: Any, sources: Any) -> Any:
        """Why each gradient of `target` with respect to `sources` is what it is: a sentence for each source.

        >>> import gradtape as tf
        >>> v, w = tf.Variable(3.0, name="v"), tf.Variable(1.0, name="w")
        >>> with tf.GradientTape() as tape:
        ...     loss = v * v
        >>> tape.explain(loss, [v, w]).reasons[1].source
        '`w`'
        """
        return _inspect().explain(self, target, sources)
