"""Products of programs of XLA that oneDNN computes: what they give, and what happens around them."""

import functools
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape.backends.numpy import onednn
from gradtape.backends.numpy.onednn import contractions
from gradtape.backends.numpy.onednn.contractions import contraction
from gradtape.backends.numpy.onednn.library import address
from gradtape.graph.passes import transpose_folding

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.skipif(onednn.version() is None, reason="oneDNN is not installed")

if onednn.version() is not None:
    from gradtape.graph.executors.xla import calls, lowering


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def by_parts(equation, a, b, threads):
    """What the parts of a contraction write, and how many there are."""
    parts = contraction(equation, a.shape, b.shape, threads)
    expected = np.einsum(equation, a.astype(np.float64), b.astype(np.float64))
    y = np.full(expected.shape, np.nan, np.float32)
    for part in parts:
        part(address(a), address(b), address(y))
    scale = np.abs(expected).max()
    np.testing.assert_allclose(y / scale, expected / scale, rtol=0, atol=2e-6)
    return len(parts)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(
    ("equation", "a", "b"),
    [
        ("ij,jk->ik", (70, 50), (50, 90)),
        ("ji,jk->ik", (50, 70), (50, 90)),
        ("ij,kj->ik", (70, 50), (90, 50)),
        ("ij,jk->ki", (70, 50), (50, 90)),
        ("abc,cde->abde", (2, 40, 16), (16, 3, 8)),
        ("abde,cde->abc", (2, 40, 3, 8), (16, 3, 8)),
        ("abc,abde->cde", (2, 40, 16), (2, 40, 3, 8)),
        ("bthd,bshd->bhts", (4, 20, 3, 8), (4, 24, 3, 8)),
        ("bhts,bshd->bthd", (4, 3, 20, 24), (4, 24, 3, 8)),
        ("bhts,bthd->bshd", (4, 3, 20, 24), (4, 20, 3, 8)),
        ("abij,jk->baik", (3, 4, 20, 16), (16, 24)),
        ("aij,ajk->aik", (1, 20, 16), (1, 16, 24)),
    ],
)
def test_contractions_of_arrays_as_they_lie(monkeypatch, equation, a, b, threads):
    monkeypatch.setattr(contractions, "_SMALLEST_PART", 1 << 10)
    monkeypatch.setattr(contractions, "_HANDED_OVER", 1 << 9)
    contraction.cache_clear()
    assert by_parts(equation, normal(*a), normal(*b, seed=1), threads) <= threads
    contraction.cache_clear()


@pytest.mark.parametrize(
    ("equation", "a", "b"),
    [
        ("ij,ij->ij", (3, 4), (3, 4)),  # no product of matrices
        ("ij,jk->ik", (1, 40), (40, 30)),  # of a vector
        ("ij,jk->ik", (0, 4), (4, 3)),
        ("abij,ibjk->ak", (3, 4, 5, 6), (5, 4, 6, 7)),  # summed over axes that are no one axis
    ],
)
def test_what_is_left_to_xla(equation, a, b):
    assert contraction(equation, a, b, 2) is None


@pytest.fixture
def counted(monkeypatch):
    """How many parts have run in threads; small products go to oneDNN too."""
    everything = functools.partial(transpose_folding.turned_products, large=0, many=0)
    monkeypatch.setattr(lowering, "turned_products", everything)
    monkeypatch.setattr(contractions, "_SMALLEST_PART", 1 << 12)
    monkeypatch.setattr(contractions, "_HANDED_OVER", 0)
    contraction.cache_clear()
    ran = []
    original = calls.call

    def call(parts, *arguments):
        def counting(part):
            def run(*places):
                ran.append(threading.get_ident())
                part(*places)

            return run

        return original([counting(part) for part in parts], *arguments)

    monkeypatch.setattr(calls, "call", call)
    yield ran
    contraction.cache_clear()


def attention_step(x, weights):
    """A function with products of all kinds, and its gradients."""

    def loss(x):
        q, k, v = (tf.einsum("btc,chd->bthd", x, w) for w in weights[:3])
        scores = tf.matmul(tf.transpose(q, (0, 2, 1, 3)) * 0.25, tf.transpose(k, (0, 2, 3, 1)))
        mixed = tf.matmul(tf.nn.softmax(scores), tf.transpose(v, (0, 2, 1, 3)))
        mixed = tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), (4, 32, 32))
        return tf.reduce_mean(tf.tanh(tf.matmul(mixed, weights[3])) ** 2)

    with tf.GradientTape() as tape:
        value = loss(x)
    gradients = tape.gradient(value, weights)
    for w, g in zip(weights, gradients, strict=True):
        w.assign_sub(0.1 * g)
    return value, gradients


def test_a_step_gives_what_it_gives_eagerly(counted):
    x = tf.constant(normal(4, 32, 32))

    def weights():
        return [tf.Variable(normal(32, 4, 8, seed=i) * 0.2) for i in range(3)] + [tf.Variable(normal(32, 48) * 0.2)]

    own, others = weights(), weights()
    step = tf.function(lambda x: attention_step(x, own), jit_compile=True)
    for _ in range(3):
        (value, gradients), (expected, expected_gradients) = step(x), attention_step(x, others)
        np.testing.assert_allclose(value, expected, rtol=1e-5)
        for g, e in zip(gradients, expected_gradients, strict=True):
            np.testing.assert_allclose(g, e, rtol=1e-4, atol=1e-7)
    assert len(counted) >= 2 * 20  # the first call is traced, and computed by NumPy
    for w, other in zip(own, others, strict=True):
        np.testing.assert_allclose(w.numpy(), other.numpy(), rtol=1e-4, atol=1e-6)


def test_programs_of_several_threads_at_once(counted):
    f = tf.function(lambda x, w: tf.tanh(tf.matmul(x, w)), jit_compile=True)
    given = [(normal(64, 48, seed=i), normal(48, 80, seed=i + 1)) for i in range(4)]
    f(*map(tf.constant, given[0]))
    wrong = []

    def run(x, w):
        expected = np.tanh(x @ w)
        for _ in range(50):
            y = f(tf.constant(x), tf.constant(w)).numpy()
            if not np.allclose(y, expected, rtol=1e-4, atol=1e-5):
                wrong.append(y)

    threads = [threading.Thread(target=run, args=pair) for pair in given]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_error_of_a_part_is_raised():
    def fail(*places):
        raise RuntimeError("no luck")

    for parts in ([fail], [fail, lambda *places: None]):
        f = jax.jit(lambda x, parts=parts: calls.call(parts, jax.ShapeDtypeStruct((3,), np.float32), x))
        with pytest.raises(Exception, match="no luck"):
            f(np.ones(3, np.float32)).block_until_ready()


def test_a_process_may_end_after_a_step():
    program = """
        import numpy as np
        import gradtape as tf

        w = tf.Variable(np.full((1024, 1024), 1e-3, np.float32))

        @tf.function(jit_compile=True)
        def step():
            w.assign(tf.matmul(tf.matmul(w, w), w))

        for _ in range(6):
            step()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, b"")
