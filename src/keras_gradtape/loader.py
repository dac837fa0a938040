"""Runs Keras 3 with gradtape as its backend.

Keras selects its backend during import, from a fixed list. The import hook below substitutes the modules of
`keras_gradtape` for those of Keras' `numpy` backend, which cannot train; once Keras has imported all of them, the hook
gives the backend its own name. No file of Keras is modified. If another backend is requested, the hook does nothing.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import json
import logging
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

NAME = "gradtape"
TESTED = ("3.15",)  # the Keras versions for which the hooks are tested


class _Role:
    """What gradtape is in this process."""

    serves_tensorflow = False  # whether it serves as `tensorflow`, so that Keras' `tensorflow` backend is gradtape
    is_demanded = False  # whether the program has asked for `gradtape.keras`, which is Keras on gradtape


def _installed() -> list[Any]:
    """Returns the import hooks, also one of a former import: `keras.config.set_backend` forgets modules `keras...`."""
    return [finder for finder in sys.meta_path if type(finder).__module__ == __name__]


role = next((finder.role for finder in _installed()), None) or _Role()

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
_TENSORFLOW = "keras.src.backend.tensorflow"  # imported by layers and libraries that use it besides their backend
_BESIDE = {
    _TENSORFLOW: "from keras_gradtape.src.backend import *",
    f"{_TENSORFLOW}.layer": "from keras_gradtape.src.layer import BackendLayer as TFLayer",
    f"{_TENSORFLOW}.random": "from keras_gradtape.src.random import *",
    f"{_TENSORFLOW}.rnn": "from keras_gradtape.src.rnn import *",
    f"{_TENSORFLOW}.sparse": "from keras_gradtape.src.sparse import *",
    f"{_TENSORFLOW}.trainer": "from keras_gradtape.src.trainer import Trainer as TensorFlowTrainer",
    **{
        f"{_TENSORFLOW}.{name}": f"from keras_gradtape.src.ops.{name} import *"
        for name in ("core", "image", "linalg", "math", "nn", "numpy")
    },
}


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import hook that serves the backend modules once Keras' configuration requests gradtape."""

    def __init__(self) -> None:
        self.role = role
        self.chosen = False
        self.waiting: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Returns the spec of `name` if it is a backend module, or a module to patch after loading."""
        if not name.startswith("keras."):
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
        """Returns the spec of a substitute in Keras' TensorFlow backend; the rest of its folder is Keras' own."""
        spec = importlib.util.spec_from_loader(name, self, is_package=name == _TENSORFLOW)
        if spec is not None and name == _TENSORFLOW:
            spec.submodule_search_locations = [os.path.join(folder, "tensorflow") for folder in path]
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Uses the default module creation."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Fills a substituted module with gradtape's names."""
        name = module.__name__
        exec(_BESIDE.get(name) or _SERVED[name], vars(module))
        if name in self.waiting:
            self.waiting.discard(name)
            if not self.waiting:
                _give_name()

    def _configured(self, config: Any) -> None:
        """After the configuration has loaded: Keras sees the backend as `numpy` until all its modules are imported."""
        self.waiting = set()
        self.chosen = config._BACKEND == NAME
        if self.chosen:
            config._BACKEND = "numpy"
            self.waiting = set(_SERVED)
            for name in _FOLLOWED.keys() & sys.modules.keys():  # modules that the configuration itself imported
                _FOLLOWED[name](sys.modules[name])


def _named_by_variable() -> str:
    """Returns the backend that `KERAS_BACKEND` names, or an empty string."""
    asked = os.environ.get("KERAS_BACKEND", "")
    return NAME if role.serves_tensorflow and asked == "tensorflow" else asked


def _named_by_file() -> str:
    """Returns the backend that `keras.json` names; an empty string for TensorFlow, which Keras itself writes there."""
    home = os.path.expanduser("~")
    folder = os.environ.get("KERAS_HOME") or os.path.join(home if os.access(home, os.W_OK) else "/tmp", ".keras")
    try:
        with open(os.path.expanduser(os.path.join(folder, "keras.json"))) as file:
            named = json.load(file).get("backend", "")
    except (OSError, ValueError, AttributeError):
        return ""
    return "" if named == "tensorflow" else named


