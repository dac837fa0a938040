# Written by tools/write_stubs.py.
from gradtape_tensorflow.lite import (
    OpResolverType as OpResolverType,
    QuantizationDebugOptions as QuantizationDebugOptions,
    QuantizationDebugger as QuantizationDebugger,
)
