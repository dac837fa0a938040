# Written by tools/write_stubs.py.
from gradtape.api.sets import (
    difference as _set_difference,
    difference as difference,
    intersection as _set_intersection,
    intersection as intersection,
    size as _set_size,
    size as size,
    union as _set_union,
    union as union,
)
set_difference = _set_difference
set_intersection = _set_intersection
set_size = _set_size
set_union = _set_union
