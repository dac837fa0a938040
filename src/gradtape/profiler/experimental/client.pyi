# Written by tools/write_stubs.py.
from gradtape.api.profiler.client import (
    monitor as monitor,
    trace as trace,
)
