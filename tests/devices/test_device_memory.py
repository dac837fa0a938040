"""A device that runs out of memory: the error says where and what to do, and no variable changes."""

import weakref

import numpy as np
import pytest
import torch
from stand_in import MODULE, replace_kernels

import gradtape as tf

SAID = "CUDA out of memory. Tried to allocate 2.00 GiB"


def exhausted(*arrays, **attrs):
    raise torch.OutOfMemoryError(SAID)


def raises(what):
    """Expects the error with what needed memory, PyTorch's message, the device's use and the remedy."""
    return pytest.raises(
        tf.errors.ResourceExhaustedError,
        match=rf"(?s)no memory left for {what} \({SAID}\).*live_tapes\(\).*smaller batches, tf.recompute_grad",
    )


@pytest.mark.parametrize(
    ("name", "f"),
    [
        ("matmul", lambda x: tf.matmul(x, x)),
        ("exp", tf.exp),
        ("add", lambda x: x + 1.0),
        ("mul", lambda x: x * x),
        ("gelu", tf.nn.gelu),
        ("sum", lambda x: tf.reduce_sum(x, 0)),
        ("concat", lambda x: tf.concat([x, x], 0)),
        ("softmax", tf.nn.softmax),
    ],
)
def test_an_op(gpu, monkeypatch, name, f):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    expected = f(x).numpy()
    with monkeypatch.context() as patched:
        replace_kernels(patched, name, exhausted)
        with raises(rf"op {name} on inputs of shapes \[\[2, 2\].*\]"):
            f(x)
    assert np.array_equal(f(x).numpy(), expected)  # memory is free again


@pytest.mark.parametrize("create", [tf.constant, tf.Variable, tf.convert_to_tensor], ids=lambda f: f.__name__)
def test_a_new_tensor(gpu, monkeypatch, create):
    monkeypatch.setattr(MODULE, "from_host", exhausted)
    with raises(r"a tensor of shape \(2, 3\) and dtype float32"):
        create(np.ones((2, 3), np.float32))


def test_an_input_that_is_copied(gpu, monkeypatch):
    x = tf.constant([1.0, 2.0])
    with tf.device("/CPU:0"):
        here = tf.constant([3.0, 4.0])
    monkeypatch.setattr(MODULE, "from_host", exhausted)
    with raises(r"a tensor of shape \(2,\) and dtype float32"):
        x + here


def test_a_result_that_was_computed_on_the_host(gpu, monkeypatch):
    def refuse(*arrays, **attrs):
        raise NotImplementedError("no such kernel")

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    replace_kernels(monkeypatch, "matmul", refuse)
    assert tf.matmul(x, x).numpy().tolist() == [[7.0, 10.0], [15.0, 22.0]]
    monkeypatch.setattr(MODULE, "from_host", exhausted)
    with raises(r"op matmul on inputs of shapes \[\[2, 2\], \[2, 2\]\]"):
        tf.matmul(x, x)


@pytest.mark.parametrize("persistent", [False, True])
def test_a_gradient(gpu, monkeypatch, persistent):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    def loss():
        return tf.reduce_sum(tf.tanh(tf.matmul(w, w)))

    with tf.GradientTape() as tape:
        y = loss()
    expected = tape.gradient(y, w).numpy()
    with tf.GradientTape(persistent=persistent) as tape:
        y = loss()
    with monkeypatch.context() as patched:
        replace_kernels(patched, "matmul", exhausted)
        with raises("a gradient"):
            tape.gradient(y, w)
    assert w.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    if persistent:
        assert np.array_equal(tape.gradient(y, w).numpy(), expected)


def test_a_second_derivative(gpu, monkeypatch):
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.matmul(x, x) ** 2)
        g = inner.gradient(y, x)
    replace_kernels(monkeypatch, "matmul", exhausted)
    with raises("a gradient"):
        outer.gradient(g, x)


@pytest.mark.parametrize(
    ("ufunc", "update"),
    [
        (np.add, lambda v, d: v.assign_add(d)),
        (np.subtract, lambda v, d: v.assign_sub(d)),
    ],
    ids=["assign_add", "assign_sub"],
)
def test_an_update(gpu, monkeypatch, ufunc, update):
    v = tf.Variable([1.0, 2.0], name="weights")
    change = tf.constant([1.0, 1.0])
    with monkeypatch.context() as patched, raises("an update of variable 'weights(:0)?'"):
        patched.setitem(MODULE.updates, ufunc, (exhausted, exhausted))
        update(v, change)
    assert v.numpy().tolist() == [1.0, 2.0]
    update(v, change)
    assert v.numpy().tolist() == [float(ufunc(1, 1)), float(ufunc(2, 1))]


def test_an_assignment(gpu, monkeypatch):
    v = tf.Variable([1.0, 2.0])
    with monkeypatch.context() as patched, raises(r"a tensor of shape \(2,\) and dtype float32"):
        patched.setattr(MODULE, "from_host", exhausted)
        v.assign(np.array([3.0, 4.0], np.float32))
    assert v.numpy().tolist() == [1.0, 2.0]


def test_a_function(gpu, monkeypatch):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function(jit_compile=False)
    def step(x):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.matmul(x, v))
        v.assign_sub(tape.gradient(y, v))
        return y

    x = tf.ones([2, 2])
    step(x)
    before = v.numpy().tolist()
    replace_kernels(monkeypatch, "matmul", exhausted)
    with raises(r"op matmul on inputs of shapes \[\[2, 2\], \[2, 2\]\]"):
        step(x)
    assert v.numpy().tolist() == before


@pytest.mark.parametrize("shape", [(3, 3, 2, 4), (4, 4, 2, 1), (1, 1, 1, 4)], ids=str)
def test_a_filter_is_released_after_convolutions(gpu, shape):
    """What a GPU derives from a filter, a copy or a view in another layout, does not keep the filter alive."""
    w = tf.constant(np.ones(shape, np.float32))
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = tf.nn.conv2d(tf.ones([1, 5, 5, shape[2]]), w, 1, "SAME")
    assert tape.gradient(y, w).shape == shape
    filter_memory = weakref.ref(w.buffer)
    del w, y, tape
    assert filter_memory() is None
