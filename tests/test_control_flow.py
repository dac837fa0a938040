"""Conditionals, loops, maps and folds under tapes: executed ops are recorded."""

import sys

import numpy as np
import pytest

import gradtape as tf


def gradient(f, *xs):
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return tape.gradient(y, list(xs))


def second_derivative(f, x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        (first,) = gradient(f, x)
    return outer.gradient(first, x)


X = tf.constant(2.0)
V = tf.constant([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: tf.cond(x > 0, lambda: x**3, lambda: -x), 12.0),
        (lambda x: tf.case([(x < 0, lambda: x), (x > 1, lambda: x**3)]), 12.0),
        (lambda x: tf.switch_case(tf.constant(1), [lambda: x, lambda: x**3]), 12.0),
        (lambda x: tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * x), (0, x))[1], 12.0),
        (lambda x: tf.foldl(lambda a, b: a * b, tf.stack([x, x, x])), 12.0),
        (lambda x: tf.foldr(lambda a, b: a * b, tf.stack([x, x, x])), 12.0),
        (lambda x: tf.scan(lambda a, b: a * b, tf.stack([x, x, x]))[-1], 12.0),
        (lambda x: tf.reduce_sum(tf.map_fn(lambda a: a**3, tf.stack([x, x]))), 24.0),
        (lambda x: tf.reduce_sum(tf.vectorized_map(lambda a: a**3, tf.stack([x, x]))), 24.0),
    ],
)
def test_everything_is_differentiable_twice(f, expected):
    assert float(gradient(f, X)[0]) == expected
    assert float(second_derivative(f, X)) == expected


def test_cond_whose_branch_ignores_x_has_no_gradient():
    assert gradient(lambda x: tf.cond(x > 0, lambda: tf.constant(1.0), lambda: x), X) == [None]


def test_while_loop_with_back_prop_false_is_differentiated_eagerly():
    def f(x):
        return tf.while_loop(lambda y: y < 100.0, lambda y: [y * x], [x], back_prop=False)[0]

    assert float(gradient(f, X)[0]) == 7 * 2.0**6


def test_while_loop_keeps_the_type_of_what_body_returns():
    assert isinstance(tf.while_loop(lambda i: i < 2, lambda i: [i + 1], (tf.constant(0),)), list)
    assert isinstance(tf.while_loop(lambda i: i < 2, lambda i: (i + 1,), [tf.constant(0)]), tuple)


def test_jacobian_of_a_while_loop():
    with tf.GradientTape() as tape:
        tape.watch(V)
        y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * V), (0, V))[1]
    np.testing.assert_allclose(tape.jacobian(y, V), np.diag([3.0, 12.0, 27.0]))


def test_map_fn_in_forward_mode_and_jacobian():
    with tf.autodiff.ForwardAccumulator(V, tf.constant([1.0, 0.0, 2.0])) as acc:
        y = tf.map_fn(lambda a: a * a, V)
    assert acc.jvp(y).numpy().tolist() == [2.0, 0.0, 12.0]
    with tf.GradientTape() as tape:
        tape.watch(V)
        y = tf.map_fn(lambda a: a * a, V)
    np.testing.assert_allclose(tape.jacobian(y, V), np.diag([2.0, 4.0, 6.0]))


def test_gradient_of_a_long_map_is_linear_in_its_length():
    n = 3000
    x = tf.ones([n])
    (g,) = gradient(lambda x: tf.map_fn(lambda a: 2.0 * a, x), x)
    assert g.numpy().tolist() == [2.0] * n


def test_map_fn_says_how_to_change_the_dtype():
    text = "TensorArray dtype is float32 but Op is trying to write dtype int32"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tf.map_fn(lambda a: tf.cast(a, tf.int32), V)


def test_variables_inside_loops_are_watched():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.map_fn(lambda a: a * v * v, V))
    assert float(tape.gradient(y, v)) == 36.0


def test_python_functions_as_decorators():
    @tf.py_function(Tout=tf.float32)
    def product(a, b):
        return a * b

    @tf.numpy_function(Tout=tf.float32)
    def doubled(a):
        assert isinstance(a, np.ndarray)
        return a * 2

    assert float(gradient(lambda x: product(x, x), X)[0]) == 4.0
    assert doubled(V).numpy().tolist() == [2.0, 4.0, 6.0]
    assert product.__name__ == "product"


def test_py_function_is_differentiable_and_numpy_function_is_not():
    assert float(gradient(lambda x: tf.py_function(lambda a: a * a, [x], tf.float32), X)[0]) == 4.0
    assert gradient(lambda x: tf.numpy_function(lambda a: a * a, [x], tf.float32), X) == [None]


