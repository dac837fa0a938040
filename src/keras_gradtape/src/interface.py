"""What Keras imports from a backend. `keras_gradtape.src` has these names, too."""

from keras.src.backend.common.name_scope import name_scope as name_scope

from . import distribution as distribution_lib  # noqa: F401
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
