# Written by tools/write_stubs.py.
from gradtape.api.experimental.as_dict import (
    as_dict as as_dict,
)
