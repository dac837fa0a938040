# Written by tools/write_stubs.py.
from gradtape.tpu import experimental as experimental
from gradtape.api.tpu.system import (
    XLAOptions as XLAOptions,
)