def test_gradients_and_hessians_need_a_graph():
    for f in (tf.gradients, tf.hessians):
        with pytest.raises(RuntimeError, match=r"when eager execution is enabled\. Use tf\.GradientTape"):
            f(X, X)


def test_a_function_that_creates_a_variable_in_init_scope_is_traced_twice():
    made, traces = [], []

    @tf.function
    def double(x):
        traces.append(x.shape)
        if not made:
            with tf.init_scope():
                made.append(tf.Variable(2.0))
        return x * made[0]

    assert [float(double(tf.constant(3.0))), float(double(tf.constant(4.0)))] == [6, 8]
    assert len(traces) == 2  # as in TensorFlow


def test_init_scope_pauses_all_recorders():
    v = tf.Variable(2.0)
    acc = tf.autodiff.ForwardAccumulator(v, tf.constant(1.0))
    with tf.GradientTape() as outer, tf.GradientTape() as tape, acc:
        with tf.init_scope():
            y = v * v
        z = v * y
    assert acc.jvp(y) is None and float(acc.jvp(z)) == 4.0
    assert float(tape.gradient(z, v)) == 4.0
    assert outer.gradient(y, v) is None


def test_print_as_tensorflow_does(capsys):
    nested = {"x": tf.constant(1), "y": [tf.constant([1, 2]), 3]}
    tf.print(tf.constant([1.0, 2.0]), "a", nested, output_stream=sys.stdout)
    tf.print(tf.range(20), output_stream=sys.stdout)
    tf.print(tf.range(20), output_stream=sys.stdout, summarize=2)
    tf.print(tf.ones([5, 5]), output_stream=sys.stdout, summarize=2)
    tf.print(tf.constant("abc"), tf.constant(["a", "b"]), 1, None, sep="|", end="E\n", output_stream=sys.stdout)
    tf.print(tf.constant([0.1, 1e10, 1e-7]), tf.constant(1 / 3), tf.constant([True]), output_stream=sys.stdout)
    tf.print(tf.constant(1 / 3, tf.float64), tf.constant(123456789.0), tf.ones([2, 2, 2]), output_stream=sys.stdout)
    assert capsys.readouterr().out == (
        "[1 2] a {'x': 1, 'y': [[1 2], 3]}\n"
        "[0 1 2 ... 17 18 19]\n"
        "[0 1 ... 18 19]\n"
        "[[1 1 ... 1 1]\n [1 1 ... 1 1]\n ...\n [1 1 ... 1 1]\n [1 1 ... 1 1]]\n"
        '"abc"|["a" "b"]|1|NoneE\n'
        "[0.1 1e+10 1e-07] 0.333333343 [1]\n"
        "0.33333333333333331 123456792 [[[1 1]\n  [1 1]]\n\n [[1 1]\n  [1 1]]]\n"
    )
    tf.print("to standard error")
    assert capsys.readouterr().err == "to standard error\n"


def test_print_to_a_file(tmp_path):
    for i in range(2):
        tf.print(i, output_stream=f"file://{tmp_path}/log")
    assert (tmp_path / "log").read_text() == "0\n1\n"


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function(autograph=False)], ids=["eager", "traced"])
def test_texts_and_sparse_tensors_are_printed(capsys, wrap):
    sparse = tf.sparse.SparseTensor([[0, 1], [2, 3]], [1.0, 2.0], [4, 5])

    @wrap
    def show(text, sparse):
        tf.print(text, output_stream=sys.stdout)
        tf.print([text], output_stream=sys.stdout)
        tf.print(sparse, [sparse.values], output_stream=sys.stdout)

    show(tf.constant('it\'s "é"\n'), sparse)
    assert capsys.readouterr().out == (
        'it\'s "é"\n\n["it\\\'s \\"é\\"\\n"]\n'
        "'SparseTensor(indices=[[0 1]\n [2 3]], values=[1 2], shape=[4 5])' [[1 2]]\n"
    )


def test_devices_are_accepted_and_unknown_ones_named():
    whole = "/job:localhost/replica:0/task:0/device:CPU:0"
    for name in ("/CPU:0", "CPU:0", "gpu:1", "/GPU:0", "/device:GPU:0", whole, None, ""):
        with tf.device(name):
            assert float(X * X) == 4.0
    with tf.device(tf.config.list_logical_devices()[0]), tf.control_dependencies([X]):
        pass
    with pytest.raises(ValueError, match="'/foo'"), tf.device("/foo"):
        pass
    outer = tf.device("/CPU:0")
    with outer:
        with tf.device(None), pytest.raises(RuntimeError, match="without proper scope nesting"):
            outer.__exit__()


def test_tuples_are_flat():
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    x, nothing, given = tf.tuple([X, None, slices])
    assert (float(x), nothing, given) == (2.0, None, slices)
    with pytest.raises(TypeError, match="not of list"):
        tf.tuple([[X, X]])


