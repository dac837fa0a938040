# Written by tools/write_stubs.py.
from gradtape_tensorflow.lite.analysis import (
    QuantizationDebugger as QuantizationDebugger,
)
from gradtape_tensorflow.lite.experimental_settings import (
    OpResolverType as OpResolverType,
    QuantizationDebugOptions as QuantizationDebugOptions,
)
