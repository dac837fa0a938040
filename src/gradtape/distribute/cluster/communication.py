"""Communication settings of TensorFlow's workers, validated but without effect: XLA decides."""

from __future__ import annotations

import enum
from typing import Any

from ...core import log_ignored

NAMESPACES = ("distribute.experimental",)
__all__ = ["CollectiveCommunication", "CommunicationImplementation", "CommunicationOptions"]


class CommunicationImplementation(enum.Enum):
    """The communication library: always gloo on CPUs and NCCL on GPUs, whatever is selected.

    >>> tf.distribute.experimental.CommunicationImplementation.NCCL.value
    'NCCL'
    """

    __module__ = "gradtape.distribute.experimental"

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


CollectiveCommunication = CommunicationImplementation


class CommunicationOptions:
    """Options of a collective: the amount to send at once, and the timeout.

    >>> tf.distribute.experimental.CommunicationOptions(timeout_seconds=60.0).timeout_seconds
    60.0
    """

    __module__ = "gradtape.distribute.experimental"

    def __init__(
        self,
        bytes_per_pack: int = 0,
        timeout_seconds: float | None = None,
        implementation: Any = CommunicationImplementation.AUTO,
    ) -> None:
        if bytes_per_pack < 0:
            raise ValueError(f"Argument `bytes_per_pack` must be >=0, Received {bytes_per_pack}.")
        chosen = implementation.upper() if isinstance(implementation, str) else implementation
        try:
            self.implementation = CommunicationImplementation(chosen)
        except ValueError:
            names = ", ".join(kind.name for kind in CommunicationImplementation)
            raise ValueError(f"implementation must be one of {names}, got {implementation!r}") from None
        log_ignored("distribute.experimental.CommunicationOptions", timeout_seconds=timeout_seconds)
        self.bytes_per_pack = bytes_per_pack
        self.timeout_seconds = timeout_seconds
