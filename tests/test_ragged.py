"""Ragged tensors beyond recorded expressions: datasets, tapes, functions, loops, classes, other code.

tests/recorded/ragged.py and ragged_strings.py cover expressions. The numbers are TensorFlow's too.
"""

import copy
import io
import pickle
import sys

import numpy as np
import pytest

import gradtape as tf

Dataset = tf.data.Dataset


@pytest.fixture
def rt():
    return tf.ragged.constant([[3, 1, 4], [1, 5], [9], [2, 6]])


@pytest.fixture
def rf():
    return tf.ragged.constant([[3.0, 1.0, 4.0], [1.0, 5.0], [], [2.0, 6.0]])


def lists(dataset):
    return [x.to_list() if isinstance(x, tf.RaggedTensor) else x.numpy().tolist() for x in dataset]


class TestDatasets:
    def test_rows_are_tensors_and_batches_of_them_ragged(self, rt):
        rows = Dataset.from_tensor_slices(rt)
        assert rows.element_spec == tf.RaggedTensorSpec([None], tf.int32, 0)
        assert all(isinstance(row, tf.Tensor) for row in rows)
        batches = rows.batch(2)
        assert batches.element_spec == tf.RaggedTensorSpec([None, None], tf.int32, 1)
        assert lists(batches) == [[[3, 1, 4], [1, 5]], [[9], [2, 6]]]
        assert lists(rows.batch(3, drop_remainder=True)) == [[[3, 1, 4], [1, 5], [9]]]
        assert lists(batches.batch(2)) == [[[[3, 1, 4], [1, 5]], [[9], [2, 6]]]]
        assert lists(batches.unbatch()) == rt.to_list()

    @pytest.mark.parametrize(
        "change",
        [
            lambda d: d.shuffle(1), lambda d: d.cache().prefetch(1), lambda d: d.take(4), lambda d: d.repeat(1),
            lambda d: d.filter(lambda row: tf.size(row) > 0), lambda d: d.concatenate(d.take(0)),
        ],
    )  # fmt: skip
    def test_what_keeps_elements_keeps_them_ragged(self, rt, change):
        assert lists(change(Dataset.from_tensor_slices(rt)).batch(4)) == [rt.to_list()]

    def test_beside_other_parts(self, rt):
        data = Dataset.from_tensor_slices({"words": rt, "label": [1, 2, 3, 4]}).batch(2)
        first = next(iter(data))
        assert first["words"].to_list() == [[3, 1, 4], [1, 5]]
        assert first["label"].numpy().tolist() == [1, 2]
        pairs = Dataset.zip((Dataset.from_tensor_slices(rt), Dataset.range(4))).batch(4)
        assert next(iter(pairs))[0].to_list() == rt.to_list()

    def test_more_ragged_dimensions(self):
        r3 = tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6], [], [7]]])
        rows = Dataset.from_tensor_slices(r3)
        assert lists(rows) == r3.to_list()
        batches = list(rows.batch(2))
        assert [x.to_list() for x in batches] == [[[[1, 2], [3]], []], [[[4, 5, 6], [], [7]]]]
        assert [x.shape.as_list() for x in batches] == [[2, None, None], [1, None, None]]

    def test_functions_see_ragged_batches(self, rt):
        batches = Dataset.from_tensor_slices(rt).batch(2)
        assert lists(batches.map(lambda x: x * 2)) == [[[6, 2, 8], [2, 10]], [[18], [4, 12]]]
        assert lists(batches.map(lambda x: tf.reduce_sum(x, 1))) == [[8, 6], [9, 8]]

    def test_elements_of_different_sizes_become_ragged(self):
        data = Dataset.range(4).map(lambda n: tf.range(n))
        assert data.ragged_batch(2).element_spec == tf.RaggedTensorSpec([None, None], tf.int64, 1)
        assert lists(data.ragged_batch(2)) == [[[], [0]], [[0, 1], [0, 1, 2]]]
        assert lists(data.take(3).ragged_batch(2, drop_remainder=True)) == [[[], [0]]]
        narrow = next(iter(data.ragged_batch(2, row_splits_dtype=tf.int32)))
        assert narrow.row_splits.dtype == tf.int32
        older = data.apply(tf.data.experimental.dense_to_ragged_batch(4))
        assert lists(older) == [[[], [0], [0, 1], [0, 1, 2]]]

    def test_only_what_differs_becomes_ragged(self):
        square = Dataset.from_tensor_slices([[1, 2], [3, 4]]).ragged_batch(2)
        assert isinstance(next(iter(square)), tf.Tensor)
        pairs = Dataset.range(3).map(lambda n: (n, tf.fill([2, n + 1], n))).ragged_batch(3)
        numbers, filled = next(iter(pairs))
        assert numbers.numpy().tolist() == [0, 1, 2]
        assert filled.shape.as_list() == [3, 2, None]
        assert filled.to_list() == [[[0], [0]], [[1, 1], [1, 1]], [[2, 2, 2], [2, 2, 2]]]

    def test_windows_and_words(self, rt):
        windows = Dataset.from_tensor_slices(rt).window(2).flat_map(lambda window: window.batch(2))
        assert lists(windows) == [[[3, 1, 4], [1, 5]], [[9], [2, 6]]]
        words = Dataset.from_tensor_slices(["a b", "c", "d e f"])
        assert lists(words.batch(2).map(tf.strings.split)) == [[[b"a", b"b"], [b"c"]], [[b"d", b"e", b"f"]]]
        assert lists(words.map(tf.strings.split).ragged_batch(3)) == [[[b"a", b"b"], [b"c"], [b"d", b"e", b"f"]]]

    def test_as_numpy_and_from_generators(self, rt):
        (first, _) = Dataset.from_tensor_slices(rt).batch(2).as_numpy_iterator()
        assert [row.tolist() for row in first] == [[3, 1, 4], [1, 5]]
        spec = tf.RaggedTensorSpec([None, None], tf.int32)
        assert lists(Dataset.from_generator(lambda: iter([rt]), output_signature=spec)) == [rt.to_list()]

    def test_padded_batches_are_of_tensors(self, rt):
        with pytest.raises(TypeError, match="only supported for datasets that produce tensor elements"):
            Dataset.from_tensor_slices(rt).padded_batch(2)


