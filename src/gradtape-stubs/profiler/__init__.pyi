# Written by tools/write_stubs.py.
from gradtape.profiler import experimental as experimental
