# Written by tools/write_stubs.py.
from gradtape.lite import experimental as experimental
from gradtape.api.lite.converter import (
    TFLiteConverter as TFLiteConverter,
)
from gradtape.api.lite.interpreter import (
    Interpreter as Interpreter,
)
from gradtape.api.lite.settings import (
    OpsSet as OpsSet,
    Optimize as Optimize,
    RepresentativeDataset as RepresentativeDataset,
    TargetSpec as TargetSpec,
)
