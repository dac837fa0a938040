"""Loaded when Python starts: `import keras` with `KERAS_BACKEND=gradtape` runs Keras on gradtape.

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
        """None; before that, the backend is made known to Keras if it is the one to use."""
        if name == "keras":
            if os.environ.get("KERAS_BACKEND") == "gradtape":
                import keras_gradtape.loader  # noqa: F401


if os.environ.get("GRADTAPE_PTH") != "0":
    sys.meta_path.insert(0, Watch)
