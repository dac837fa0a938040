# Written by tools/write_stubs.py.
from gradtape.xla import experimental as experimental
