# Written by tools/write_stubs.py.
from gradtape.api.audio import (
    decode_wav as decode_wav,
    encode_wav as encode_wav,
)
