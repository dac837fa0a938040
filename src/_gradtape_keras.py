"""Loaded when Python starts: lets gradtape decide at `import keras` whether Keras runs on it (docs/keras.md).

In processes that a program of `gradtape run` starts, it serves gradtape as `tensorflow`, too, if they use the same
interpreter (docs/guides/command-line.md). `GRADTAPE_PTH=0` turns both off, `GRADTAPE_CHILDREN=0` the second.
"""

import os
import sys

CHILDREN = "GRADTAPE_CHILDREN"  # set by `gradtape run` to its interpreter, or to 0 by the user


def interpreter():
    """Returns the environment and the kind of Python of this process; another environment has other packages."""
    return f"{sys.prefix}:{sys.implementation.cache_tag}"


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


class Inherited:
    """An import hook that begins to serve gradtape as TensorFlow when `tensorflow` or Keras is imported or looked for.

    Until then it costs nothing; programs that use neither do not import gradtape.
    """

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Returns the spec of `tensorflow`; that of Keras is left to the other hooks."""
        if name in ("tensorflow", "keras"):
            from gradtape_tensorflow.stand_in import serve

            return serve().find_spec(name)

    @staticmethod
    def find_distributions(context=None):
        """Returns the metadata of the package `tensorflow`, by which libraries look for it."""
        if getattr(context, "name", None) != "tensorflow":
            return ()
        from gradtape_tensorflow.stand_in import serve

        finders = list(sys.meta_path)
        finder = serve()
        return () if finder in finders else finder.find_distributions(context)  # which Python asks by itself


if os.environ.get("GRADTAPE_PTH") != "0":
    if os.environ.get(CHILDREN) == interpreter():
        sys.meta_path.insert(0, Inherited)
    sys.meta_path.insert(0, Watch)
