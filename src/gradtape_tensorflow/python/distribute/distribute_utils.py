"""`tensorflow.python.distribute.distribute_utils`: contexts of distributed variables."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext


def cache_variable_reads() -> AbstractContextManager[None]:
    """Context manager without effect: reads of a variable are cheap."""
    return nullcontext()
