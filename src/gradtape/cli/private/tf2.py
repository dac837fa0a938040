"""`tensorflow.python.tf2`."""


def enabled() -> bool:
    """Whether this is TensorFlow 2."""
    return True
