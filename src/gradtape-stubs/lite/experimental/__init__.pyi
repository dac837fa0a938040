# Written by tools/write_stubs.py.
from gradtape.lite.experimental import authoring as authoring
from gradtape_tensorflow.lite.analysis import (
    Analyzer as Analyzer,
    QuantizationDebugger as QuantizationDebugger,
)
from gradtape_tensorflow.lite.experimental_settings import (
    OpResolverType as OpResolverType,
    QuantizationDebugOptions as QuantizationDebugOptions,
)
from gradtape_tensorflow.lite.interpreter import (
    load_delegate as load_delegate,
)