class TestTapes:
    def test_a_ragged_source_has_a_ragged_gradient(self, rf):
        with tf.GradientTape() as tape:
            tape.watch(rf)
            y = tf.reduce_sum(rf**2)
        gradient = tape.gradient(y, rf)
        assert isinstance(gradient, tf.RaggedTensor)
        assert gradient.to_list() == [[6.0, 2.0, 8.0], [2.0, 10.0], [], [4.0, 12.0]]

    def test_a_ragged_target_is_summed(self):
        x = tf.Variable([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            y = tf.RaggedTensor.from_row_lengths(x * x, [2, 1])
        assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0, 6.0]

    def test_unconnected(self, rf):
        with tf.GradientTape() as tape:
            tape.watch(rf)
            y = tf.constant(1.0)
        assert tape.gradient(y, rf) is None

    def test_explained_and_looked_into(self, rf):
        with tf.GradientTape(trace=True) as tape:
            tape.watch(rf)
            y = tf.reduce_sum(tf.stop_gradient(rf))
        assert tape.gradient(y, rf) is None
        assert tape.explain(y, rf).reasons[0].cause.value == "stop_gradient"

    def test_embeddings_learn(self):
        table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        with tf.GradientTape() as tape:
            rows = tf.nn.embedding_lookup(table, tf.ragged.constant([[0, 2], [1]]))
            y = tf.reduce_sum(tf.reduce_mean(rows, axis=1) ** 2)
        expected = [[3.0, 4.0], [6.0, 8.0], [3.0, 4.0]]
        np.testing.assert_allclose(tf.convert_to_tensor(tape.gradient(y, table)), expected)

    def test_derivatives_of_every_kind(self):
        x = tf.constant([1.0, 2.0, 3.0], tf.float64)

        def f(x):
            rows = tf.RaggedTensor.from_row_lengths(x, [2, 1])
            return tf.reduce_sum(tf.nn.softmax(rows) * rows**2, axis=1)

        error = [tf.test.compute_gradient(f, [x])]
        for theoretical, numerical in error:
            np.testing.assert_allclose(theoretical[0], numerical[0], atol=1e-5)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        jacobian = tape.jacobian(y, x)
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            y = f(x)
        np.testing.assert_allclose(accumulator.jvp(y), tf.reduce_sum(jacobian, axis=1))


def program(x, ids, target):
    with tf.GradientTape() as tape:
        tape.watch(x)
        rows = tf.nn.embedding_lookup(x, ids)
        joined = tf.concat([rows, rows * 2.0], axis=1)
        y = tf.reduce_mean(joined, axis=1) - target
        loss = tf.reduce_sum(y * y)
    return loss, tf.convert_to_tensor(tape.gradient(loss, x)), tf.where(ids > 1, ids, 0)


class TestFunctions:
    @pytest.mark.parametrize("jit", [False, True])
    def test_same_as_eagerly_and_traced_once_for_all_rows(self, jit):
        traces = []

        def traced(*args):
            traces.append(1)
            return program(*args)

        f = tf.function(traced, jit_compile=jit)
        x, target = tf.constant(np.arange(8.0).reshape(4, 2)), tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.float64)
        for lengths in [2, 1], [1, 2], [2, 1]:
            ids = tf.RaggedTensor.from_row_lengths(tf.constant([3, 1, 2]), lengths)
            for got, expected in zip(f(x, ids, target), program(x, ids, target), strict=True):
                if isinstance(expected, tf.RaggedTensor):
                    assert got.to_list() == expected.to_list()
                else:
                    np.testing.assert_allclose(got, expected)
        assert len(traces) == 1

    def test_signatures(self, rt, rf):
        f = tf.function(lambda x: x * 2, input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
        assert f(rt).to_list() == [[6, 2, 8], [2, 10], [18], [4, 12]]
        assert f(tf.ragged.constant([[1]])).to_list() == [[2]]
        with pytest.raises(TypeError):
            f(rf)
        with pytest.raises(TypeError):
            f(tf.constant([[1]]))
        concrete = tf.function(lambda x: x + 1).get_concrete_function(rt)
        assert concrete(rt).to_list() == [[4, 2, 5], [2, 6], [10], [3, 7]]

    def test_branches_and_loops(self, rt):
        @tf.function
        def chosen(x, condition):
            return tf.cond(condition, lambda: x * 2, lambda: x + 1)

        assert chosen(rt, tf.constant(True)).to_list() == [[6, 2, 8], [2, 10], [18], [4, 12]]
        assert chosen(rt, tf.constant(False)).to_list() == [[4, 2, 5], [2, 6], [10], [3, 7]]

        def repeated(x):
            return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), [0, x])[1]

        expected = [[24, 8, 32], [8, 40], [72], [16, 48]]
        assert repeated(rt).to_list() == tf.function(repeated)(rt).to_list() == expected

    def test_checks_hold_at_every_run(self, rt):
        f = tf.function(lambda splits: tf.RaggedTensor.from_row_splits([1, 2, 3], splits))
        assert f(tf.constant([0, 1, 3])).to_list() == [[1], [2, 3]]
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(tf.constant([0, 2, 1]))
        add = tf.function(lambda a, b: a + b)
        assert add(rt, rt).to_list() == [[6, 2, 8], [2, 10], [18], [4, 12]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="row for row"):
            add(rt, tf.RaggedTensor.from_row_lengths(rt.values, [2, 3, 1, 2]))

    def test_a_traced_one_has_no_list(self, rt):
        @tf.function
        def f(x):
            with pytest.raises(ValueError, match="eager"):
                x.to_list()
            with pytest.raises(ValueError, match="eager"):
                x.numpy()
            return x

        f(rt)


