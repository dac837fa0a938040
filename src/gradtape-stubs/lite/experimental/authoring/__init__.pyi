# Written by tools/write_stubs.py.
from gradtape_tensorflow.lite.analysis import (
    compatible as compatible,
)
