"""What a layer is beside Keras' own: variables are gradtape's already; a traced tape is told which layer is called."""

import functools
from typing import Any

from keras.src import tree

from gradtape.core import scopes
from gradtape.core.owners import Owner
from gradtape.engine.run import dispatch, randomness


class BackendLayer(Owner):
    """A layer of Keras on gradtape; checkpoints look into it."""

    _exchanges_containers = False  # Keras keeps them elsewhere too

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """A layer whose `build` draws as always, even where it is called to find out shapes: what it makes is kept."""
        layer = super().__new__(cls, *args, **kwargs)
        build = layer.build  # type: ignore[attr-defined]

        @functools.wraps(build)
        def build_for_good(*args: Any, **kwargs: Any) -> Any:
            return randomness.drawing_for_good(functools.partial(build, **kwargs), args)

        layer.build = build_for_good  # type: ignore[attr-defined]
        return layer

    def _owned(self) -> dict[str, Any]:
        """What a checkpoint looks into: of a `Sequential` the functional model it becomes, as in TensorFlow.

        Its list of layers is another one after the model was built: an input layer comes to stand before the others.
        """
        owned = vars(self)
        becomes_functional = "_functional" in owned and (owned["_functional"] is not None or not self.built)
        return {name: value for name, value in owned.items() if not (becomes_functional and name == "_layers")}

    def _was_set(self, name: str, value: Any) -> None:
        if name == "_layers" and "_functional" in vars(self):
            return
        super()._was_set(name, value)
        if name == "built" and value and vars(self).get("_functional", self) is None:  # there is no functional model
            super()._was_set("_layers", self._layers)

    @property
    def _default_save_signature(self) -> Any:
        """What `tf.saved_model.save` serves of a model, unless it is told; None of one whose inputs are unknown."""
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
    _layers: list[Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the layer; what is recorded meanwhile belongs to it."""
        if dispatch.event_log is None:
            return super().__call__(*args, **kwargs)  # type: ignore[misc]
        with scopes.inside(self.name):  # type: ignore[attr-defined]
            return super().__call__(*args, **kwargs)  # type: ignore[misc]
