"""Writes `tests/data/tensorflow_dtypes.json`: what TensorFlow's functions of the catalogue take, and their edges.

    PYTHONPATH=src path/to/an/environment/with/tensorflow/bin/python tools/record_tensorflow_dtypes.py

For each row of the catalogue, `dtypes` are those that the definition of TensorFlow's op allows or that the function
takes, and `edges` are its derivatives at the arguments that the row lists.
"""

import json
import os
from pathlib import Path

from gradtape.api.catalogue import rows

FILE = Path(__file__).parent.parent / "tests/data/tensorflow_dtypes.json"
DTYPES = """
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 bfloat16 float16 float32 float64 complex64 complex128 string
""".split()


def main() -> None:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf
    from tensorflow.python.framework import op_def_registry

    def allowed(node):
        attributes = op_def_registry.get(node).attr if node else ()
        types = [attribute.allowed_values.list.type for attribute in attributes if attribute.name == "T"]
        return {tf.as_dtype(value).name for value in (types[0] if types else ())} & set(DTYPES)

    def takes(function, count, dtype):
        value = tf.constant("a") if dtype == "string" else tf.cast(tf.constant([True]), dtype)
        try:
            function(*[value] * count)
        except (TypeError, ValueError, tf.errors.OpError):
            return False
        return True

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
        dtypes = allowed(row.node) | {dtype for dtype in DTYPES if takes(function, count, dtype)}
        record[row.names[0]] = {"dtypes": " ".join(filter(dtypes.__contains__, DTYPES))}
        if row.edges:
            record[row.names[0]]["edges"] = {str(at): slope(function, at) for at in row.edges}
    FILE.write_text(json.dumps({"tensorflow": tf.__version__, "functions": record}, indent=1) + "\n")
    print(len(record), "functions")


if __name__ == "__main__":
    main()
