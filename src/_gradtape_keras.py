"""Loaded when Python starts: lets gradtape decide at `import keras` whether Keras runs on it (docs/keras.md).

`GRADTAPE_PTH=0` turns this off.
"""

import os
import sys


class Watch:
    """A finder that finds nothing, but sees Keras being looked for.

    It stays: `importlib.util.find_spec("keras")` only looks, and the import may come later, with another environment.
    """

    @staticmethod
    def find_spec(name, path=None, target=None):
        """None; before that, gradtape is made known to Keras if it may be the backend."""
        if name == "keras" and ("gradtape" in sys.modules or os.environ.get("KERAS_BACKEND") == "gradtape"):
            import keras_gradtape.loader  # noqa: F401


if os.environ.get("GRADTAPE_PTH") != "0":
    sys.meta_path.insert(0, Watch)
