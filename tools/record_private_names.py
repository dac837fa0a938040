"""Records where TensorFlow's public names are defined: run under real TensorFlow.

    python tools/record_private_names.py src/gradtape_tensorflow/python/exported_names.txt

A line is a module below `tensorflow.python` and its names: `name` if that is the public name, or `name=math.other`.
Libraries import a function from the module that defines it, under a name that often differs from the public one:
`array_ops.gather_v2` is `tf.gather`, and `array_ops.gather` is `tf.compat.v1.gather`. The modules that TensorFlow's
build generates (`gen_math_ops`) and Keras' are left out.
"""

import pkgutil
import sys
import types

import tensorflow as tf
import tensorflow.python as root
from tensorflow.python.util import tf_decorator

OTHERS = (".gen_", ".keras", ".lite", ".debug", ".tools", "_test", "benchmark")


def public_name(value):
    """The public name that `tf_export` noted on a function or class: TensorFlow 2's, or else TensorFlow 1's."""
    noted = getattr(value, "__dict__", {})
    newer, older = noted.get("_tf_api_names") or (), noted.get("_tf_api_names_v1") or ()
    return newer[0] if newer else f"compat.v1.{older[0]}" if older else None


def exports(module):
    """The names that a module defines, with their public names."""
    for name, value in sorted(vars(module).items()):
        if isinstance(value, types.ModuleType):
            continue
        if callable(value) and not isinstance(value, type):
            value = tf_decorator.unwrap(value)[1]
        public = public_name(value)
        if public is not None and getattr(value, "__module__", None) == module.__name__:
            yield name, public
    for names, name in getattr(module, "_tf_api_constants", ()):
        if names:
            yield name, names[0]


def main(path):
    lines = []
    for info in pkgutil.walk_packages(root.__path__, f"{root.__name__}.", onerror=lambda name: None):
        module = sys.modules.get(info.name)  # a module that TensorFlow itself does not import defines no public name
        if module is None or any(other in info.name for other in OTHERS):
            continue
        entries = [name if name == public else f"{name}={public}" for name, public in exports(module)]
        if entries:
            lines.append(" ".join([info.name.removeprefix(f"{root.__name__}."), *entries]))
    with open(path, "w") as file:
        file.write("\n".join(sorted(lines)) + "\n")
    print(f"TensorFlow {tf.__version__}: {sum(line.count(' ') for line in lines)} names of {len(lines)} modules")


if __name__ == "__main__":
    main(sys.argv[1])
