"""A process with TensorFlow: it reads folders of SavedModels and arguments, a JSON line each, and writes answers."""

import json
import sys

import numpy as np
import tensorflow as tf


def argument(described):
    if "dict" in described:
        return {key: argument(part) for key, part in described["dict"].items()}
    if "ragged" in described:
        return tf.ragged.constant(described["ragged"])
    numbers = np.array(described["real"]) + 1j * np.array(described["imag"])
    is_complex = described["dtype"].startswith("complex")
    return tf.cast(tf.constant(numbers if is_complex else numbers.real), described["dtype"])


def plain(value):
    if value is None:
        return None
    value = tf.convert_to_tensor(value)
    array = tf.cast(value, tf.complex128 if value.dtype.is_complex else tf.float64).numpy()
    return [array.real.tolist(), array.imag.tolist()] if value.dtype.is_complex else [array.tolist()]


def answers(folder, inputs):
    module = tf.saved_model.load(folder)
    found = {}
    for name, described in inputs.items():
        args = [argument(one) for one in described]
        leaves = tf.nest.flatten(args, expand_composites=True)
        sources = [x for x in leaves if x.dtype.is_floating or x.dtype.is_complex]
        with tf.GradientTape() as tape:
            for x in sources:
                tape.watch(x)
            values = tf.nest.flatten(getattr(module, name)(*args))
        gradients = tape.gradient(values[0], [*sources, *module.weights])
        found[name] = [plain(value) for value in [*values, *gradients]]
    return found


if __name__ == "__main__":
    for line in sys.stdin:
        try:
            answer = answers(*json.loads(line))
        except Exception as error:
            answer = f"{type(error).__name__}: {str(error)[:500]}"
        print(json.dumps(answer), flush=True)
