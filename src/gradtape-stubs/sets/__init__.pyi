# Written by tools/write_stubs.py.
from gradtape.api.sets import (
    difference as difference,
    intersection as intersection,
    size as size,
    union as union,
)
