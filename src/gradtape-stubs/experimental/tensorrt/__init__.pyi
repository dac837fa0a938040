# Written by tools/write_stubs.py.
from gradtape_tensorflow.tensorrt import (
    ConversionParams as ConversionParams,
    Converter as Converter,
)
