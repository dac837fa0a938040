# Written by tools/write_stubs.py.
from gradtape.api.profiler.server import (
    start as start,
)
