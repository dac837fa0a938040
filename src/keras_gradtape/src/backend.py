"""The backend interface that Keras imports: modules and functions."""

from keras.src.backend.common.name_scope import name_scope as name_scope

from . import random as random
from .ops import core as core
from .ops import image as image
from .ops import linalg as linalg
from .ops import math as math
from .ops import nn as nn
from .ops import numpy as numpy
from .ops.core import IS_THREAD_SAFE as IS_THREAD_SAFE
from .ops.core import SUPPORTS_COMPLEX_DTYPES as SUPPORTS_COMPLEX_DTYPES
from .ops.core import SUPPORTS_RAGGED_TENSORS as SUPPORTS_RAGGED_TENSORS
from .ops.core import SUPPORTS_SPARSE_TENSORS as SUPPORTS_SPARSE_TENSORS
from .ops.core import Variable as Variable
from .ops.core import cast as cast
from .ops.core import compute_output_spec as compute_output_spec
from .ops.core import cond as cond
from .ops.core import convert_to_numpy as convert_to_numpy
from .ops.core import convert_to_tensor as convert_to_tensor
from .ops.core import device_scope as device_scope
from .ops.core import is_tensor as is_tensor
from .ops.core import random_seed_dtype as random_seed_dtype
from .ops.core import scatter as scatter
from .ops.core import shape as shape
from .ops.core import stop_gradient as stop_gradient
from .ops.core import vectorized_map as vectorized_map
from .rnn import bidirectional_gru as bidirectional_gru
from .rnn import bidirectional_lstm as bidirectional_lstm
from .rnn import cudnn_ok as cudnn_ok
from .rnn import gru as gru
from .rnn import lstm as lstm
from .rnn import rnn as rnn
