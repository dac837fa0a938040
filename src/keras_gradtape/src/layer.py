"""What a layer is beside Keras' own: something that checkpoints look into."""

from gradtape.owners import Owner


class BackendLayer(Owner):
    """A layer of Keras on gradtape."""
