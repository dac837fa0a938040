"""Work on several cores: results in order, errors as they are, nested and simultaneous calls, and forks."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape.backends.numpy import blocks, threads
from gradtape.backends.numpy.threads import together


def test_results_are_in_order():
    assert together([lambda i=i: i * i for i in range(5)]) == [0, 1, 4, 9, 16]


def test_an_error_anywhere_reaches_the_caller_and_the_next_call_works():
    def fail():
        raise KeyError("no")

    for works in ([fail, int], [int, fail], [int, int, fail]):
        with pytest.raises(KeyError, match="no"):
            together(works)
        assert together([int, int]) == [0, 0]


def test_calls_may_be_nested_and_simultaneous():
    def work():
        return sum(together([lambda: 1, lambda: sum(together([lambda: 1] * 3)), lambda: 1]))

    found = []
    callers = [threading.Thread(target=lambda: found.extend(work() for _ in range(50))) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(20)
    assert found == [5] * 150
    assert len(threads._helpers()) == threads.CORES - 1


def test_large_sums_are_accumulated_in_place():
    total, term = np.ones((2, blocks.LARGE), np.float32), np.full((2, blocks.LARGE), 2, np.float32)
    blocks.accumulate(total, term)
    assert total.min() == total.max() == 3
    blocks.accumulate(total.T, term.T)
    assert total.min() == total.max() == 5


def test_a_value_used_three_times_in_a_large_formula():
    x = tf.constant(np.linspace(-2, 2, blocks.LARGE, dtype=np.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.tanh(x) * tf.exp(x) + tf.sigmoid(x)
    a = x.numpy().astype(np.float64)
    s = 1 / (1 + np.exp(-a))
    slope = np.exp(a) * (1 - np.tanh(a) ** 2) + np.tanh(a) * np.exp(a) + s * (1 - s)
    np.testing.assert_allclose(tape.gradient(y, x), slope, rtol=1e-5, atol=1e-5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_threads_of_its_own():
    program = """
import os, numpy as np, gradtape as tf
from gradtape.engine import blocks
x = tf.ones((blocks.LARGE,))
before = float(tf.reduce_sum(x + x))
child = os.fork()
if child == 0:
    os._exit(0 if float(tf.reduce_sum(x + x)) == before else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=60)
