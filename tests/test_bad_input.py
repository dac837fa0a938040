"""Invalid input raises TensorFlow's exception, which states what was given, and changes nothing."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.engine.run import dispatch

InvalidArgument = tf.errors.InvalidArgumentError


@pytest.fixture
def tape():
    """An active tape that has recorded ops; it must still be able to differentiate them afterward."""
    x = tf.constant([1.0, 2.0])
    tape = tf.GradientTape()
    with tape:
        tape.watch(x)
        y = x * x
        before = dispatch.thread.recorders
        yield tape
        assert dispatch.thread.recorders == before
        z = y * x
    assert tape.gradient(z, x).numpy().tolist() == [3, 12]


@pytest.mark.parametrize(
    ("work", "error", "words"),
    [
        (lambda: tf.ones(1) * tf.ones(1, tf.float64), InvalidArgument, "expected to be a float tensor but is a double"),
        (lambda: tf.ones(1, tf.int32) + tf.ones(1, tf.int64), InvalidArgument, "a int32 tensor but is a int64"),
        (lambda: tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0]), InvalidArgument, r"\[2\] vs\. \[3\]"),
        (lambda: tf.matmul(tf.ones((2, 3)), tf.ones((2, 3))), InvalidArgument, r"\[2, ?3\]"),
        (lambda: tf.constant(1) * 2.5, TypeError, "Cannot convert 2.5 to EagerTensor of dtype int32"),
        (lambda: tf.constant(1.0) * "text", TypeError, "Cannot convert 'text' to EagerTensor of dtype float"),
        (lambda: tf.constant(1.0) + None, ValueError, "None"),
        (lambda: tf.reshape(tf.ones(6), (4, 2)), InvalidArgument, "6"),
        (lambda: tf.constant(None), ValueError, "None"),
        (lambda: tf.constant([[1.0], [1.0, 2.0]]), ValueError, "non-rectangular"),
        (lambda: tf.matmul(tf.ones((1, 1)), tf.Variable([[1]])), InvalidArgument, "MatMul as input #1.* float tensor"),
        (lambda: tf.gather(tf.ones(3), [5]), InvalidArgument, r"indices\[0\] = 5 is not in \[0, 3\)"),
        (lambda: tf.zeros((2, -1)), InvalidArgument, "-1"),
        (lambda: tf.zeros(2**70), ValueError, "out-of-range integer"),
        (lambda: bool(tf.ones(2)), ValueError, "ambiguous"),
        (lambda: float(tf.ones(2)), TypeError, "scalar"),
        (lambda: list(tf.constant(1.0)), TypeError, "Cannot iterate over a scalar tensor"),
        (lambda: len(tf.constant(1.0)), TypeError, "Scalar tensor has no `len"),
        (lambda: tf.constant(1.0).T, AttributeError, "has no attribute 'T'"),
        (lambda: tf.constant([1.0]).reshape(1), AttributeError, "has no attribute 'reshape'"),
        (lambda: {tf.constant(1.0): 1}, TypeError, "Tensor is unhashable"),
        (lambda: tf.debugging.check_numerics(tf.constant(np.nan), "here"), InvalidArgument, "here : Tensor had NaN"),
        (lambda: tf.math.no_such_function, AttributeError, "tf.math.no_such_function is not in gradtape: "),
        (lambda: tf.reduce_summ, AttributeError, r"no such name in TensorFlow either. Did you mean tf.reduce_sum\?"),
        (lambda: tf.nn.softmaxx, AttributeError, r"no such name in TensorFlow either. Did you mean tf.nn.softmax\?"),
        (lambda: tf.io.decode_proto, AttributeError, r"tf.io.decode_proto is not in gradtape. `gradtape check`"),
        (lambda: tf.compat.v1.no_such_thing, AttributeError, "tf.compat.v1.no_such_thing is not in gradtape"),
    ],
)
def test_refused(tape, work, error, words):
    with pytest.raises(error, match=words):
        work()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda v: v.assign([1.0, 2.0, 3.0]), ValueError, r"\(2,\).*\(3,\)"),
        (lambda v: v.assign(tf.ones(2, tf.float64)), ValueError, "Tensor conversion requested dtype float32"),
        (lambda v: v.assign_add([1.0, 2.0, 3.0]), InvalidArgument, r"shape \[2\] using a Tensor with shape \[3\]"),
        (lambda v: v.assign("text"), TypeError, "Cannot convert 'text'"),
        (lambda v: v.scatter_nd_update([[7]], [1.0]), InvalidArgument, r"\[7\].* index into shape \[2\]"),
        (lambda v: v[5].assign(1.0), InvalidArgument, "slice index 5 of dimension 0 out of bounds"),
    ],
)
def test_a_failed_assignment_changes_nothing(tape, change, error, words):
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(error, match=words):
        change(v)
    assert v.numpy().tolist() == [1, 2]
