"""Keras 3 with gradtape as its backend.

Keras chooses its backend while it is imported, from a fixed list. The finder below answers in the place of Keras' own
`numpy` backend, which cannot train, with the modules of `keras_gradtape`; when all places where Keras chooses have been
served, it gives the backend its own name. No file of Keras is changed. If another backend was asked for, nothing
happens.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

NAME = "gradtape"
TESTED = ("3.15",)  # the versions of Keras whose places are known
serves_tensorflow = False  # whether this program's `tensorflow` is gradtape, so that Keras' `tensorflow` backend is too

_CONFIG = "keras.src.backend.config"
_OPTIMIZER = "keras.src.optimizers.optimizer"
_ADAPTERS = "keras.src.trainers.data_adapters"
_WRITTEN_WITH_TENSORFLOW = (
    "keras.src.legacy.layers",
    "keras.src.layers.preprocessing.normalization",
    "keras.src.layers.preprocessing.discretization",
)
_BACKEND_FUNCTIONS = "keras.src.legacy.backend"
_TENSORBOARD = "keras.src.callbacks.tensorboard"
_NN = "keras.src.ops.nn"
_WIDER = {"int32": "int64", "uint32": "uint64"}
_SEEDS = "keras.src.utils.rng_utils"
_SERIALIZATION = "keras.src.saving.serialization_lib"
_SLOT = "keras.src.backend.numpy"
_SERVED = {
    _SLOT: "from keras_gradtape.src.backend import *",
    f"{_SLOT}.core": "from keras_gradtape.src.ops.core import *",
    f"{_SLOT}.layer": "from keras_gradtape.src.layer import BackendLayer as NumpyLayer",
    f"{_SLOT}.trainer": "from keras_gradtape.src.trainer import Trainer as NumpyTrainer",
    f"{_SLOT}.export": "from keras_gradtape.src.export import SavedModelExportArchive as NumpyExportArchive",
}


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Serves the modules of the backend, from the moment that Keras' configuration asks for gradtape."""

    def __init__(self) -> None:
        self.chosen = False
        self.waiting: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Where `name` comes from, if it is one of ours, or one that something is done to after it was loaded."""
        if not name.startswith("keras.src."):
            return None
        if name == _CONFIG:
            return followed_by(name, path, self._configured, _environment())
        if name == _OPTIMIZER and self.waiting:
            return followed_by(name, path, _extend_optimizer)
        if name == _ADAPTERS and self.chosen:
            return followed_by(name, path, _serve_datasets)
        if name == _SERIALIZATION and self.chosen:
            return followed_by(name, path, _serve_shapes)
        if name in _WRITTEN_WITH_TENSORFLOW and self.chosen:
            return followed_by(name, path, _serve_tensorflow)
        if name == _BACKEND_FUNCTIONS and self.chosen:
            return followed_by(name, path, _serve_backend_functions)
        if name == _TENSORBOARD and self.chosen:
            return followed_by(name, path, _serve_summaries)
        if name == _NN and self.chosen:
            return followed_by(name, path, _serve_normalization)
        if name in self.waiting:
            return importlib.util.spec_from_loader(name, self, is_package=name == _SLOT)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """The usual module."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Fills a module of the slot with ours."""
        exec(_SERVED[module.__name__], vars(module))
        self.waiting.discard(module.__name__)
        if not self.waiting:
            _give_name()
            _serve_seeds()

    def _configured(self, config: Any) -> None:
        """Keras knows which backend it is to use: until its choices are made, it takes ours for `numpy`."""
        self.waiting = set()
        self.chosen = config._BACKEND == NAME
        if self.chosen:
            config._BACKEND = "numpy"
            self.waiting = set(_SERVED)


def _asked_for(otherwise: str) -> str:
    """The backend that the environment names, or `otherwise`."""
    asked = os.environ.get("KERAS_BACKEND", "")
    if serves_tensorflow and asked in ("", "tensorflow"):
        return NAME
    return asked or otherwise


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """An environment that asks Keras for the right backend, for as long as Keras looks at it."""
    before = os.environ.get("KERAS_BACKEND")
    os.environ["KERAS_BACKEND"] = _asked_for("")
    try:
        yield
    finally:
        del os.environ["KERAS_BACKEND"]
        if before is not None:
            os.environ["KERAS_BACKEND"] = before


