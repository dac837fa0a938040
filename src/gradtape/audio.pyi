# Written by tools/write_stubs.py.
from gradtape.api.io.audio import (
    decode_wav as decode_wav,
    encode_wav as encode_wav,
)
