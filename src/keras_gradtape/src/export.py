"""Model export: Keras' export archive, with functions traced and saved by gradtape."""

from __future__ import annotations

from typing import Any

import keras.src.export.saved_model_export_archive as archives

import gradtape as tf


class SavedModelExportArchive(archives.BaseSavedModelExportArchive):
    """The endpoints and variables of a SavedModel."""

    def __init__(self) -> None:
        # Does not call `super().__init__`, which rejects unknown backends.
        self._endpoint_names: list[str] = []
        self._endpoint_signatures: dict[str, Any] = {}
        self.tensorflow_version = tf.__version__
        self._tf_trackable: Any = _Archive()

    def _backend_track_layer(self, layer: Any) -> None:
        for kind in ("variables", "trainable_variables", "non_trainable_variables"):
            setattr(self._tf_trackable, kind, getattr(self._tf_trackable, kind) + getattr(layer, kind))

    def _convert_to_tf_variable(self, backend_variable: Any) -> Any:
        """Keeps the variable, which TensorFlow's functions take as it is."""
        return backend_variable

    def _backend_add_endpoint(self, name: str, fn: Any, input_signature: Any, **kwargs: Any) -> Any:
        return tf.function(fn, input_signature=input_signature, autograph=False)

    def _get_concrete_fn(self, endpoint: str) -> Any:
        function = getattr(self._tf_trackable, endpoint)
        return function if endpoint in self._endpoint_signatures else function._list_all_concrete_functions()[0]

    def _filter_and_track_resources(self) -> None:
        """Tracks the variables that endpoints use, tracked objects other than layers, and lookup tables of layers."""
        functions = [self._get_concrete_fn(name) for name in self._endpoint_names]
        trainable, others = archives._list_variables_used_by_fns(functions)
        self._tf_trackable._all_variables = [*trainable, *others]
        tracked = getattr(self, "_tracked", [])
        models = [x for x in tracked if isinstance(x, archives.layers.Layer)]
        layers = [layer for model in models for layer in model._flatten_layers()]
        tables = [x for layer in layers for x in vars(layer).values() if isinstance(x, tf.lookup.StaticHashTable)]
        self._tf_trackable._misc_assets = [*(x for x in tracked if not isinstance(x, archives.layers.Layer)), *tables]


class _Archive(tf.Module):
    """The object that is saved."""

    variables: Any = ()
    trainable_variables: Any = ()
    non_trainable_variables: Any = ()

    def __init__(self) -> None:
        super().__init__("archive")
        self.variables, self.trainable_variables, self.non_trainable_variables = [], [], []
