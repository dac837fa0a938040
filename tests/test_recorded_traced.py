"""TensorFlow's recorded results, compared inside a function: a constant of a case is an input of a graph."""

import json
from pathlib import Path

import numpy as np
import pytest
from test_recorded import compare, recorder

import gradtape
import gradtape.graph.control_flow.custom  # how custom gradients become part of a trace
from gradtape.core.tensor import Tensor, wrap
from gradtape.graph.executors.numpy.executor import compile_graph
from gradtape.graph.ir.effects import Changed
from gradtape.graph.trace.results import taken_apart
from gradtape.graph.trace.trace import Trace

FOLDER = Path(__file__).parent / "recorded"
# Subjects that already involve a function, or in which a second run gives another result.
LEFT_OUT = ("autograph", "control_flow", "devices", "function", "random", "values", "variable")
SUBJECTS = sorted(p.stem for p in FOLDER.glob("*.json") if not p.stem.startswith(LEFT_OUT))
DIFFERENT = {
    "tf.get_static_value(tf.constant([1, 2]))", "tf.get_static_value(tf.constant(3.0))", "tf.get_static_value(1.0)",
    "tf.broadcast_static_shape(tf.TensorShape([None]), tf.TensorShape([1]))", "seeded changes", "dropout-seed",
}  # fmt: skip


class Traced:
    """gradtape with a `constant` that is an input of the trace."""

    def __init__(self, trace):
        self.trace, self.given = trace, []

    def constant(self, *args, **kwargs):
        x = gradtape.constant(*args, **kwargs)
        if type(x) is not Tensor:
            return x
        self.given.append(x)
        return self.trace.input(x)

    def __getattr__(self, name):
        return getattr(gradtape, name)


def is_made_of_tensors(answer):
    if not isinstance(answer, dict) or not answer:
        return False
    if "list" in answer:
        return bool(answer["list"]) and all(part is None or is_made_of_tensors(part) for part in answer["list"])
    return any(key in answer for key in ("data", "ragged", "slices", "strings"))


def evaluated(source, tf):
    if not source.startswith("grad:"):
        return eval(source, {"tf": tf, "np": np})
    return recorder.gradients(source.removeprefix("grad:"), tf)


def run_as_graph(source):
    """Returns the result of the expression, computed by its graph."""
    trace = Trace("case")
    tf = Traced(trace)
    with trace.entered():
        _, forms, outputs = taken_apart(value := evaluated(source, tf))
    graph = trace.graph(outputs).verify()
    arrays = compile_graph(graph)(*[x.array for x in tf.given], *[np.asarray(v) for v, _ in graph.variables])
    tensors = [wrap(array, place.dtype) for array, place in zip(arrays, graph.outputs, strict=False)]
    leaves = [leaf if at is None else tensors[at] for at, leaf in forms]
    return tensors[0] if isinstance(value, Tensor) else gradtape.nest.pack_sequence_as(value, leaves, True)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_same_inside_a_function(subject):
    if subject == "uncommon_names":  # images among them
        pytest.importorskip("PIL")
    answers = json.loads((FOLDER / f"{subject}.json").read_text())["answers"]
    wrong = []
    for name, source in recorder.load(subject):
        expected = answers[name]
        if callable(source) or name in DIFFERENT:
            continue
        if "value" in expected and not is_made_of_tensors(expected["value"]):
            continue
        try:
            got = recorder.described(run_as_graph(source))
        except Exception as error:
            if "error" not in expected or isinstance(error, Changed):
                wrong.append(f"{name}: {error!r}")
            continue
        try:
            assert "error" not in expected, f"TensorFlow raises {expected.get('error')}"
            compare(got, expected["value"])
        except AssertionError as error:
            wrong.append(f"{name}: {error}")
    assert not wrong, "\n".join(wrong)
