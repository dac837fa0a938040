"""What a layer is beside Keras' own: nothing; its variables are gradtape's already."""


class BackendLayer:
    """A layer of Keras on gradtape."""
