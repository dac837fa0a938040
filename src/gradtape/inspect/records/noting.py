"""Base class of logs that keep an entry for every op, for later diagnosis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...engine.tape.log import Log

NO_ATTRIBUTES: dict[str, Any] = {}


class NotingLog(Log):
    """A log that keeps an entry for every op, recorded or not."""

    keeps_residuals = False  # a diagnosis runs ops again

    def unary(self, op: Any, x: Tensor, y: Tensor, _record: Any = Log.unary) -> None:
        """Records `y = op(x)` for plain tensors."""
        _record(self, op, x, y)
        self._note(op, (x,), y, NO_ATTRIBUTES)

    def binary(self, op: Any, a: Tensor, b: Tensor, y: Tensor, _record: Any = Log.binary) -> None:
        """Records `y = op(a, b)` for plain tensors."""
        _record(self, op, a, b, y)
        self._note(op, (a, b), y, NO_ATTRIBUTES)

    def record(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        """Records any op that has a derivative and an input on the tape."""
        if op.vjp is None:
            self.constant(op, inputs, outputs)
            return
        Log.record(self, op, inputs, outputs, attrs)
        self._note(op, inputs, outputs, attrs)

    def _note(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        """Keeps an entry for an op."""
        raise NotImplementedError
