"""Loaded when Python starts: lets gradtape decide at `import keras` whether Keras runs on it (docs/keras.md).

`GRADTAPE_PTH=0` turns this off.
"""

import os
import sys


class Watch:
    """An import hook that only watches for `import keras`, and leaves finding it to the other hooks.

    It stays after the first search: `importlib.util.find_spec("keras")` only searches, and the import may come later,
    with another environment.
    """

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Registers gradtape as a backend of Keras if it may be chosen. Returns None: other hooks find Keras."""
        if name == "keras" and ("gradtape" in sys.modules or os.environ.get("KERAS_BACKEND") == "gradtape"):
            import keras_gradtape.loader  # noqa: F401


if os.environ.get("GRADTAPE_PTH") != "0":
    sys.meta_path.insert(0, Watch)
