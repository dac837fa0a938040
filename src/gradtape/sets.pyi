# Written by tools/write_stubs.py.
from gradtape.api.sparse.sets import (
    difference as difference,
    intersection as intersection,
    size as size,
    union as union,
)
