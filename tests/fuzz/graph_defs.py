"""Random functions as `GraphDef`s: imported, they compute the results and gradients of the live function.

A program is one of `_programs` (0-d and empty tensors, views, complex numbers, custom gradients) or of
`_saved_model_programs` (variables, unknown shapes, nested functions, branches and loops), in any floating or complex
dtype. Its graph is written, read again, and run by a session, by a function that imports it, after freezing, and after
writing the imported graph once more; the shapes that the imported graph states hold for the results. A program of open
sizes may be refused, as by `saved_models`.
"""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import gradtape as tf
from gradtape_tensorflow.graph_defs.freezing import convert_variables_to_constants_v2

from ._programs import USERS_RULES, Program, differs, inputs
from ._saved_model_programs import Builder
from .saved_models import REFUSED

v1 = tf.compat.v1


def disagreements(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    function, arrays, open_shapes, description = _drawn(rng, seed)
    is_open = rng.random(3) < (0.4 if open_shapes else 0)
    specs = [tf.TensorSpec([None if is_open[axis] else n for axis, n in enumerate(x.shape)], x.dtype, name=f"x{i}")
             for i, x in enumerate(arrays)]  # fmt: skip
    concrete = tf.function(function, autograph=False).get_concrete_function(*specs)
    given = [tf.constant(x) for x in arrays]
    with tf.GradientTape() as tape:
        tape.watch(given)
        expected = concrete(*given)
        loss = tf.reduce_sum(tf.abs(expected))
    gradients = tape.gradient(loss, given)
    try:
        frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=bool(rng.integers(2)))
    except tf.errors.UnimplementedError as error:
        if is_open.any() and REFUSED.search(str(error)):
            return []  # sizes of some programs, such as remainders of 512, cannot be told from the traced graphs
        raise
    graph_def = v1.GraphDef.FromString(frozen.graph.as_graph_def(add_shapes=bool(rng.integers(2))).SerializeToString())
    (output,) = (y.name for y in frozen.outputs)
    names = [x.name for x in frozen.inputs]
    assert names == [f"x{i}:0" for i in range(len(arrays))], names
    dtype = tf.as_dtype(arrays[0].dtype).real_dtype.name
    found: list[str] = []

    def compare(name: str, value: Any) -> None:
        if value.dtype != expected.numpy().dtype:
            found.append(f"{name}: dtype {value.dtype} instead of {expected.dtype.name}")
        found.extend(differs(name, value, expected.numpy(), dtype))

    compare("frozen", tf.nest.flatten(frozen(*given))[0].numpy())
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        tensor = graph.get_tensor_by_name(output)
        if not tensor.shape.is_compatible_with(expected.shape):
            found.append(f"the imported shape {tensor.shape} excludes {expected.shape}")
        again = graph.as_graph_def()
        with v1.Session() as session, ThreadPoolExecutor(2) as threads:
            calls = [threads.submit(session.run, output, dict(zip(names, arrays, strict=True))) for _ in range(2)]
            for call in calls:
                compare("session", call.result())
    for name, definition in (("imported", graph_def), ("written again", again)):
        imported = _importing(definition, names, output)
        compare(name, imported(*given).numpy())
        if "recompute" in description or "again" in description:
            continue  # a node has the name of a custom gradient, which only SavedModels contain
        with tf.GradientTape() as tape:
            tape.watch(given)
            loss = tf.reduce_sum(tf.abs(imported(*given)))
        for i, (own, wanted) in enumerate(zip(tape.gradient(loss, given), gradients, strict=True)):
            own, wanted = (None if g is None else tf.convert_to_tensor(g).numpy() for g in (own, wanted))
            found += differs(f"{name}, gradient {i}", own, wanted, dtype)
    return [f"{message} in {description} of {specs} at {[x.tolist() for x in arrays]}" for message in found]


def _importing(graph_def: Any, names: list[str], output: str) -> Any:
    """Returns a function that runs the graph on its arguments."""
    return tf.function(
        lambda *xs: tf.import_graph_def(graph_def, dict(zip(names, xs, strict=True)), [output])[0], autograph=False
    )


def _drawn(rng: np.random.Generator, seed: int) -> tuple[Any, list[np.ndarray], bool, str]:
    """Returns a function, its arguments, whether other shapes fit it as well, and a description."""
    if rng.random() < 0.6:
        arrays = inputs(rng)
        # A graph has no user's rule for gradients: TensorFlow's nodes do not either.
        program = Program(rng, [tf.constant(x) for x in arrays], int(rng.integers(2, 9)), without=USERS_RULES,
                          complex_end=bool(rng.integers(2)))  # fmt: skip
        return program, arrays, False, str(program)
    dtype = str(rng.choice(["float32", "float64", "complex64", "complex128", "float16", "bfloat16"]))
    module = tf.Module()
    module.weights = []
    builder = Builder(tf, random.Random(seed), dtype, module)
    builder._custom = builder._binary  # type: ignore[method-assign]
    program = builder.program(0, int(rng.integers(1, 6)))
    x = np.round(rng.normal(size=(2, 3, 3)), 2) * (1 - 0.5j if "complex" in dtype else 1)
    return program, [tf.cast(tf.constant(part), dtype).numpy() for part in x], True, f"{dtype} program of seed {seed}"
