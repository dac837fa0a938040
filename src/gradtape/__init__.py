"""gradtape: TensorFlow's GradientTape system, without TensorFlow.

>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = x**2
>>> tape.gradient(y, x)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>
"""

from __future__ import annotations

import importlib as _importlib
import os as _os
import sys as _sys
import warnings as _warnings
from contextlib import suppress as _suppress
from typing import Any as _Any

# OpenBLAS's threads wait busily for the next product, by default for so long that they take the cores away from what is
# no product: a training step of a CNN on four cores takes nearly twice as long. This is 2**20 cycles, a third of a
# millisecond, and OpenBLAS reads it when NumPy is imported. Products one after the other lose nothing.
_os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")

from .api.moved_modules import MOVED as _MOVED
from .api.namespace import BUILD as _BUILD
from .api.namespace import KERAS as _KERAS
from .api.namespace import OWN as _OWN
from .api.namespace import resolve as _resolve
from .api.namespace import star_names as _star_names
from .api.tape import GradientTape as GradientTape
from .api.tape_arguments import UnconnectedGradients as UnconnectedGradients
from .autograph import on_demand as _on_demand  # noqa: F401  converts functions
from .core import extension_points as _extension_points
from .core.pickling import register_moved as _register_moved
from .core.shapes import TensorShape as TensorShape
from .core.slices import IndexedSlices as IndexedSlices
from .core.tensor import Tensor as Tensor
from .core.tracebacks import at_boundary as _at_boundary
from .core.tracebacks import without_ours as _without_ours
from .ops import operators as _operators  # noqa: F401  gives tensors their operators
from .state import gpu as _gpu
from .state.variable import Variable as Variable

# Threads share caches of traces, programs and rules, which are filled without locks and so rely on the GIL.
if not getattr(_sys, "_is_gil_enabled", lambda: True)():
    raise ImportError(
        "gradtape needs Python's global interpreter lock (GIL), which is off in this free-threaded build of Python "
        f"{_sys.version.split()[0]}. Turn it on with the environment variable PYTHON_GIL=1 or with `python -X gil=1`, "
        "or use a build of Python that is not free-threaded"
    )

# gradtape's own version. `__version__` is that of TensorFlow's API, which programs written for TensorFlow check.
__gradtape_version__ = "0.2.0"

with _suppress(ImportError):  # adds the startup file's hook where Python has not: in `python -S`, on PYTHONPATH
    import _gradtape_keras  # noqa: F401
if _os.environ.get("KERAS_BACKEND") == "gradtape":
    import keras_gradtape.loader as _loader  # noqa: F401  so that `import keras` finds the backend

# Division by zero and overflow give inf and nan, as in TensorFlow; NumPy's warnings about our kernels say nothing more.
# The filter is for gradtape's own modules only. Where warnings are errors, see `backends/numpy/floating_point.py`.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradtape\.")
_extension_points.public_names.install(lambda: _importlib.import_module("gradtape.api.raw_ops.spelling"))
# The TensorFlow annex is reached through these and the index of names only.
_extension_points.graph_defs.install(lambda: _importlib.import_module("gradtape_tensorflow.graph_defs.presentation"))
_extension_points.message_class.install(
    lambda name: _importlib.import_module("gradtape_tensorflow.protos.generated").message_class(name)
)
_extension_points.tensorflow_hook.install(lambda: _importlib.import_module("gradtape_tensorflow.stand_in"))
_register_moved(_MOVED)
_gpu.use_if_there()


@_at_boundary  # of a name that does not exist
def __getattr__(name: str) -> _Any:
    if name == "__all__":
        return _star_names()
    if name in _BUILD:
        return _resolve(_BUILD[name])
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _OWN:
        return _importlib.import_module(f"gradtape.{name}")
    if name in _KERAS:
        try:
            keras = _importlib.import_module("gradtape.keras")
        except ImportError as error:  # for `hasattr`, and other callers that probe for a name
            message = f"tf.{name} needs Keras, which could not be imported: {error}"
            raise AttributeError(message, name=name) from (error if _without_ours(error.__traceback__) else None)
        return keras if name == "keras" else getattr(keras, name)
    value = _resolve(name)
    globals()[name] = value
    return value


def load_ipython_extension(shell: _Any) -> None:
    """Registers the cell magic `%%tape`; IPython calls this for `%load_ext gradtape`."""
    _importlib.import_module("gradtape.api.debugging.cell_magic").load(shell)


def __dir__() -> list[str]:
    """Returns TensorFlow's names and gradtape's own, without the packages that implement them."""
    from .core.extras import is_installed

    keras = _KERAS if is_installed("keras") else ()
    return sorted({*_star_names(), *keras, *_BUILD, *(name for name in globals() if name.startswith("__"))})
