"""Assertions of tf.debugging, and the tools of tf.test."""

import gc
import io
import os
import random
import unittest
from typing import NamedTuple

import numpy as np
import pytest

import gradtape as tf
from gradtape import extend
from gradtape.backends.tuning import FEW, LARGE
from gradtape.core import dtypes, modes
from gradtape.engine.registry.op import registry
from gradtape.engine.run.namespace import ops, raw
from gradtape.inspect.checks import finite
from gradtape.inspect.checks.opcheck import draw
from gradtape.ops import load_all


@pytest.mark.parametrize(
    ("value", "found"),
    [([1.0, np.nan], "NaN"), ([np.inf], "Inf"), ([-np.inf], "Inf"), ([np.nan, np.inf], "Inf and NaN")],
)
def test_check_numerics(value, found):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"^msg : Tensor had {found} values"):
        tf.debugging.check_numerics(tf.constant(value), "msg")


def test_check_numerics_looks_at_the_gradient():
    x = tf.constant(0.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(tf.debugging.check_numerics(x, "fwd"))
    text = r"Not a number \(NaN\) or infinity \(Inf\) values detected in gradient. b'fwd' : Tensor had Inf values"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tape.gradient(y, x)


@pytest.fixture
def checking():
    tf.debugging.enable_check_numerics()
    yield
    tf.debugging.disable_check_numerics()


def test_enabled_checks_name_the_op_and_show_its_inputs(checking):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.math.log(tf.constant([0.0, 1.0]))
    text = str(caught.value)
    assert 'output 0 of eagerly-executing op "Log"' in text
    assert "# of -Inf elements: 1" in text and "shape: (2,)" in text and "[0. 1.]" in text
    with pytest.raises(tf.errors.InvalidArgumentError, match="NaN elements: 1"):
        tf.constant([0.0, 1.0]) / tf.constant([0.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inf"):
        tf.reduce_sum(tf.constant([3e38, 3e38]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="complex64"):
        tf.constant(1j, tf.complex64) / tf.constant(0j, tf.complex64)
    assert not bool(tf.math.is_nan(tf.constant(1.0)))


def test_enabled_checks_look_at_large_tensors(checking):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Exp"):
        tf.exp(tf.fill([1 << 19], 1000.0))


@pytest.mark.parametrize("persistent", [False, True])
def test_enabled_checks_look_at_gradients(checking, persistent):
    x = tf.constant(0.0)
    with tf.GradientTape(persistent) as tape:
        tape.watch(x)
        y = tf.sqrt(x) + x
    with pytest.raises(tf.errors.InvalidArgumentError, match="gradient of op 'Sqrt'"):
        tape.gradient(y, x)


@pytest.mark.parametrize("size", [2, 70])
def test_enabled_checks_look_at_products(checking, size):
    a = tf.fill((size, size), 1e30)
    for product in (lambda: a @ a, lambda: tf.matmul(a, a, transpose_b=True), lambda: tf.einsum("ij,jk->ki", a, a)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\+Inf elements"):
            product()


def test_enabled_checks_let_sound_gradients_pass(checking):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b = tf.split(x * x, 2)
        y = a * 2.0
    assert tape.gradient(b, x).numpy().tolist() == [0.0, 4.0]
    assert tape.jacobian(y, x).numpy().tolist() == [[4.0, 0.0]]
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.gather(v, [0, 0])
    assert isinstance(tape.gradient(y, v), tf.IndexedSlices)


def test_disabling_leaves_no_mode_active():
    tf.constant(0.0)  # the first tensor of a process ends the mode that creates the devices
    gc.collect()  # traced tapes of other tests, which keep a mode active
    assert not modes.active
    for _ in range(2):
        tf.debugging.enable_check_numerics()
        tf.debugging.enable_check_numerics()
        assert modes.active == 1
        tf.debugging.disable_check_numerics()
        assert not modes.active
    assert tf.math.log(tf.constant(0.0)).numpy() == -np.inf


def test_a_mode_may_end_while_another_begins():
    """As the event log does if the garbage collector finds a traced tape just then."""
    ending = modes.Mode()

    class Interrupting(type):
        @property
        def op_finished(cls):
            modes.leave(ending)
            return modes.Mode.op_finished

    class Beginning(modes.Mode, metaclass=Interrupting):
        pass

    beginning = Beginning()
    modes.enter(ending)
    modes.enter(beginning)
    assert not modes.is_active(ending) and modes.is_active(beginning) and modes.active == len(modes.entered)
    modes.leave(beginning)
    assert not modes.is_active(beginning) and modes.active == len(modes.entered)


def test_messages_of_assertions():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.debugging.assert_equal(tf.constant([1.0, 2.0]), tf.constant([1.0, 3.0]), message="MSG")
    assert str(caught.value) == (
        "MSG\nCondition x == y did not hold.\nIndices of first 1 different values:\n[[1]]\n"
        "Corresponding x values:\n[2.]\n"
        "Corresponding y values:\n[3.]\nFirst 2 elements of x:\n[1. 2.]\nFirst 2 elements of y:\n[1. 3.]"
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Summarized data: 0, 1, \.\.\."):
        tf.Assert(tf.constant(False), [tf.range(10)], summarize=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)MSG.*Condition x > 0 did not hold element-wise"):
        tf.debugging.assert_positive(tf.constant([1, 0]), message="MSG")
    with pytest.raises(ValueError, match=r"must have rank 2\.  Received rank 1"):
        tf.debugging.assert_rank(tf.ones([2]), 2)


def test_assert_shapes_names_the_tensors():
    text = (
        r"Specified by tensor shape=\(2,\) dtype=float32 dimension 0.  Tensor shape=\(3, 3\) dtype=float32 dimension 1 "
        r"must have size 2.  Received size 3"
    )
    with pytest.raises(ValueError, match=text):
        tf.debugging.assert_shapes([(tf.ones([2]), ("N",)), (tf.ones([3, 3]), ("M", "N"))])
    tf.debugging.assert_shapes([(tf.ones([4, 2, 3]), ("...", 2, 3))])


def test_assertions_under_a_tape_do_not_disturb_it():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tf.debugging.assert_positive(x)
        y = tf.debugging.check_numerics(x * x, "y")
    assert float(tape.gradient(y, x)) == 4.0


def test_compute_gradient():
    theoretical, numerical = tf.test.compute_gradient(lambda x, y: x * y, [np.array([1.0, 2.0]), np.array([3.0, 4.0])])
    np.testing.assert_allclose(theoretical, numerical, atol=1e-9)
    assert theoretical[0].tolist() == [[3.0, 0.0], [0.0, 4.0]]
    (theoretical,), (numerical,) = tf.test.compute_gradient(lambda x: x[:0], [tf.ones([2])])
    assert theoretical.shape == numerical.shape == (0, 2)
    with pytest.raises(ValueError, match="must be a list or tuple of values convertible to a Tensor"):
        tf.test.compute_gradient(tf.square, tf.constant(1.0))
    with pytest.raises(AssertionError, match="unsupported type int32 of argument 0"):
        tf.test.compute_gradient(tf.square, [tf.constant(1)])


class Case(tf.test.TestCase):
    def test_comparisons_that_hold(self):
        self.assertAllClose(tf.constant([1.0, 2.0]), [1.0, 2.0])
        self.assertAllClose({"a": tf.constant(1.0)}, {"a": 1.0})
        self.assertAllClose([tf.constant(1.0), tf.constant([2.0])], [1.0, [2.0]])
        self.assertAllEqual(tf.constant(["a"]), [b"a"])
        self.assertAllEqual(tf.Variable([1, 2]), [1, 2])
        self.assertAllEqual(tf.constant(1.0).dtype, "float32")
        graph = tf.compat.v1.get_default_graph()
        self.setUp()
        self.assertIsNot(graph, tf.compat.v1.get_default_graph())
        self.assertNotAllClose([1.0], [2.0])
        self.assertNotAllEqual([1], [2])
        self.assertAllInRange(tf.constant([1.0, 2.0]), 1.0, 2.0)
        self.assertAllInSet(tf.constant([1, 2]), [1, 2, 3])
        self.assertAllGreater([1, 2], 0)
        self.assertAllGreaterEqual([1, 2], 1)
        self.assertAllLess([1, 2], 3)
        self.assertAllLessEqual([1, 2], 2)
        self.assertAllCloseAccordingToType(tf.constant([1.0], tf.float16), [1.0005])
        self.assertShapeEqual(np.ones(2), tf.ones([2]))
        self.assertDTypeEqual(tf.constant(1.0), np.float32)
        self.assertNear(1.0, 1.001, 0.01)
        self.assertArrayNear([1.0], [1.001], 0.01)
        self.assertNDArrayNear(np.ones(2), np.ones(2), 0.01)
        self.assertLen([1], 1)
        self.assertDeviceEqual("/cpu:0", "/CPU:0")
        with self.assertRaisesOpError("shapes"), self.session():
            tf.ones([2]) + tf.ones([3])
        with self.assertRaisesIncompatibleShapesError():
            tf.ones([2]) + tf.ones([3])
        with self.cached_session() as session:
            self.assertEqual(session.run(tf.constant(1.0)), 1.0)
        self.assertEqual(self.evaluate([tf.constant(1.0), tf.Variable(2.0)]), [1.0, 2.0])
        with open(f"{self.get_temp_dir()}/file", "w") as file:
            file.write("text")

    def test_comparisons_that_fail(self):
        for failing in (
            lambda: self.assertAllClose([1.0, 2.0], [1.0, 2.1]),
            lambda: self.assertAllClose([1.0], [1.0, 1.0]),
            lambda: self.assertAllEqual([1], [2]),
            lambda: self.assertNotAllEqual([1], [1]),
            lambda: self.assertAllInRange([1.0, 2.0], 1.0, 2.0, open_upper_bound=True),
            lambda: self.assertAllInRange([np.nan], 1.0, 2.0),
            lambda: self.assertAllInSet([1, 2], [1]),
            lambda: self.assertAllLess([1, 2], 2),
            lambda: self.assertDTypeEqual(tf.constant(1.0), np.float64),
            lambda: self.assertNear(1.0, 1.1, 0.01),
            lambda: self.assertShapeEqual(np.ones(2), tf.ones([3])),
        ):
            self.assertRaises(AssertionError, failing)
        with self.assertRaises(AssertionError), self.assertRaisesOpError("other"):
            tf.ones([2]) + tf.ones([3])


def test_the_case_runs_under_unittest():
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(Case)
    result = unittest.TextTestRunner(stream=io.StringIO()).run(tests)
    assert result.wasSuccessful() and len(result.skipped) == 1


def test_a_test_case_says_what_differs_and_where():
    class Pair(NamedTuple):
        x: float
        y: float

    case = tf.test.TestCase()
    case.assertAllClose({"x": 1.0, "y": 2.0}, Pair(1.0, 2.0))
    case.assertDictEqual({"a": np.ones(2), "b": "text"}, {"b": "text", "a": tf.ones(2)})
    case.assertDictEqual({"a": 1, len: 2}, {len: 2, "a": 1})  # keys that cannot be sorted
    with pytest.raises(ValueError, match="Can't compare dict to non-dict"):
        case.assertAllClose({"a": 1}, 1)
    for given, other, text in (
        ({"a": 1}, {"b": 1}, "mismatched keys"),
        ({"a": [1.0, {"b": 2.0}]}, {"a": [1.0, {"b": 2.5}]}, r"a\[a\]\[1\]\[b\] is different(.|\n)*dif = \[0.5"),
        ({"a": [1.0]}, {"a": [1.0, 2.0]}, r"a\[a\] is different.*Shape mismatch"),
    ):
        with pytest.raises(AssertionError, match=text):
            case.assertAllClose(given, other)
    with pytest.raises(AssertionError, match=r"not equal lhs = \[2\]\nnot equal rhs = \[3\]"):
        case.assertAllEqual([1, 2], tf.constant([1, 3]))
    for wrong in (tf.constant("text"), tf.constant([1j]), tf.constant([True])):
        with pytest.raises(AssertionError, match="ordered numeric type"):
            case.assertAllInRange(wrong, 0, 1)
    with pytest.raises(AssertionError):
        case.assertArrayNear([1, 2], [[1, 2], [3, 4]], 0.1)
    with pytest.raises(AssertionError):
        case.assertDictEqual({"a": np.ones(2)}, {"a": tf.zeros(2)})


def test_functions_are_compared_and_not_called():
    case = tf.test.TestCase()
    with pytest.raises(AssertionError, match="Arrays are not equal"):
        case.assertAllEqual(lambda: 3, 3)
    with pytest.raises(TypeError, match="unsupported operand"):
        case.assertAllClose(lambda: 3.0, 3.0)
    case.assertAllEqual([min, max], [min, max])
    assert case.evaluate({"a": lambda: [tf.constant(3)]}) == {"a": [3]}


def test_temporary_files_of_a_test_are_paths_with_methods():
    case = tf.test.TestCase()
    folder = case.create_tempdir()
    file = folder.create_file("below/x", "hello")
    assert os.path.isdir(folder) and folder.full_path == os.fspath(folder)
    assert file.read_text() == "hello" and file.full_path == os.path.join(folder, "below", "x")
    file.write_bytes(b"!", "ab")
    with file.open_text() as opened:
        assert opened.read() == "hello!"
    with pytest.raises(ValueError, match="not allowed when opening file in binary mode"):
        file.open_bytes("rt")
    assert os.listdir(folder.mkdir("empty")) == [] and os.path.isdir(folder.mkdir())
    named = case.create_tempdir("named")
    named.create_file()
    assert os.listdir(case.create_tempdir("named")) == [] and named.full_path != folder.full_path
    assert case.create_tempfile("a/b.bin", b"abc", "wb").read_bytes() == b"abc"
    assert os.path.getsize(case.create_tempfile()) == 0
    case.doCleanups()
    assert not os.path.exists(folder) and not os.path.exists(named)


def test_a_test_begins_with_the_same_random_numbers():
    case = tf.test.TestCase()

    def drawn():
        case.setUp()
        return random.random(), np.random.rand(), float(tf.random.uniform([]))  # noqa: NPY002

    assert drawn() == drawn()


def test_an_error_in_a_checked_thread_is_a_failure_of_the_test():
    case, seen = tf.test.TestCase(), []
    fine, wrong = case.checkedThread(seen.append, args=(1,)), case.checkedThread(lambda: 1 // 0)
    for thread in (fine, wrong):
        thread.start()
    fine.join()
    with pytest.raises(AssertionError, match="by zero"):
        wrong.join()
    assert seen == [1]


def test_what_is_written_to_a_stream_is_captured(tmp_path):
    case = tf.test.TestCase()
    with open(tmp_path / "log", "w") as stream:
        stream.write("before ")
        with case.captureWritesToStream(stream) as writes:
            stream.write("inside ")
            os.write(stream.fileno(), b"and below ")
        stream.write("after")
    assert writes.contents() == "and below inside "
    assert (tmp_path / "log").read_text() == "before after"


def test_what_is_there():
    assert tf.test.is_gpu_available() is False and tf.test.is_built_with_cuda() is False


def test_compute_gradient_of_nothing_runs_the_rule():
    @tf.custom_gradient
    def turned(x):
        return tf.identity(x), lambda g: tf.transpose(g)

    with pytest.raises(ValueError, match="shape"):
        tf.test.compute_gradient(turned, [tf.zeros([0, 3])])
    theoretical, numerical = tf.test.compute_gradient(tf.square, [tf.zeros([0, 3])])
    assert theoretical[0].shape == numerical[0].shape == (0, 0)


def test_all_equal_finds_nan_in_bfloat16():
    case = tf.test.TestCase()
    x = tf.constant([np.nan, np.inf, 1.0], tf.bfloat16)
    case.assertAllEqual(x, [np.nan, np.inf, 1.0])
    with pytest.raises(AssertionError):
        case.assertAllEqual(x, [0.0, np.inf, 1.0])


def normalised(x):
    centred = x - tf.reduce_mean(x, -1, keepdims=True)
    return centred * tf.math.rsqrt(tf.reduce_mean(centred**2, -1, keepdims=True) + 1e-3)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.complex64])
def test_infinity_is_found_in_every_precision(checking, dtype):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inf"):
        tf.math.reciprocal(tf.constant([0.0], dtype)) if not dtype.is_complex else tf.complex(np.inf, 0.0) * 2.0


@pytest.mark.parametrize("work", [normalised, lambda x: x @ tf.eye(1024) + 1.0, tf.nn.gelu, tf.nn.softmax])
def test_nan_is_found_in_functions_whose_ops_are_computed_together(checking, work):
    function = tf.function(work)
    x = np.ones((64, 1024), np.float32)
    function(tf.constant(x))
    function(tf.constant(x))
    x[3, 3] = np.nan
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.constant(x))


@pytest.fixture
def looks(checking, monkeypatch):
    """Counts the reads of arrays that ops return."""
    found = []
    monkeypatch.setattr(finite, "sound", lambda array: found.append(array) or True)
    return found


load_all()


@pytest.mark.parametrize("name", sorted(registry))
def test_enabled_checks_look_at_every_op(looks, name):
    op = registry[name]
    for case in op.samples:
        for dtype in (np.float32, np.float64):
            inputs = [tf.constant(a) for a in draw(op, case, dtype)]
            for call in (op, op.call, getattr(ops, name)):
                looks.clear()
                call(*inputs, **case.attrs)
                assert looks, f"{name} was not looked at"


_NUMBERS = dtypes.BOOL | dtypes.INT | dtypes.FLOAT | dtypes.COMPLEX
QUIET = sorted(
    name
    for name, op in registry.items()
    if op.family == "elementwise" and len(op.args) <= 2 and not op.samples[0].attrs and op.kinds & _NUMBERS
)


@pytest.mark.parametrize("name", QUIET)
def test_enabled_checks_look_at_every_op_on_large_and_complex_arrays(looks, name):
    op = registry[name]
    low, high = op.domain
    for size in (FEW, LARGE):
        array = np.linspace(low, high, size, dtype=np.float32)
        if not op.kinds & dtypes.FLOAT:
            array = array > (low + high) / 2 if op.kinds & dtypes.BOOL else array.astype(np.int32)
        looks.clear()
        op(*[tf.constant(array)] * len(op.args))
        assert looks, size
    if op.kinds & dtypes.COMPLEX:
        looks.clear()
        op(*[tf.constant([1 + 1j, 2 - 1j], tf.complex64)] * len(op.args))
        assert looks


def test_enabled_checks_look_at_large_products(looks):
    a = tf.ones([256, 256])
    for product in (lambda: a @ a, lambda: tf.matmul(a, a, transpose_b=True)):
        looks.clear()
        product()
        assert looks


def test_ops_defined_while_checks_are_enabled_are_looked_at(checking):
    name = "reciprocal_of_a_test"
    try:
        op = extend.elementwise(name, lambda xp, x: 1 / x, dx=lambda m, x: -1.0 / (x * x), domain=(1.0, 2.0))
        with np.errstate(divide="ignore"):
            with pytest.raises(tf.errors.InvalidArgumentError, match="ReciprocalOfATest"):
                op(tf.constant([0.0]))
            tf.debugging.disable_check_numerics()
            assert op(tf.constant([0.0])).numpy() == np.inf
    finally:
        registry.pop(name, None)
        for space in (ops, raw):
            vars(space).pop(name, None)


def test_a_function_traced_while_checks_were_enabled_stops_looking(checking):
    function = tf.function(lambda x: tf.math.log(x) * 2.0)
    for _ in range(2):
        function(tf.constant([1.0, 2.0]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.constant([0.0, 2.0]))
    tf.debugging.disable_check_numerics()
    assert function(tf.constant([0.0, 2.0])).numpy()[0] == -np.inf
