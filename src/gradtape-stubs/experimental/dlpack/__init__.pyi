# Written by tools/write_stubs.py.
from gradtape.api.experimental.dlpack import (
    from_dlpack as from_dlpack,
    to_dlpack as to_dlpack,
)
