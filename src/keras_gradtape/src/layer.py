"""The backend part of Keras layers: checkpointing, and the layer names of recorded ops."""

import functools
from typing import Any

from keras.src import tree

from gradtape.core import modes, scopes
from gradtape.core.locks import BuildLock
from gradtape.core.owners import Owner
from gradtape.core.protocols import Line
from gradtape.core.tracebacks import at_boundary
from gradtape.engine.run import randomness
from gradtape.engine.run.source_lines import caller

_UNOWNED = ("_constructed_at", "_maybe_build")
_building = BuildLock()  # one thread at a time builds layers: a model builds others


class BackendLayer(Owner):
    """A Keras layer on gradtape, whose attributes are checkpointed."""

    _exchanges_containers = False  # Keras keeps references to its containers

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Creates a layer whose `build` draws from the regular random streams, even during shape inference.

        The variables that `build` creates persist, unlike other results of shape inference. One thread builds the layer
        in its first call; others wait.
        """
        layer = super().__new__(cls, *args, **kwargs)
        object.__setattr__(layer, "_constructed_at", caller())  # before `__init__`, which Keras' `__setattr__` needs
        build = layer.build  # type: ignore[attr-defined]

        @functools.wraps(build)
        @at_boundary
        def build_for_good(*args: Any, **kwargs: Any) -> Any:
            return randomness.drawing_for_good(functools.partial(build, **kwargs), args)

        layer.build = build_for_good  # type: ignore[attr-defined]

        def build_once(call_spec: Any) -> None:
            with _building:
                type(layer)._maybe_build(layer, call_spec)  # type: ignore[attr-defined]
                if layer.built:
                    vars(layer).pop("_maybe_build", None)  # Keras' own from now on: calls take no lock

        object.__setattr__(layer, "_maybe_build", build_once)
        return layer

    def _owned(self) -> dict[str, Any]:
        """Returns the checkpointed attributes; a `Sequential` is represented by its functional model, as in TensorFlow.

        Building a `Sequential` replaces its list of layers: an input layer is inserted at the front.
        """
        owned = vars(self)
        becomes_functional = "_functional" in owned and (owned["_functional"] is not None or not self.built)
        skipped = (*_UNOWNED, "_layers") if becomes_functional else _UNOWNED
        return {name: value for name, value in owned.items() if name not in skipped}

    def _was_set(self, name: str, value: Any) -> None:
        if name == "_layers" and "_functional" in vars(self):
            return
        super()._was_set(name, value)
        if name == "built" and value and vars(self).get("_functional", self) is None:  # has no functional model
            super()._was_set("_layers", self._layers)

    @property
    def _default_save_signature(self) -> Any:
        """The default signature for `tf.saved_model.save`; None for layers and for models with unknown inputs."""
        from keras.src.models.model import Model

        import gradtape as tf

        model: Any = self
        if not isinstance(model, Model):
            return None
        functional = getattr(model, "_functional", None) or model
        if getattr(functional, "_inputs_struct", None) is not None:
            signature = (tree.map_structure(lambda x: tf.TensorSpec(x.shape, x.dtype), functional.input),)
        elif shapes := model._build_shapes_dict:
            signature = tuple(
                [tree.map_shape_structure(lambda s: tf.TensorSpec(s, model.input_dtype), x) for x in shapes.values()]
            )
        else:
            return None

        @tf.function(input_signature=signature, autograph=False)
        def serving_default(inputs: Any) -> Any:
            return model(inputs)

        return serving_default

    built: bool
    _constructed_at: Line
    _layers: list[Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the layer; ops recorded meanwhile carry its name."""
        if not modes.active:
            return super().__call__(*args, **kwargs)  # type: ignore[misc]
        with scopes.inside(scopes.LayerName(self.name, self._constructed_at)):  # type: ignore[attr-defined]
            return super().__call__(*args, **kwargs)  # type: ignore[misc]


TFLayer = BackendLayer  # its name in the `tensorflow` backend of Keras, of which gradtape takes the place
