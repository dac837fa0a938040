"""Editors and IPython complete with jedi: what it infers from the code, without running it."""

import importlib

import pytest

from gradtape.core.extras import is_installed

jedi = pytest.importorskip("jedi")

PROGRAM = """
import gradtape as tf
x = tf.constant([1.0])
v = tf.Variable(1.0)
with tf.GradientTape() as tape, tf.autodiff.ForwardAccumulator(x, x) as accumulator:
    pass
@tf.function
def traced(a: tf.Tensor) -> tf.Tensor:
    return a
@tf.function(jit_compile=True)
def compiled(a):
    return tf.square(a)
class Module(tf.Module):
    @tf.function
    def pair(self, a) -> tuple[tf.Tensor, int]:
        return tf.square(a), 1
"""


@pytest.mark.parametrize(
    "line",
    """tape.gradi|ent
    tape.watch|ed_variables
    tape.gradient(x, v).num|py
    tape.gradient(x, [v]).app|end
    tape.jacobian(x, v).num|py
    tape.jacobian(x, [v])[0].num|py
    tape.batch_jacobian(x, v).num|py
    tape.hessian(x, v).num|py
    tape.explain(x, v).rea|sons
    tape.hvp(x, [v], [x])[0].num|py
    accumulator.jv|p
    accumulator.jvp(x).num|py
    traced(x).num|py
    traced.get_con|crete_function
    compiled(x).num|py
    compiled.get_con|crete_function
    tf.function(traced)(x).num|py
    Module().pair(x)[0].num|py
    next(iter(tf.data.Dataset.range(3).batch(2))).num|py
    [row for row in tf.data.Dataset.from_tensor_slices((x, x)).shuffle(2)][0][1].num|py
    tf.data.Dataset.range(3).map(lambda n: tf.square(n)).get_single_element().num|py
    tf.keras.layers.Den|se
    tf.keras.layers.Dense(3).uni|ts""".split("\n"),
)
def test_jedi_completes(line):
    if "tf.keras" in line and not is_installed("keras"):
        pytest.skip("Keras is not installed")
    prefix, rest = line.strip().split("|")
    assert rest in [completion.complete for completion in jedi.Script(PROGRAM + prefix).complete()]


SPACES = "autograph data data.experimental distribute inspect math ragged saved_model sparse".split()


@pytest.mark.parametrize("space", ["", *SPACES])
def test_jedi_completes_public_names_only(space):
    """No internal module in the namespace's folder, and nothing that its own module imports."""
    path = f"tf.{space}".rstrip(".")
    completed = {completion.name for completion in jedi.Script(f"import gradtape as tf\n{path}.").complete()}
    namespace = importlib.import_module(f"gradtape.{space}".rstrip("."))
    assert {name for name in completed if name[0] != "_"} == {name for name in dir(namespace) if name[0] != "_"}
