"""`tensorflow.python.util.is_in_graph_mode`."""

import gradtape


def IS_IN_GRAPH_MODE() -> bool:
    """Returns whether ops are traced."""
    return not gradtape.executing_eagerly()
