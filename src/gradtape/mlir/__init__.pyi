# Written by tools/write_stubs.py.
from gradtape.mlir import experimental as experimental
