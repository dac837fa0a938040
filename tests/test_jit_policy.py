"""Which functions without `jit_compile` XLA compiles on the host: all that it can, if the program asks for it."""

import os
import subprocess
import sys

import numpy as np
import pytest

import gradtape as tf
from gradtape.graph.executors.xla.executor import XlaProgram, compile_graph
from gradtape.graph.executors.xla.standalone import NotCompilable
from gradtape.graph.function import jit_policy

pytest.importorskip("jax")


@pytest.fixture
def runs(monkeypatch):
    """The names of the XLA programs that have run."""
    names, run = [], XlaProgram.run
    monkeypatch.setattr(XlaProgram, "run", lambda self, arrays: (names.append(self.graph.name), run(self, arrays))[1])
    monkeypatch.setattr(jit_policy.settings, "autoclustering", None)
    monkeypatch.setattr(jit_policy, "MIN_NODES", 1)
    yield names
    tf.config.optimizer.set_jit("")


def doubled(jit_compile=None):
    @tf.function(jit_compile=jit_compile)
    def double(x):
        return x * 2.0

    return [double(tf.constant([1.0, 2.0])).numpy().tolist() for _ in range(2)]


@pytest.mark.parametrize("enabled", [True, "autoclustering"])
def test_set_jit_compiles_functions(runs, enabled):
    assert doubled() == [[2.0, 4.0]] * 2
    assert not runs  # the default
    tf.config.optimizer.set_jit(enabled)
    assert tf.config.optimizer.get_jit() == "autoclustering"
    assert doubled() == [[2.0, 4.0]] * 2
    assert runs == ["double"] * 2
    assert doubled(jit_compile=False) == [[2.0, 4.0]] * 2
    assert runs == ["double"] * 2
    tf.config.optimizer.set_jit(False)
    assert tf.config.optimizer.get_jit() == ""
    assert doubled() == [[2.0, 4.0]] * 2
    assert runs == ["double"] * 2
    assert doubled(jit_compile=True) == [[2.0, 4.0]] * 2
    assert runs == ["double"] * 4
    tf.config.optimizer.set_jit(tf.config.optimizer.get_jit())
    assert jit_policy.settings.autoclustering is None


def test_variables_gradients_and_random_numbers(runs):
    def trained():
        tf.random.set_seed(5)
        v = tf.Variable([1.0, 2.0])

        @tf.function
        def loss(x):
            return tf.reduce_sum(tf.nn.dropout(x, 0.5) * v * v)

        found = []
        for _ in range(3):
            with tf.GradientTape() as tape:
                y = loss(tf.ones([2]))
            gradient = tape.gradient(y, v)
            v.assign_sub(0.1 * gradient)
            found += [y.numpy(), gradient.numpy(), v.numpy()]
        return found

    expected = trained()
    tf.config.optimizer.set_jit(True)
    for got, want in zip(trained(), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    assert runs == ["loss", "loss_gradient"] * 3


def test_what_xla_cannot_run_alone_runs_on_numpy(runs, caplog, capfd):
    tf.config.optimizer.set_jit(True)

    @tf.function
    def printed(x):
        tf.print("printed")
        return x * 2.0

    for n in (2, 2, 3):
        assert printed(tf.ones([n])).numpy().tolist() == [2.0] * n
    assert capfd.readouterr().err == "printed\n" * 3
    assert not runs
    lines = [r.getMessage() for r in caplog.records]
    assert lines == ["function printed is not compiled by XLA: print runs in Python"]


def test_a_refused_gradient_leaves_both_passes_to_numpy(runs, caplog):
    tf.config.optimizer.set_jit(True)

    @tf.custom_gradient
    def watched(x):
        return x * 1.0, lambda g: (tf.print("", end=""), g * 3.0)[1]

    f = tf.function(lambda x: watched(x) * 2.0)
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x).numpy().tolist() == [6.0, 6.0]
    assert not runs
    assert "print runs in Python" in caplog.text
    assert f(x).numpy().tolist() == [2.0, 4.0]


def test_a_memory_budget_is_planned_for_numpy(runs):
    tf.config.optimizer.set_jit(True)
    f = tf.function(lambda x: tf.sin(x) * 2.0, memory_budget=0.5)
    assert f(tf.zeros([2])).numpy().tolist() == [0.0, 0.0]
    assert not runs


def test_without_jax_functions_run_on_numpy(runs, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "jax", None)
    jit_policy.is_available.cache_clear()
    tf.config.optimizer.set_jit(True)
    try:
        assert doubled() == doubled() == [[2.0, 4.0]] * 2
    finally:
        jit_policy.is_available.cache_clear()
    assert [r.getMessage() for r in caplog.records] == [
        "functions with tensors on the host are not compiled by XLA: JAX is not installed: pip install 'jax>=0.8'"
    ]


def test_a_failed_compilation_is_no_error(runs, monkeypatch, caplog):
    def refuse(self):
        raise RuntimeError("no compiler\nat all")

    monkeypatch.setattr(XlaProgram, "prepare", refuse)
    tf.config.optimizer.set_jit(True)
    assert doubled() == [[2.0, 4.0]] * 2
    assert caplog.messages == ["function double is not compiled by XLA: RuntimeError: no compiler"]


def test_a_standalone_program_says_what_it_cannot_do():
    policy = jit_policy.JitPolicy("f", None)
    f = tf.function(lambda x: tf.unique(x)[0])
    f(tf.constant([1.0, 1.0]))
    graph = f.get_concrete_function(tf.constant([1.0, 1.0]))._traced().graph
    assert policy.compile_graph(graph) is None
    with pytest.raises(NotCompilable, match="the shape of Unique's result depends on values"):
        compile_graph(graph, standalone=True).prepare()


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("", None), ("--tf_xla_auto_jit=2", True), ("--tf_xla_auto_jit=1", True), ("--tf_xla_auto_jit=0", False),
        ("--tf_xla_cpu_global_jit --tf_xla_auto_jit=2", True), ("--tf_xla_auto_jit=fusible", None),
        ("--tf_xla_auto_jit=2,--tf_xla_clustering_debug", True), ("--tf_xla_auto_jit=-1", None),
    ],
)  # fmt: skip
def test_flags_of_the_environment(monkeypatch, flags, expected):
    monkeypatch.setenv("TF_XLA_FLAGS", flags)
    assert jit_policy.from_environment() is expected


def test_the_environment_compiles_functions():
    program = (
        "import gradtape as tf\n"
        "f = tf.function(lambda x: tf.abs(tf.floor(x * 2.0) + x))\n"
        "assert f(tf.ones([2])).numpy().tolist() == [3.0, 3.0]\n"
        "import sys; print('jax' in sys.modules)\n"
    )
    for flags, expected in (("", "False"), ("--tf_xla_auto_jit=2", "True")):
        environment = {**os.environ, "TF_XLA_FLAGS": flags}
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert done.stdout.strip() == expected, done.stderr
