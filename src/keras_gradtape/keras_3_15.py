"""Keras 3.15, which has no pluggable backends: gradtape takes the place of Keras' `numpy` backend, which cannot train.

The modules of `keras_gradtape` are substituted for those of that backend, and the backend gets its own name once Keras
has imported all of them. This file can be deleted with the support of Keras 3.15: nothing else depends on it.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import sys
import types
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib.machinery import ModuleSpec
from typing import Any

Adapt = Callable[[Any], None]
_NAME = "gradtape"
_SLOT = "keras.src.backend.numpy"
_TENSORFLOW = "keras.src.backend.tensorflow"
_ALL_NAMES = "".join(f"from keras_gradtape.src{part} import *\n" for part in ("", ".ops", ".rnn"))  # in one module
_BACKEND = {
    _SLOT: _ALL_NAMES,
    f"{_SLOT}.core": "from keras_gradtape.src.ops.core import *",
    f"{_SLOT}.layer": "from keras_gradtape.src.layer import BackendLayer as NumpyLayer",
    f"{_SLOT}.trainer": "from keras_gradtape.src.trainer import Trainer as NumpyTrainer",
    f"{_SLOT}.export": "from keras_gradtape.src.export import SavedModelExportArchive as NumpyExportArchive",
}
_BESIDE = {
    _TENSORFLOW: _ALL_NAMES,
    f"{_TENSORFLOW}.layer": "from keras_gradtape.src.layer import TFLayer",
    f"{_TENSORFLOW}.random": "from keras_gradtape.src.random import *",
    f"{_TENSORFLOW}.rnn": "from keras_gradtape.src.rnn import *",
    f"{_TENSORFLOW}.sparse": "from keras_gradtape.src.sparse import *",
    f"{_TENSORFLOW}.trainer": "from keras_gradtape.src.trainer import TensorFlowTrainer",
    **{
        f"{_TENSORFLOW}.{name}": f"from keras_gradtape.src.ops.{name} import *"
        for name in ("core", "image", "linalg", "math", "nn", "numpy")
    },
}


def take_place(
    config: Any, adaptations: dict[str, Adapt], within: Callable[[], AbstractContextManager[None]]
) -> Callable[[str], ModuleSpec | None]:
    """Returns what finds the substituted modules, which are loaded `within` a context.

    Keras sees the backend as `numpy` until all of them are imported.
    """
    config._BACKEND = "numpy"
    adaptations.update(_ADAPTATIONS)
    return _Substitutes(config, within).find


class _Substitutes(importlib.abc.Loader):
    """Finds and loads the modules of `keras_gradtape` in the places of those of Keras."""

    def __init__(self, config: Any, within: Callable[[], AbstractContextManager[None]]) -> None:
        self._config, self._within = config, within
        self._waiting = set(_BACKEND)

    def find(self, name: str) -> ModuleSpec | None:
        """Returns the spec of a substituted module; what a substituted package does not have is Keras' own."""
        if name not in _BACKEND and name not in _BESIDE:
            return None
        backends: Any = sys.modules["keras.src.backend"]
        is_package = name in (_SLOT, _TENSORFLOW)  # not by the folder, which archives and frozen programs do not have
        spec = importlib.util.spec_from_loader(name, self, is_package=is_package)
        if spec is not None and is_package:
            spec.submodule_search_locations = [os.path.join(backends.__path__[0], *name.split(".")[3:])]
        return spec

    def exec_module(self, module: types.ModuleType) -> None:
        """Fills a module with gradtape's names; the last one gives the backend its name."""
        with self._within():
            exec({**_BACKEND, **_BESIDE}[module.__name__], vars(module))
        self._waiting.discard(module.__name__)
        if not self._waiting:
            self._config._BACKEND = _NAME


def _name_trainer(module: Any) -> None:
    """Gives the base class of trainers the name that it has in later versions."""
    module.BaseTrainer = module.Trainer


def _name_archive(module: Any) -> None:
    """Gives the base class of archives the name that it has in later versions."""
    module.BaseSavedModelExportArchive = module.SavedModelExportArchive


def _serve_distribution(module: Any) -> None:
    """Registers the `distribution_lib` for `keras.distribution`: the substituted backend has none."""
    from keras.src import backend

    from .src import distribution

    backend.distribution_lib = module.distribution_lib = distribution
    module.Distribution.distribute_tf_dataset = distribution.local_dataset


def _serve_normalization(nn: Any) -> None:
    """Uses a fused op for `keras.ops.layer_normalization` along rows: there is no function of backends for it."""
    from .src.ops.nn.normalization import fused_layer_normalization

    by_parts = nn._layer_normalization

    def whole(x: Any, gamma: Any = None, beta: Any = None, axis: Any = -1, epsilon: Any = None, **options: Any) -> Any:
        y = None if any(options.values()) else fused_layer_normalization(x, gamma, beta, axis, epsilon)
        return by_parts(x, gamma, beta, axis, epsilon, **options) if y is None else y

    nn._layer_normalization = whole


def _know_backend(backend_utils: Any) -> None:
    """Makes `keras.utils.DynamicBackend` know the name; and no graph is TensorFlow's."""
    backend = sys.modules["keras.src.backend"]
    dynamic = backend_utils.DynamicBackend
    get, put = dynamic.__getattr__, dynamic.set_backend
    dynamic.__getattr__ = lambda self, name: getattr(backend, name) if self._backend == _NAME else get(self, name)
    dynamic.set_backend = lambda self, name: setattr(self, "_backend", name) if name == _NAME else put(self, name)
    backend_utils.in_tf_graph = lambda: False


_ADAPTATIONS: dict[str, Adapt] = {
    "keras.src.distribution.distribution_lib": _serve_distribution,
    "keras.src.export.saved_model_export_archive": _name_archive,
    "keras.src.ops.nn": _serve_normalization,
    "keras.src.trainers.trainer": _name_trainer,
    "keras.src.utils.backend_utils": _know_backend,
}