class TestValues:
    def test_copies(self, rt):
        for made in copy.copy(rt), copy.deepcopy(rt), pickle.loads(pickle.dumps(rt)):
            assert made.to_list() == rt.to_list()
            assert made.shape == rt.shape

    def test_printed(self, rt, capsys):
        tf.print(rt, "x", [tf.ragged.constant([["a"], []])], tf.ragged.constant([[1.5]]))
        assert capsys.readouterr().err == "[[3, 1, 4], [1, 5], [9], [2, 6]] x [[['a'], []]] [[1.500000]]\n"
        text = io.StringIO()
        tf.print(tf.ragged.constant([list(range(8))]), output_stream=text, summarize=2)
        assert text.getvalue() == "[[0, 1, ..., 6, 7]]\n"

    def test_equal_only_if_rows_are(self, rt):
        other = tf.RaggedTensor.from_row_lengths(rt.values, [2, 3, 1, 2])
        assert (rt == other) is False
        assert (rt != other) is True
        assert (rt == "a") is False
        assert (rt == None) is False  # noqa: E711
        assert (rt != None) is True  # noqa: E711

    def test_no_tensor(self, rt):
        assert tf.is_tensor(rt)
        assert not isinstance(rt, tf.Tensor)
        with pytest.raises(ValueError, match="no tensor"):
            tf.convert_to_tensor(rt)
        with pytest.raises(ValueError, match="no tensor"):
            tf.transpose(rt)

    def test_test_cases_compare_them(self, rt):
        case = tf.test.TestCase()
        case.assertAllEqual(rt, [[3, 1, 4], [1, 5], [9], [2, 6]])
        case.assertAllClose(tf.cast(rt, tf.float32), [[3.0, 1.0, 4.0], [1.0, 5.0], [9.0], [2.0, 6.0]])
        with pytest.raises(AssertionError):
            case.assertAllEqual(rt, [[3, 1], [4, 1, 5], [9], [2, 6]])
        with pytest.raises(AssertionError):
            case.assertAllClose(tf.cast(rt, tf.float32), [[3.0, 1.0, 4.5], [1.0, 5.0], [9.0], [2.0, 6.0]])

    def test_lookups_in_tables(self, rt):
        keys = tf.lookup.KeyValueTensorInitializer([1, 3, 4], ["a", "b", "c"])
        table = tf.lookup.StaticHashTable(keys, "?")
        assert table.lookup(rt).to_list() == [[b"b", b"a", b"c"], [b"a", b"?"], [b"?"], [b"?", b"?"]]


