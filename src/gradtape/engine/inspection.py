"""The questions one may ask about a tape, rather than of it: why, from where, at what cost, and is it right.

The answers are made in `gradtape.inspect`, above the engine, which is imported when the first question is asked.
"""

from __future__ import annotations

import importlib
from typing import Any

from numpy import add, isfinite

from .. import dtypes, errors
from ..slices import IndexedSlices
from ..tensor import Tensor

_FLOATS = dtypes.FLOAT | dtypes.COMPLEX | dtypes.NARROW


def _inspect() -> Any:
    return importlib.import_module("gradtape.inspect")


class Inspection:
    """What a tape says about itself."""

    _check: str | None

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

    def diagnose(self, target: Any = None, sources: Any = None) -> Any:
        """Where the first infinity or NaN on the way to the target, or back to the sources, came from.

        Without arguments it is about the last question this tape answered, if the tape was made with `check="nan"` or
        `trace=True`.

        >>> import gradtape as tf
        >>> x = tf.Variable([1.0, 0.0])
        >>> with tf.GradientTape(trace=True) as tape:
        ...     loss = tf.reduce_sum(tf.math.log(x))
        >>> found = tape.diagnose(loss, x)
        >>> found.op, found.direction, found.index
        ('log', 'forward', (1,))
        """
        return _inspect().diagnose(self, target, sources)

    def _answered(self, log: Any, question: tuple[Any, ...], gradients: list[Any]) -> None:
        """Remembers the last question, for those that come without one; raises if a check fails."""
        log.question = question
        if self._check is not None and not (all(map(_is_finite, question[0])) and all(map(_is_finite, gradients))):
            raise errors.InvalidArgumentError(str(self.diagnose()))


def _is_finite(x: Any) -> bool:
    """Whether a target or gradient has neither infinities nor NaNs, as far as its value is known."""
    if type(x) is IndexedSlices:
        x = x.values
    if type(x) is not Tensor or not x.dtype.kind & _FLOATS:
        return True
    # Infinities and NaNs do not get lost in a sum, which takes half the time; one that overflows has to be looked at.
    return bool(isfinite(add.reduce(x.array, axis=None)) or isfinite(x.array).all())
