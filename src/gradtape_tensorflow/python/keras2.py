"""`tensorflow.python.keras`: the modules of Keras 2, from the package tf-keras.

A module of tf-keras has the same path as TensorFlow's, unless the table says where its names are now: until Keras 2.6,
one file contained what later versions split or renamed.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import types
from typing import Any

from gradtape.core.extras import keras2_advice
from gradtape.core.pickling import ModuleByName

# The modules below `tensorflow.python` that Keras 2 has, and their paths below `tf_keras.src`.
PLACES = {
    "keras": "",
    "layers": "legacy_tf_layers",
    "ops.rnn_cell": "layers.rnn.legacy_cells",
    "ops.rnn_cell_impl": "layers.rnn.legacy_cells",
}
_PUBLIC = {1: "tf_keras.api._v1.keras", 2: "tf_keras.api._v2.keras"}

# Where the names of a module and of its submodules are: the path below `tf_keras.src`, in the order of the search.
_MOVED = {
    "combinations": "testing_infra.test_combinations",
    "engine.base_layer": "engine.base_layer engine.input_spec",
    "engine.compile_utils": "engine.compile_utils utils.losses_utils",
    "engine.data_adapter": "engine.data_adapter",
    "engine.network": "engine.functional",
    "engine.topology": "engine.base_layer engine.input_layer engine.input_spec utils.layer_utils",
    "initializers.initializers_v2": "initializers.initializers",
    "keras_parameterized": "testing_infra.test_combinations",
    "layers.advanced_activations": "layers.activation",
    "layers.convolutional": "layers.convolutional layers.convolutional.base_conv layers.reshaping layers.pooling",
    "layers.convolutional_recurrent": "layers.rnn layers.rnn.base_conv_rnn layers.rnn.base_conv_lstm",
    "layers.core": "layers.core layers.core.tf_op_layer layers.reshaping layers.regularization",
    "layers.cudnn_recurrent": "layers.rnn layers.rnn.base_cudnn_rnn",
    "layers.dense_attention": "layers.attention layers.attention.base_dense_attention",
    "layers.einsum_dense": "layers.core.einsum_dense",
    "layers.embeddings": "layers.core.embedding",
    "layers.legacy_rnn.rnn_cell_impl": "layers.rnn.legacy_cells",
    "layers.legacy_rnn.rnn_cell_wrapper_impl": "layers.rnn.legacy_cell_wrappers",
    "layers.local": "layers.locally_connected",
    "layers.merge": "layers.merging layers.merging.base_merge",
    "layers.multi_head_attention": "layers.attention.multi_head_attention",
    "layers.noise": "layers.regularization",
    "layers.normalization": "layers.normalization layers.normalization.batch_normalization",
    "layers.normalization_v2": "layers.normalization layers.normalization.batch_normalization",
    "layers.pooling": "layers.pooling layers.pooling.base_pooling1d layers.pooling.base_pooling2d "
    "layers.pooling.base_pooling3d layers.pooling.base_global_pooling1d layers.pooling.base_global_pooling2d",
    "layers.recurrent": "layers.rnn layers.rnn.dropout_rnn_cell_mixin layers.rnn.rnn_utils",
    "layers.recurrent_v2": "layers.rnn layers.rnn.gru_lstm_utils",
    "layers.rnn_cell_wrapper_v2": "layers.rnn.cell_wrappers",
    "layers.wrappers": "layers.rnn",
    "legacy_tf_layers": "legacy_tf_layers legacy_tf_layers.base",
    "legacy_tf_layers.layers": "legacy_tf_layers.core legacy_tf_layers.convolutional legacy_tf_layers.normalization "
    "legacy_tf_layers.pooling",
    "legacy_tf_layers.utils": "utils.conv_utils utils.control_flow_util",
    "mixed_precision.experimental": "mixed_precision",
    "models": "models models.cloning",
    "optimizer_v1": "optimizers.optimizer_v1",
    "optimizer_v2": "optimizers.legacy",
    "optimizer_v2.learning_rate_schedule": "optimizers.schedules.learning_rate_schedule",
    "optimizer_v2.legacy_learning_rate_decay": "optimizers.legacy_learning_rate_decay",
    "optimizer_v2.utils": "optimizers.utils",
    "optimizers": "optimizers optimizers.optimizer_v1",
    "premade": "premade_models",
    "preprocessing.image": "preprocessing.image utils.image_utils",
    "preprocessing.sequence": "preprocessing.sequence utils.data_utils",
    "saving.hdf5_format": "saving.legacy.hdf5_format",
    "saving.model_config": "saving.legacy.model_config",
    "saving.save": "saving.legacy.save",
    "saving.saved_model": "saving.legacy.saved_model",
    "saving.saving_utils": "saving.legacy.saving_utils",
    "testing_utils": "testing_infra.test_utils",
    "utils.all_utils": "utils",
    "utils.generic_utils": "utils.generic_utils saving.object_registration saving.legacy.serialization",
    "utils.tf_utils": "utils.tf_utils utils.layer_utils",
}
_RENAMED = {"Network": "Functional"}
# Modules of gradtape that are searched before those of tf-keras.
_FIRST = {
    "engine.data_adapter": ("gradtape_tensorflow.python.keras_removed",),
    "saving.saving_utils": ("gradtape_tensorflow.python.keras_export",),  # for models of Keras 3 too
}


class KerasModule(ModuleByName):
    """A module whose names are in several modules of tf-keras; an underscore of old may be gone."""

    def __init__(self, name: str, modules: list[types.ModuleType]) -> None:
        super().__init__(name, modules[0].__doc__)
        self.__path__: list[str] = []
        self._modules = modules

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for each in (name, _RENAMED.get(name, name), name.lstrip("_")):
            for module in self._modules:
                if hasattr(module, each):
                    return self._submodule(each) or getattr(module, each)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} in the installed tf-keras", name=name)

    def _submodule(self, name: str) -> types.ModuleType | None:
        """Imports a submodule that tf-keras has at the same path, with the names that the table adds to it."""
        path = f"{self.__name__}.{name}"
        same = path.replace("tensorflow.python.keras", "tf_keras.src", 1)
        return importlib.import_module(path) if same in sys.modules else None

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *(name for module in self._modules for name in dir(module))})


def serves(place: str) -> bool:
    """Returns whether the module at `place` is one of Keras 2."""
    return any(place == each or place.startswith(f"{each}.") for each in PLACES)


def module(place: str) -> types.ModuleType | None:
    """Returns the counterpart of the module at `place`, one that `serves` accepts; None if tf-keras has none."""
    require()
    root = next(each for each in PLACES if place == each or place.startswith(f"{each}."))
    path = f"{PLACES[root]}{place.removeprefix(root)}".lstrip(".")
    if path.split(".")[0] in ("api", "protobuf"):
        return _found(f"tf_keras.{path}")
    for known in sorted(_MOVED, key=len, reverse=True):
        if path == known:
            names = (*_FIRST.get(path, ()), *(f"tf_keras.src.{each}" for each in _MOVED[known].split()))
            modules = [importlib.import_module(name) for name in names]
            itself = names == (f"tf_keras.src.{path}",)
            return modules[0] if itself else KerasModule(f"tensorflow.python.{place}", modules)
        if path.startswith(f"{known}."):
            return _found(f"tf_keras.src.{_MOVED[known].split()[0]}{path.removeprefix(known)}")
    found = _found(f"tf_keras.src.{path}".rstrip("."))
    if found is not None and any(known.startswith(f"{path}.") for known in _MOVED):
        return KerasModule(f"tensorflow.python.{place}", [found])  # submodules are imported by TensorFlow's path
    return found


def _found(name: str) -> types.ModuleType | None:
    """Imports the module `name`; returns None if it does not exist."""
    try:
        there = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its package does not exist either
        return None
    return importlib.import_module(name) if there else None


def require() -> None:
    """Raises an ImportError with the commands to install tf-keras, if it or one of its dependencies is missing."""
    try:
        importlib.import_module("tf_keras")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"Keras 2, which the program asks for, needs the module {error.name}. {keras2_advice()}"
        ) from error


def is_chosen() -> bool:
    """Returns whether the program asks for Keras 2 as `tf.keras`, by TensorFlow's variable."""
    return os.environ.get("TF_USE_LEGACY_KERAS") in ("1", "true", "True")


def public(version: int = 2) -> types.ModuleType:
    """Imports the public names of Keras 2: `tf.keras`, or with version 1 `tf.compat.v1.keras`."""
    require()
    return importlib.import_module(_PUBLIC[version])
