# Written by tools/write_stubs.py.
from gradtape.lite import experimental as experimental
from gradtape_tensorflow.lite.converter import (
    TFLiteConverter as TFLiteConverter,
)
from gradtape_tensorflow.lite.interpreter import (
    Interpreter as Interpreter,
)
from gradtape_tensorflow.lite.settings import (
    OpsSet as OpsSet,
    Optimize as Optimize,
)