def test_config():
    assert [d.device_type for d in tf.config.list_physical_devices()] == ["CPU"]
    tf.config.set_visible_devices([], "GPU")
    tf.config.set_visible_devices(tf.config.list_physical_devices())
    with pytest.raises(RuntimeError, match="Visible devices cannot be modified"):
        tf.config.set_visible_devices([], "CPU")
    tf.config.run_functions_eagerly(True)
    assert tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(False)


def test_functions_take_arrays_as_tensors_and_return_tensors():
    v = tf.Variable(2.0)

    @tf.function
    def f(x, pair):
        assert tf.is_tensor(x) and tf.is_tensor(pair["a"]) and pair["n"] == 3
        return {"number": 1, "array": np.ones(2), "variable": v, "nothing": None, "list": [x, 2.5]}

    result = f(np.ones(3, np.float32), {"a": np.int64(1), "n": 3})
    assert all(isinstance(part, tf.Tensor) for part in tf.nest.flatten({**result, "nothing": v + 0}))
    assert result["nothing"] is None and result["number"].dtype == tf.int32 and result["list"][1].dtype == tf.float32
    with pytest.raises(TypeError, match="found return value of type object"):
        tf.function(lambda: object())()


def test_an_input_signature_is_kept():
    class Model:
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), {"b": tf.TensorSpec([], tf.int32)}])
        def total(self, x, rest):
            """Adds up."""
            return tf.reduce_sum(x) + tf.cast(rest["b"], tf.float32)

    model = Model()
    assert float(model.total([1.0, 2.0], rest={"b": 3})) == 6.0
    assert (model.total.__name__, model.total.__doc__) == ("total", "Adds up.")
    for wrong in ([[[1.0]], {"b": 1}], [[1.0], {"b": 1.5}], [[1.0]], [tf.constant([1]), {"b": 1}], [[1.0], {}]):
        with pytest.raises(TypeError, match="Binding inputs"):
            model.total(*wrong)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function(autograph=False)], ids=["eager", "traced"])
def test_map_fn_takes_and_gives_sparse_tensors(wrap):
    values = tf.constant([1.0, 2.0, 3.0])
    places, dense = [[0, 0], [0, 1], [1, 0]], tf.constant([[1.0, 0.0], [0.0, 3.0]])

    @wrap
    def mapped(values, dense):
        given = tf.SparseTensor(places, values, [2, 2])
        doubled, numbers = tf.map_fn(lambda x: (x[0] * 2.0, x[1]), (given, tf.constant([1, 2])))
        sums = tf.map_fn(tf.sparse.reduce_sum, given, fn_output_signature=tf.float32)
        made = tf.map_fn(tf.sparse.from_dense, dense, fn_output_signature=tf.SparseTensorSpec([None], tf.float32))
        return doubled, numbers, sums, made

    with tf.GradientTape() as tape:
        tape.watch(values)
        doubled, numbers, sums, made = mapped(values, dense)
    assert doubled.indices.numpy().tolist() == places
    assert doubled.values.numpy().tolist() == [2.0, 4.0, 6.0]
    assert numbers.numpy().tolist() == [1, 2]
    assert sums.numpy().tolist() == [3.0, 3.0]
    assert tf.sparse.to_dense(made).numpy().tolist() == dense.numpy().tolist()
    assert tape.gradient(sums, values).numpy().tolist() == [1.0, 1.0, 1.0]


def test_map_fn_holds_sparse_results_to_their_signature():
    given = tf.SparseTensor([[0, 0]], [1.0], [2, 2])
    with pytest.raises(ValueError, match="Expected `fn` to return a: SparseTensorSpec"):
        tf.map_fn(tf.sparse.reduce_sum, given)
    empty = tf.map_fn(lambda x: x, tf.SparseTensor(np.zeros((0, 2), np.int64), tf.zeros([0]), [0, 3]))
    assert empty.dense_shape.numpy().tolist() == [0, 3]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("held", [(True, True, False), (True, False, True), (False, True, False)])
@pytest.mark.parametrize("has_default", [False, True])
def test_an_exclusive_case_checks_all_predicates_but_that_of_its_default(traced, held, has_default):
    def choose(*predicates):
        pairs = [(p, lambda i=i: tf.constant(i)) for i, p in enumerate(predicates)]
        return tf.case(pairs, (lambda: tf.constant(9)) if has_default else None, exclusive=True)

    choose = tf.function(choose) if traced else choose
    given = list(map(tf.constant, held))
    if sum(held if has_default else held[:-1]) > 1:
        with pytest.raises(tf.errors.InvalidArgumentError, match="exclusive=True"):
            choose(*given)
    else:
        assert int(choose(*given)) == held.index(True)
