# Written by tools/write_stubs.py.
from gradtape.api.signal.cosine import (
    dct as dct,
    idct as idct,
)
