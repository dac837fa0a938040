"""Records the parameters of TensorFlow's public functions and classes: run under real TensorFlow.

    python tools/record_tensorflow_api.py tests/data/tensorflow_names.txt tests/data/tensorflow_api.json

The first file lists the public names gradtape offers, one a line (`math.abs`); the second gets, for each, the names it
shares an object with, its kind, its parameters with their defaults, and the members of a class.
"""

import inspect
import json
import sys

import tensorflow as tf


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


def main(names_file, api_file):
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


if __name__ == "__main__":
    main(*sys.argv[1:])
