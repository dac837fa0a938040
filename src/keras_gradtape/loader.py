"""Keras 3 with gradtape as its backend.

Keras chooses its backend while it is imported, from a fixed list. The finder below answers in the place of Keras' own
`numpy` backend, which cannot train, with the modules of `keras_gradtape`; when all places where Keras chooses have been
served, it gives the backend its own name. No file of Keras is changed. If another backend was asked for, nothing
happens.
"""

from __future__ import annotations

import contextlib
import functools
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
_WIDER = {"int32": "int64", "uint32": "uint64"}
_SLOT = "keras.src.backend.numpy"
_SERVED = {
    _SLOT: "from keras_gradtape.src.backend import *",
    f"{_SLOT}.core": "from keras_gradtape.src.ops.core import *",
    f"{_SLOT}.layer": "from keras_gradtape.src.layer import BackendLayer as NumpyLayer",
    f"{_SLOT}.trainer": "from keras_gradtape.src.trainer import Trainer as NumpyTrainer",
    f"{_SLOT}.export": "from keras_gradtape.src.export import SavedModelExportArchive as NumpyExportArchive",
}
_TENSORFLOW = "keras.src.backend.tensorflow"  # asked for by layers that use TensorFlow beside their backend
_BESIDE = {
    _TENSORFLOW: "from keras_gradtape.src.backend import *",
    f"{_TENSORFLOW}.core": "from keras_gradtape.src.ops.core import *",
    f"{_TENSORFLOW}.sparse": "from keras_gradtape.src.sparse import *",
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
        if self.chosen and name in _FOLLOWED:
            return followed_by(name, path, _FOLLOWED[name])
        if self.chosen and name in _BESIDE:
            return self._beside(name, path)
        if name in self.waiting:
            return importlib.util.spec_from_loader(name, self, is_package=name == _SLOT)
        return None

    def _beside(self, name: str, path: Any) -> importlib.machinery.ModuleSpec | None:
        """A module of Keras' backend for TensorFlow that is ours; what else is in its folder is Keras' own."""
        spec = importlib.util.spec_from_loader(name, self, is_package=name == _TENSORFLOW)
        if spec is not None and name == _TENSORFLOW:
            spec.submodule_search_locations = [os.path.join(folder, "tensorflow") for folder in path]
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """The usual module."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Fills a module of the slot with ours."""
        name = module.__name__
        exec(_BESIDE.get(name) or _SERVED[name], vars(module))
        if name in self.waiting:
            self.waiting.discard(name)
            if not self.waiting:
                _give_name()

    def _configured(self, config: Any) -> None:
        """Keras knows which backend it is to use: until its choices are made, it takes ours for `numpy`."""
        self.waiting = set()
        self.chosen = config._BACKEND == NAME
        if self.chosen:
            config._BACKEND = "numpy"
            self.waiting = set(_SERVED)
            for name in _FOLLOWED.keys() & sys.modules.keys():  # what the configuration itself has loaded
                _FOLLOWED[name](sys.modules[name])


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


def _keep_former_names(module: Any) -> None:
    """Metrics have a name of Keras 2's, by which TensorFlow's tutorials call them, where gradtape is `tensorflow`."""
    if serves_tensorflow:
        module.Metric.reset_states = lambda self: self.reset_state()


def _serve_tensorflow(module_utils: Any) -> None:
    """Where Keras itself uses TensorFlow, whatever its backend is, it finds gradtape."""
    module_utils.tensorflow.name = "keras_gradtape.src.tensorflow"
    module_utils.gfile.name = "gradtape.io.gfile"


def _know_types(module: Any) -> None:
    """Keras knows TensorFlow's types by the names of their modules: here gradtape's are those."""
    import gradtape

    ragged, sparse = gradtape.RaggedTensor, gradtape.SparseTensor
    types: dict[str, Any] = {
        "is_tf_dataset": (gradtape.data.Dataset, gradtape.distribute.DistributedDataset),
        "is_tensorflow_tensor": (gradtape.Tensor, ragged, sparse),
        "is_tensorflow_ragged": ragged, "is_tensorflow_sparse": sparse, "is_ragged_tensor": ragged,
    }  # fmt: skip
    for name in types.keys() & vars(module).keys():
        setattr(module, name, functools.partial(_is_instance, types[name]))


def _is_instance(kinds: Any, value: Any) -> bool:
    return isinstance(value, kinds)


def _know_graphs(backend_utils: Any) -> None:
    """A graph of TensorFlow's, in which only another backend would work, is none of gradtape's."""
    backend_utils.in_tf_graph = lambda: False


def _serve_summaries(module: Any) -> None:
    """The callback for TensorBoard writes with `tf.summary`."""
    import gradtape

    module.TensorBoard.summary = property(lambda callback: gradtape.summary)
    module.keras_model_summary = importlib.import_module("keras_gradtape.src.model_summary").write_model


def _serve_distribution(module: Any) -> None:
    """`keras.distribution` asks a library of the backend's; where ours stands, Keras knows of none."""
    from keras.src import backend

    from keras_gradtape.src import distribution

    backend.distribution_lib = module.distribution_lib = distribution
    module.Distribution.distribute_tf_dataset = distribution.local_dataset


def _serve_normalization(nn: Any) -> None:
    """`keras.ops.layer_normalization`, for which backends have no function, is one op where it is along rows."""
    from keras_gradtape.src.ops.nn.normalization import layer_normalization

    by_parts = nn._layer_normalization

    def whole(x: Any, gamma: Any = None, beta: Any = None, axis: Any = -1, epsilon: Any = None, **options: Any) -> Any:
        y = None if any(options.values()) else layer_normalization(x, gamma, beta, axis, epsilon)
        return by_parts(x, gamma, beta, axis, epsilon, **options) if y is None else y

    nn._layer_normalization = whole


def _scale_losses(module: Any) -> None:
    """Losses are divided among the replicas of a strategy, as with TensorFlow."""
    from keras_gradtape.src import replicas

    module.scale_loss_for_distribution, module.unscale_loss_for_distribution = replicas.scaled, replicas.unscaled


def _synchronise_batch_norm(module: Any) -> None:
    """Batch normalisation over all replicas of a strategy, which Keras grants to TensorFlow alone."""
    module.backend = _AsTensorFlow(module.backend)


class _AsTensorFlow:
    """Keras' backend under TensorFlow's name, for a module that asks for nothing but that."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def backend(self) -> str:
        """The name."""
        return "tensorflow"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)


# The modules of Keras to which something is done when they have been loaded.
_FOLLOWED = {
    "keras.src.callbacks.tensorboard": _serve_summaries,
    "keras.src.distribution.distribution_lib": _serve_distribution,
    "keras.src.layers.normalization.batch_normalization": _synchronise_batch_norm,
    "keras.src.losses.loss": _scale_losses,
    "keras.src.metrics.metric": _keep_former_names,
    "keras.src.ops.nn": _serve_normalization,
    "keras.src.optimizers.optimizer": _extend_optimizer,
    "keras.src.trainers.data_adapters": _know_types,
    "keras.src.trainers.data_adapters.data_adapter_utils": _know_types,
    "keras.src.utils.backend_utils": _know_graphs,
    "keras.src.utils.dataset_utils": _know_types,
    "keras.src.utils.module_utils": _serve_tensorflow,
    "keras.src.utils.tf_utils": _know_types,
}


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
    DynamicBackend.__getattr__ = lambda self, name: getattr(backend, name) if self._backend == NAME else get(self, name)
    DynamicBackend.set_backend = lambda self, name: setattr(self, "_backend", name) if name == NAME else put(self, name)
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
