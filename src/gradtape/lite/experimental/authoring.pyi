# Written by tools/write_stubs.py.
from gradtape.api.lite.analysis import (
    compatible as compatible,
)