def chosen_backend() -> str:
    """Returns the backend of the Keras that is about to be imported, or an empty string if Keras chooses itself.

    The table in docs/keras.md has every case.
    """
    asked = _named_by_variable()
    if asked or role.is_demanded:
        return asked or NAME
    is_used = role.serves_tensorflow or NAME in sys.modules
    return _named_by_file() or (NAME if is_used else "")


def _is_single_file(spec: importlib.machinery.ModuleSpec) -> bool:
    """Whether a module is no package, such as a program `keras.py` or `tensorflow.py` beside the one that runs."""
    return spec.submodule_search_locations is None


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """Context manager: sets `KERAS_BACKEND` while Keras reads it."""
    before = os.environ.get("KERAS_BACKEND")
    backend = chosen_backend()
    is_named = role.serves_tensorflow or role.is_demanded or _named_by_variable() or _named_by_file()
    tensorflow = importlib.util.find_spec("tensorflow")
    if backend == NAME and not is_named and tensorflow and not _is_single_file(tensorflow):
        logging.getLogger("gradtape").warning(
            "Keras runs on gradtape, which this program imports; KERAS_BACKEND=tensorflow runs it on TensorFlow"
        )
    os.environ["KERAS_BACKEND"] = backend
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
    """Returns the spec of a module that is loaded normally, `within` a context, then passed to `then`."""
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
    """Adds gradtape's extension to the base class of Keras' optimizers."""
    from keras_gradtape.src.optimizer import OptimizerExtension

    module.BackendOptimizer.__bases__ = (OptimizerExtension, *module.BackendOptimizer.__bases__)


def _keep_former_names(module: Any) -> None:
    """Gives metrics the Keras 2 method name of TensorFlow's tutorials, if gradtape serves as `tensorflow`."""
    if role.serves_tensorflow:
        module.Metric.reset_states = lambda self: self.reset_state()


def _serve_tensorflow(module_utils: Any) -> None:
    """Redirects Keras' own uses of TensorFlow, which do not depend on the backend, to gradtape."""
    module_utils.tensorflow.name = "keras_gradtape.src.tensorflow"
    module_utils.gfile.name = "gradtape.io.gfile"


def _know_types(module: Any) -> None:
    """Makes Keras' type checks, which compare TensorFlow's module names, recognize gradtape's types."""
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


def _hide_frames(module: Any) -> None:
    """Leaves gradtape's frames out of Keras' tracebacks, which are without Keras' and TensorFlow's."""
    from gradtape.core.tracebacks import without_ours

    without_keras = module._process_traceback_frames
    module._process_traceback_frames = lambda trace: without_keras(without_ours(trace))


def _know_graphs(backend_utils: Any) -> None:
    """Keras checks for a TensorFlow graph, in which only its TensorFlow backend works: never true here."""
    backend_utils.in_tf_graph = lambda: False


def _serve_summaries(module: Any) -> None:
    """Lets the TensorBoard callback write with gradtape's `tf.summary`."""
    import gradtape

    module.TensorBoard.summary = property(lambda callback: gradtape.summary)
    module.keras_model_summary = importlib.import_module("keras_gradtape.src.model_summary").write_model


def _serve_distribution(module: Any) -> None:
    """Registers the `distribution_lib` for `keras.distribution`: the substituted backend has none."""
    from keras.src import backend

    from keras_gradtape.src import distribution

    backend.distribution_lib = module.distribution_lib = distribution
    module.Distribution.distribute_tf_dataset = distribution.local_dataset


def _serve_normalization(nn: Any) -> None:
    """Uses a fused op for `keras.ops.layer_normalization` along rows; Keras has no backend function for it."""
    from keras_gradtape.src.ops.nn.normalization import layer_normalization

    by_parts = nn._layer_normalization

    def whole(x: Any, gamma: Any = None, beta: Any = None, axis: Any = -1, epsilon: Any = None, **options: Any) -> Any:
        y = None if any(options.values()) else layer_normalization(x, gamma, beta, axis, epsilon)
        return by_parts(x, gamma, beta, axis, epsilon, **options) if y is None else y

    nn._layer_normalization = whole


