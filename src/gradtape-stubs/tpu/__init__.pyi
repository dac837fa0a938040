# Written by tools/write_stubs.py.
from gradtape.tpu import experimental as experimental
from gradtape_tensorflow.tpu.system import (
    XLAOptions as XLAOptions,
)
