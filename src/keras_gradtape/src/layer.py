"""What a layer is beside Keras' own: variables are gradtape's already; a traced tape is told which layer is called."""

import functools
from typing import Any

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

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the layer; what is recorded meanwhile belongs to it."""
        if dispatch.witness is None:
            return super().__call__(*args, **kwargs)  # type: ignore[misc]
        with scopes.inside(self.name):  # type: ignore[attr-defined]
            return super().__call__(*args, **kwargs)  # type: ignore[misc]
