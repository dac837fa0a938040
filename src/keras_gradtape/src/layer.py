"""What a layer is beside Keras' own: variables are gradtape's already; a traced tape is told which layer is called."""

from typing import Any

from gradtape.core import scopes
from gradtape.core.owners import Owner
from gradtape.engine.run import dispatch


class BackendLayer(Owner):
    """A layer of Keras on gradtape; checkpoints look into it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the layer; what is recorded meanwhile belongs to it."""
        if dispatch.witness is None:
            return super().__call__(*args, **kwargs)  # type: ignore[misc]
        with scopes.inside(self.name):  # type: ignore[attr-defined]
            return super().__call__(*args, **kwargs)  # type: ignore[misc]
