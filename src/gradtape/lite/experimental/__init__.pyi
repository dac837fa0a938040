# Written by tools/write_stubs.py.
from gradtape.lite.experimental import authoring as authoring
from gradtape.api.lite.analysis import (
    Analyzer as Analyzer,
    QuantizationDebugger as QuantizationDebugger,
)
from gradtape.api.lite.experimental_settings import (
    OpResolverType as OpResolverType,
    QuantizationDebugOptions as QuantizationDebugOptions,
)
from gradtape.api.lite.interpreter import (
    load_delegate as load_delegate,
)
