# Written by tools/write_stubs.py.
from gradtape.api.control.autodiff import (
    ForwardAccumulator as ForwardAccumulator,
    GradientTape as GradientTape,
)