def _scale_losses(module: Any) -> None:
    """Scales losses by the number of replicas of a strategy, as on TensorFlow."""
    from keras_gradtape.src import replicas

    module.scale_loss_for_distribution, module.unscale_loss_for_distribution = replicas.scaled, replicas.unscaled


def _synchronise_batch_norm(module: Any) -> None:
    """Enables synchronized batch normalization, which Keras restricts to its TensorFlow backend."""
    module.backend = _AsTensorFlow(module.backend)


def _answer_tensorflow(module: Any) -> None:
    """Makes the public `backend()` return "tensorflow" if gradtape serves as `tensorflow`.

    Libraries compare the name with those of Keras' own backends, to choose the code for TensorFlow. Keras itself asks
    `keras.src.backend`, which returns gradtape's name.
    """
    if role.serves_tensorflow:
        module.backend = _tensorflow_name


def _tensorflow_name() -> str:
    """Returns the name of the backend that `tensorflow` is."""
    return "tensorflow"


class _AsTensorFlow:
    """Keras' backend under the name `tensorflow`, for a module that only checks the name."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def backend(self) -> str:
        """Returns the name."""
        return "tensorflow"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)


# Keras modules that are patched after loading.
_FOLLOWED = {
    "keras._tf_keras.keras.backend": _answer_tensorflow,
    "keras._tf_keras.keras.config": _answer_tensorflow,
    "keras.backend": _answer_tensorflow,
    "keras.config": _answer_tensorflow,
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
    "keras.src.utils.traceback_utils": _hide_frames,
}


def _give_name() -> None:
    """Names the backend `gradtape`, after Keras has imported all its modules."""
    sys.modules[_CONFIG]._BACKEND = NAME  # type: ignore[attr-defined]
    from keras.src import backend
    from keras.src.backend.common import dtypes
    from keras.src.utils.backend_utils import DynamicBackend
    from keras.src.version import __version__

    dtypes.BIT64_TO_BIT32_DTYPE.update(float64="float64", complex128="complex128")  # Keras narrows them for JAX only
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
    """Wraps Keras' dtype promotion: keeps 64-bit arguments 64-bit; results that only promotion widens become 32-bit."""

    def promoted(*dtypes: Any) -> str:
        found = lattice(*dtypes)
        wider = _WIDER.get(found)
        return wider if wider is not None and wider in dtypes else found

    return promoted


def install() -> None:
    """Installs the import hook, unless Keras is imported already."""
    if _CONFIG not in sys.modules:
        former = _installed()
        sys.meta_path[:] = [Finder(), *(finder for finder in sys.meta_path if finder not in former)]


def load() -> types.ModuleType:
    """Returns Keras on gradtape; imports it if necessary."""
    if _CONFIG not in sys.modules:
        asked = _named_by_variable()
        if asked not in ("", NAME):
            raise ImportError(
                f"gradtape.keras is Keras on gradtape, but the environment asks for KERAS_BACKEND={asked}. Unset it, "
                "or set it to gradtape"
            )
        spec = importlib.util.find_spec("keras")
        if spec and _is_single_file(spec):
            raise ImportError(f"`import keras` imports {spec.origin} instead of Keras: rename that file")
        role.is_demanded = True
        install()
        if not role.serves_tensorflow:
            os.environ["KERAS_BACKEND"] = NAME  # for processes that this one starts
    try:
        import keras
    except ModuleNotFoundError as error:
        if error.name != "keras":
            raise
        from gradtape.core.extras import install_command

        how = install_command("keras")
        raise ImportError(f"gradtape.keras needs Keras, which is not installed: {how}") from None
    backend = sys.modules[_CONFIG].backend()
    if backend != NAME:
        raise ImportError(
            f"Keras was imported before with the backend {backend!r}, and a process has one: set KERAS_BACKEND={NAME}, "
            "or import gradtape before keras"
        )
    return keras


install()
