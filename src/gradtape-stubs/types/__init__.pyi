# Written by tools/write_stubs.py.
from gradtape.types import experimental as experimental
