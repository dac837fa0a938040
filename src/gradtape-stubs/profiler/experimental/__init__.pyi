# Written by tools/write_stubs.py.
from gradtape.api.profiler.sessions import (
    Profile as Profile,
    ProfilerOptions as ProfilerOptions,
    Trace as Trace,
    start as start,
    stop as stop,
)
