"""Records the parameters of TensorFlow's public functions and classes: run under real TensorFlow.

    cd tests/data
    python ../../tools/record_tensorflow_api.py tensorflow_names.txt tensorflow_api.json tensorflow_public_names.txt

The first file lists the public names gradtape offers, one a line (`math.abs`); the second gets, for each, the names it
shares an object with, its kind, its parameters with their defaults, and the members of a class. The third gets all of
TensorFlow's public names but those of Keras, of TensorFlow 1 and of the raw ops.
"""

import inspect
import json
import sys
import types

import tensorflow as tf

OTHERS = {
    "keras", "initializers", "losses", "metrics", "optimizers",  # of Keras
    "compat.v1", "compat.v2", "raw_ops",
    "compiler", "core", "dtensor", "python", "security", "tools", "tsl",  # folders that happen to be seen
}  # fmt: skip


def find(path):
    value = tf
    for part in path.split("."):
        value = getattr(value, part)
    return value


def parameters(value):
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    return [
        [p.name, str(p.kind.name), None if p.default is p.empty else repr(p.default)]
        for p in signature.parameters.values()
    ]


def describe(value):
    kind = "class" if inspect.isclass(value) else "function" if callable(value) else "value"
    described = {"kind": kind, "parameters": parameters(value) if callable(value) else None}
    if kind == "class":
        described["members"] = sorted(name for name in dir(value) if not name.startswith("_"))
    return described


def public_names(module=tf, prefix=""):
    """The names below a module of TensorFlow's, other than those of modules."""
    for name in dir(module):
        if name.startswith("_") or prefix + name in OTHERS:
            continue
        value = getattr(module, name)
        if not isinstance(value, types.ModuleType):
            yield prefix + name
        elif "tensorflow" in value.__name__:
            yield from public_names(value, f"{prefix}{name}.")


def main(names_file, api_file, public_names_file):
    with open(names_file) as file:
        names = file.read().split()
    found = {name: find(name) for name in names}
    places = {}
    for name, value in found.items():
        if callable(value):
            places.setdefault(id(value), []).append(name)
    table = {name: describe(value) for name, value in found.items()}
    for name, value in found.items():
        table[name]["same_as"] = [other for other in places.get(id(value), []) if other != name]
    with open(api_file, "w") as file:
        json.dump({"tensorflow": tf.__version__, "names": table}, file, indent=1, sort_keys=True)
    with open(public_names_file, "w") as file:
        file.writelines(f"{name}\n" for name in sorted(public_names()))


if __name__ == "__main__":
    main(*sys.argv[1:])
