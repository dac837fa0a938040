"""A tape that raises when a result is not finite: it keeps what is needed to find out where that began.

On a finite run it pays for keeping the outputs, and for one look at the results; everything else happens on failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from .log import NotingLog


class CheckedLog(NotingLog):
    """A log that also keeps every output. Its mark says where it stands."""

    keeps = True

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        super().__init__(watch_accessed_variables)
        self.outputs: list[Any] = []

    def _note(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        self.outputs.extend(outputs if type(outputs) is tuple else (outputs,))

    def constant(self, op: Any, inputs: Sequence[Tensor], outputs: Any) -> None:
        """Notes which positions go into an op that has no derivative; what comes out may be a source."""
        super().constant(op, inputs, outputs)
        self.outputs.extend(outputs if type(outputs) is tuple else (outputs,))

    def watch(self, tensor: Tensor) -> None:
        """Makes `tensor` a leaf of this log."""
        super().watch(tensor)
        self.outputs.append(tensor)

    def forget(self) -> None:
        """Nothing is let go: who asked for a check wants to know more when it fails."""
