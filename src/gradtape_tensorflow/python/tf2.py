"""`tensorflow.python.tf2`."""


def enabled() -> bool:
    """Returns whether this is TensorFlow 2."""
    return True
