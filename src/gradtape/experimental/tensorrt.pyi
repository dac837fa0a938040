# Written by tools/write_stubs.py.
from gradtape.api.compilers.tensorrt import (
    ConversionParams as ConversionParams,
    Converter as Converter,
)