class TestOthersFunctions:
    """Functions get new code when the first ragged tensor is made: they stay what they are for everybody else."""

    def test_implementations_are_looked_up_when_a_call_fails(self, run_python):
        found = run_python(
            "import gradtape as tf\n"
            "before = tf.concat.__code__\n"
            "import inspect\n"
            "import sys\n"
            "tf.concat([[1], [2]], 0); tf.ragged.constant([[1]])\n"
            "signature = inspect.signature(tf.concat)\n"
            "assert 'gradtape.ragged.functions' not in sys.modules\n"
            "tf.concat([tf.ragged.constant([[1]])] * 2, 0)\n"
            "assert tf.concat.__code__ is before and inspect.signature(tf.concat) == signature\n"
            "print(tf.concat([[1], [2]], axis=0).numpy().tolist())\n"
        )
        assert found == "[1, 2]\n"

    def test_threads_that_begin_together(self, run_python):
        found = run_python(
            "import threading, gradtape as tf\n"
            "def work():\n"
            "    barrier.wait()\n"
            "    rows = tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1])\n"
            "    done.append(tf.reduce_sum(rows, axis=1).numpy().tolist())\n"
            "tf.RaggedTensor, tf.reduce_sum\n"
            "barrier, done = threading.Barrier(4), []\n"
            "threads = [threading.Thread(target=work) for _ in range(4)]\n"
            "[t.start() for t in threads]; [t.join() for t in threads]\n"
            "print(done == [[3, 3]] * 4)\n"
        )
        assert found == "True\n"

    def test_errors_of_others_are_as_before(self, rt):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            tf.concat([[1], [[2]]], 0)
        assert caught.value.__context__ is None
        with pytest.raises(TypeError, match="missing"):
            tf.concat([rt])

    def test_functions_that_call_others(self, rf):
        assert tf.debugging.assert_all_finite(rf, "finite").to_list() == rf.to_list()
        shapes = tf.shape_n([rf, tf.ones(2)])
        assert isinstance(shapes[0], tf.experimental.DynamicRaggedShape) and shapes[1].numpy().tolist() == [2]

    def test_lists_of_ragged_tensors_are_refused_as_before(self, rt):
        for function in (tf.abs, tf.cast, tf.nn.relu, tf.reduce_sum, tf.sparse.bincount):
            with pytest.raises((TypeError, ValueError)):
                function([rt, rt])

    def test_users_functions_come_first(self, rt):
        class Mine(tf.experimental.ExtensionType):
            x: tf.Tensor

        @tf.experimental.dispatch_for_api(tf.tile, {"input": Mine})
        def tiled(input, multiples, name=None):
            return "mine"

        try:
            assert tf.tile(Mine([1]), [2]) == "mine"
            assert tf.tile(rt[:1], [1, 2]).to_list() == [[3, 1, 4, 3, 1, 4]]
            assert tf.tile([1], [2]).numpy().tolist() == [1, 1]
        finally:
            tf.experimental.unregister_dispatch_for(tiled)
        assert tf.tile(rt[:1], [1, 2]).to_list() == [[3, 1, 4, 3, 1, 4]]


@pytest.fixture
def run_python():
    import subprocess

    def run(text):
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
