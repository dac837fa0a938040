"""Loaded when Python starts: whoever imports Keras with `KERAS_BACKEND=gradtape` set gets it on gradtape."""

import sys


class Watch:
    """A finder that finds nothing, but sees Keras being looked for.

    It stays: `importlib.util.find_spec("keras")` only looks, and the import may come later, with another environment.
    """

    @staticmethod
    def find_spec(name, path=None, target=None):
        """None; before that, the backend is made known to Keras if it is the one to use."""
        if name == "keras":
            import os

            if os.environ.get("KERAS_BACKEND") == "gradtape":
                import keras_gradtape.loader  # noqa: F401


sys.meta_path.insert(0, Watch)