def followed_by(
    name: str,
    path: Any,
    then: Callable[[types.ModuleType], None],
    within: contextlib.AbstractContextManager[None] | None = None,
) -> importlib.machinery.ModuleSpec | None:
    """The spec of a module that is loaded as always, `within` a context, after which `then(module)` is called."""
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is not None and spec.loader is not None:
        load = spec.loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            with within or contextlib.nullcontext():
                load(module)
            then(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
    return spec


def _extend_optimizer(module: Any) -> None:
    """Keras' optimizers get what ours adds to the base class."""
    from keras_gradtape.src.optimizer import OptimizerExtension

    module.BackendOptimizer.__bases__ = (OptimizerExtension, *module.BackendOptimizer.__bases__)


def _serve_datasets(module: Any) -> None:
    """`fit` and its like take our datasets."""
    from keras_gradtape.src.datasets import serve

    serve(module)


def _serve_tensorflow(module: Any) -> None:
    """The layers that only `tf.keras` has, and some that adapt to data, use TensorFlow's names: they get ours."""
    import gradtape

    module.tf = gradtape


def _serve_backend_functions(module: Any) -> None:
    """The functions of `tf.keras.backend` call TensorFlow 1 as well."""
    module.tf = importlib.import_module("keras_gradtape.src.backend_functions")


def _serve_summaries(module: Any) -> None:
    """The callback for TensorBoard writes with `tf.summary`: TensorFlow's where there is TensorFlow, elsewhere ours."""
    if not serves_tensorflow and importlib.util.find_spec("tensorflow") is not None:
        return
    import gradtape

    module.TensorBoard.summary = property(lambda callback: gradtape.summary)
    module.keras_model_summary = importlib.import_module("keras_gradtape.src.model_summary").write_model


def _serve_shapes(module: Any) -> None:
    """A shape or a dtype in a configuration is written as a list or a name, as TensorFlow's are."""
    import gradtape

    module.tf = types.SimpleNamespace(
        available=True, TensorShape=gradtape.TensorShape, DType=gradtape.DType, TypeSpec=()  # no spec is written
    )  # fmt: skip


def _serve_normalization(nn: Any) -> None:
    """`keras.ops.layer_normalization`, for which backends have no function, is one op where it is along rows."""
    from keras_gradtape.src.ops.nn.normalization import layer_normalization

    by_parts = nn._layer_normalization

    def whole(x: Any, gamma: Any = None, beta: Any = None, axis: Any = -1, epsilon: Any = None, **options: Any) -> Any:
        y = None if any(options.values()) else layer_normalization(x, gamma, beta, axis, epsilon)
        return by_parts(x, gamma, beta, axis, epsilon, **options) if y is None else y

    nn._layer_normalization = whole


def _serve_seeds() -> None:
    """`keras.utils.set_random_seed` sets the seed of `tf.random` too where there is TensorFlow: here, gradtape's."""
    import gradtape

    rng_utils: Any = importlib.import_module(_SEEDS)  # loaded before Keras knew its backend
    rng_utils.tf = types.SimpleNamespace(available=True, random=gradtape.random)


def _give_name() -> None:
    """All choices are made: from here on the backend is called `gradtape`."""
    sys.modules[_CONFIG]._BACKEND = NAME  # type: ignore[attr-defined]
    from keras.src import backend
    from keras.src.backend.common import dtypes
    from keras.src.utils.backend_utils import DynamicBackend
    from keras.src.version import __version__

    dtypes.BIT64_TO_BIT32_DTYPE.update(float64="float64", complex128="complex128")  # JAX alone has to halve them
    dtypes._lattice_result_type = _keeping_64_bits(dtypes._lattice_result_type)
    get, put = DynamicBackend.__getattr__, DynamicBackend.set_backend
    DynamicBackend.__getattr__ = lambda self, name: (
        getattr(backend, name) if self._backend == NAME else get(self, name)
    )
    DynamicBackend.set_backend = lambda self, name: (
        setattr(self, "_backend", name) if name == NAME else put(self, name)
    )
    if not __version__.startswith(tuple(f"{version}." for version in TESTED)):
        warnings.warn(
            f"gradtape was tested with Keras {', '.join(TESTED)}, this is Keras {__version__}. If something is odd, "
            f"install one of those: pip install 'keras=={TESTED[-1]}.*'",
            stacklevel=2,
        )


def _keeping_64_bits(lattice: Callable[..., str]) -> Callable[..., str]:
    """Keras' promotion, in which the 64 bits of an argument stay; those that uint32 and int32 make become 32."""

    def promoted(*dtypes: Any) -> str:
        found = lattice(*dtypes)
        wider = _WIDER.get(found)
        return wider if wider is not None and wider in dtypes else found

    return promoted


def install() -> None:
    """Makes `KERAS_BACKEND=gradtape` known to Keras, unless Keras has been imported already."""
    if _CONFIG not in sys.modules and not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())


def load() -> types.ModuleType:
    """Keras on gradtape, imported now if it was not before."""
    if _CONFIG not in sys.modules:
        install()
        asked = _asked_for(NAME)
        if asked != NAME:
            raise ImportError(
                f"gradtape.keras is Keras on gradtape, but the environment asks for KERAS_BACKEND={asked}. Unset it, "
                "or set it to gradtape"
            )
        if not serves_tensorflow:
            os.environ["KERAS_BACKEND"] = NAME
    try:
        import keras
    except ModuleNotFoundError as error:
        if error.name != "keras":
            raise
        raise ImportError("gradtape.keras needs Keras, which is not installed: pip install 'gradtape[keras]'") from None
    if keras.config.backend() != NAME:
        raise ImportError(
            f"Keras was imported before, with the backend {keras.config.backend()!r}, and a process has one. Import "
            f"gradtape.keras before keras, or set KERAS_BACKEND={NAME}"
        )
    return keras


install()
