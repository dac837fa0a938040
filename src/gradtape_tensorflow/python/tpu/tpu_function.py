"""`tensorflow.python.tpu.tpu_function`: the replicas of a TPU computation, of which there is none."""

from __future__ import annotations


class TpuContext:
    """The number of shards of the current TPU computation."""

    number_of_shards: int | None = None

    def set_number_of_shards(self, number_of_shards: int | None) -> None:
        """Sets the number of shards."""
        self.number_of_shards = number_of_shards


_context = TpuContext()


def get_tpu_context() -> TpuContext:
    """Returns the context of the process."""
    return _context
