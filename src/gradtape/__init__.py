"""gradtape: TensorFlow's GradientTape system, without TensorFlow.

>>> import gradtape as tf
>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = x**2
>>> print(tape.gradient(y, x))
tf.Tensor(6.0, shape=(), dtype=float32)
"""

from __future__ import annotations

import sys as _sys
import warnings as _warnings
from typing import Any as _Any

from . import dtypes as _dtypes
from .api.names import NAMES as _NAMES
from .api.namespace import Namespace as _Namespace
from .api.namespace import resolve as _resolve
from .api.namespace import spaces as _spaces
from .backends.memory import keep_freed_memory as _keep_freed_memory
from .engine.tape import GradientTape, UnconnectedGradients
from .ops import operators as _operators
from .slices import IndexedSlices
from .tensor import Tensor
from .shapes import TensorShape
from .variable import Variable

__version__ = "0.1.0"

_keep_freed_memory()

# Division by zero and overflow give inf and nan, as in TensorFlow; NumPy's warnings about our own kernels say nothing more.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradtape\.")

newaxis = None


def __getattr__(name: str) -> _Any:
    if name.startswith("__"):
        raise AttributeError(name)
    value = _resolve(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *(path for path in _NAMES if "." not in path)})


for _space in _spaces():
    _parent, _, _leaf = _space.rpartition(".")
    _module = _sys.modules[f"gradtape.{_space}"] = _Namespace(_space)
    if _parent:
        setattr(_sys.modules[f"gradtape.{_parent}"], _leaf, _module)
    else:
        globals()[_leaf] = _module
for _dtype in _dtypes.ALL:
    globals()[_dtype.name] = _dtype
half, double = _dtypes.half, _dtypes.double
