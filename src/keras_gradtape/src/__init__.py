"""The interface of a Keras backend, which Keras imports; `layer`, `trainer` and `export` beside it belong to it, too.

Keras calls it a pluggable backend. Older versions get it from `keras_3_15`.
"""

from keras.src.backend.common.name_scope import name_scope as name_scope

from . import distribution as distribution_lib
from . import ops as ops
from . import random as random
from . import rnn as rnn
from .ops.core import Variable as Variable
from .ops.core import compute_output_spec as compute_output_spec
from .ops.core import device_scope as device_scope

IS_THREAD_SAFE = True
SUPPORTS_COMPLEX_DTYPES = True
SUPPORTS_GRADIENT = True
SUPPORTS_RAGGED_TENSORS = False
SUPPORTS_SPARSE_TENSORS = True

__all__ = [
    "IS_THREAD_SAFE", "SUPPORTS_COMPLEX_DTYPES", "SUPPORTS_GRADIENT", "SUPPORTS_RAGGED_TENSORS",
    "SUPPORTS_SPARSE_TENSORS", "Variable", "compute_output_spec", "device_scope", "distribution_lib", "name_scope",
    "ops", "random", "rnn",
]  # fmt: skip
