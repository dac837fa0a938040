"""Writes `tests/data/tensorflow_dtypes.json`: which dtypes TensorFlow's functions take, and derivatives at edges.

    PYTHONPATH=src path/to/an/environment/with/tensorflow/bin/python tools/record_tensorflow_dtypes.py

For each row of the catalogue and each function of `tests/documented_functions.py`, `dtypes` are those that the
definition of TensorFlow's op allows or that the function takes. `edges` are the derivatives of a row at the arguments
that it lists.
"""

import json
import os
import sys
from pathlib import Path

from gradtape.api.catalogue import rows
from gradtape.api.catalogue.nodes import functions

TESTS = Path(__file__).parent.parent / "tests"
FILE = TESTS / "data/tensorflow_dtypes.json"
# Nodes of functions that are more than a node.
NODES = {"linalg.matmul": "MatMul", "tensordot": "MatMul", "linalg.einsum": "Einsum", "nn.conv2d": "Conv2D"}
DTYPES = """
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 bfloat16 float16 float32 float64 complex64 complex128 string
""".split()


def main() -> None:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    sys.path.insert(0, str(TESTS))
    import tensorflow as tf
    from documented_functions import CALLS
    from tensorflow.python.framework import op_def_registry

    def allowed(node):
        attributes = op_def_registry.get(node).attr if node else ()
        types = [attribute.allowed_values.list.type for attribute in attributes if attribute.name in ("T", "Tparams")]
        return {tf.as_dtype(value).name for value in (types[0] if types else ())} & set(DTYPES)

    def takes(function, dtype):
        def tensor(*shape):
            return tf.fill(list(shape), "a") if dtype == "string" else tf.cast(tf.ones(list(shape)), dtype)

        try:
            function(tensor)
        except (AssertionError, TypeError, ValueError, tf.errors.OpError):
            return False
        return True

    def dtypes_of(node, function):
        found = allowed(node) | {dtype for dtype in DTYPES if takes(function, dtype)}
        return {"dtypes": " ".join(filter(found.__contains__, DTYPES))}

    def repeated(function, count):
        return lambda tensor: function(*[tensor(1)] * count)

    def slope(function, at):
        x = tf.constant(float(at), tf.float64)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return str(float(tape.gradient(y, x)))

    record = {}
    for row in rows():
        function = tf
        for part in row.names[0].split("."):
            function = getattr(function, part)
        count = len(row.types) - len(row.defaults) - 1
        record[row.names[0]] = dtypes_of(row.node, repeated(function, count))
        if row.edges:
            record[row.names[0]]["edges"] = {str(at): slope(function, at) for at in row.edges}
    nodes = {path: node for node, path in reversed(functions().items())} | NODES
    for path, (call, _) in CALLS.items():
        record[path] = dtypes_of(nodes.get(path), eval(f"lambda a: {call}", {"tf": tf}))
    FILE.write_text(json.dumps({"tensorflow": tf.__version__, "functions": record}, indent=1) + "\n")
    print(len(record), "functions")


if __name__ == "__main__":
    main()
