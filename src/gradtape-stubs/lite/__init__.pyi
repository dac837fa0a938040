# Written by tools/write_stubs.py.
from gradtape.lite import experimental as experimental
from gradtape_tensorflow.lite import (
    Interpreter as Interpreter,
    OpsSet as OpsSet,
    Optimize as Optimize,
    TFLiteConverter as TFLiteConverter,
)
