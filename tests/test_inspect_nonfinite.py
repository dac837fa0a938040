"""Origins of infinities and NaNs, and gradients in which an exact zero wins."""

import gc

import numpy as np
import pytest

import gradtape as tf


def diagnosed(f, *values, **options):
    variables = [tf.Variable(v, name=f"v{i}") for i, v in enumerate(values)]
    with tf.GradientTape(trace=True, **options) as tape:
        target = f(*variables)
    tape.gradient(target, variables)
    return tape.diagnose()


CASES = {
    "log of 0": (lambda x: tf.reduce_sum(tf.math.log(x)), [[1.0, 0.0]], "forward", "log", (1,), "log(0)"),
    "log of a negative": (lambda x: tf.reduce_sum(tf.math.log(x)), [[1.0, -2.0]], "forward", "log", (1,), "below 0"),
    "log of a softmax": (
        lambda x: -tf.reduce_sum(tf.math.log(tf.nn.softmax(x))), [[200.0, 0.0]], "forward", "log", (1,), "from_logits",
    ),
    "softmax by hand": (
        lambda x: tf.reduce_sum(tf.exp(x) / tf.reduce_sum(tf.exp(x))), [[0.0, 99.0]], "forward", "exp", (1,),
        "tf.nn.softmax",
    ),
    "softplus by hand": (
        lambda x: tf.reduce_sum(tf.math.log(1.0 + tf.exp(x))), [[0.0, 99.0]], "forward", "exp", (1,), "softplus",
    ),
    "exp": (lambda x: tf.reduce_sum(tf.exp(x) * 2.0), [[0.0, 99.0]], "forward", "exp", (1,), "about 89 in float32"),
    "division by 0": (lambda x: tf.reduce_sum(1.0 / x), [[1.0, 0.0]], "forward", "div", (1,), "divide_no_nan"),
    "division by a constant 0": (
        lambda x: tf.reduce_sum(x / tf.constant([0.0, 1.0])), [[1.0, 2.0]], "forward", "div", (0,), "divide_no_nan",
    ),
    "sqrt of a negative": (lambda x: tf.sqrt(x), [-1.0], "forward", "sqrt", (), "negative"),
    "sqrt at 0": (lambda x: tf.sqrt(x), [0.0], "backward", "sqrt", (), "infinite at 0"),
    "norm at 0": (lambda x: tf.sqrt(tf.reduce_sum(x * x)), [[0.0, 0.0]], "backward", "sqrt", (), "norm"),
    "a negative base": (lambda x, p: tf.reduce_sum(x**p), [[-1.0, 2.0], 2.5], "forward", "pow", (0,), "negative base"),
    "acos at 1": (lambda x: tf.reduce_sum(tf.acos(x)), [[0.5, 1.0]], "backward", "acos", (1,), "clip_by_value"),
    "float16": (
        lambda x: tf.reduce_sum(tf.cast(x, tf.float16) * 1000.0), [[100.0, 2.0]], "forward", "mul", (0,), "65504",
    ),
    "where around log": (
        lambda x: tf.reduce_sum(tf.where(x > 0, tf.math.log(x), 0.0)), [[1.0, 0.0]], "backward", "log", (1,), "trap",
    ),
    "where around a quotient": (
        lambda x: tf.reduce_sum(tf.where(x > 0, 1.0 / x, 0.0)), [[1.0, 0.0]], "backward", "div", (1,), "nan_safe=True",
    ),
    "where around a power": (
        lambda x: tf.reduce_sum(tf.where(x > 0, x**0.3, 0.0)), [[0.0, 1.0]], "backward", "pow", (0,), "trap",
    ),
    "a variable": (lambda x: tf.reduce_sum(x * 2.0), [[1.0, np.nan]], "given", "v0", (1,), "earlier update"),
    "data": (
        lambda x: tf.reduce_sum(x * tf.constant([1.0, np.inf])), [[1.0, 2.0]], "given",
        "argument b of tf.multiply, which is not on the tape,", (1,), "Clean the data",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_first_op_or_rule_is_found(case):
    f, values, direction, op, index, remedy = CASES[case]
    found = diagnosed(f, *values)
    assert not found.ok
    assert (found.direction, found.op, found.index) == (direction, op, index)
    assert remedy in found.remedy
    assert found.where_trap == case.startswith("where")
    if direction != "given" or op.startswith("argument"):
        assert found.line[0] == __file__
    assert found.op in str(found) and found.remedy in str(found)


def test_a_finite_run_is_said_to_be_finite():
    found = diagnosed(lambda x: x * x, 3.0)
    assert found.ok and "finite" in str(found)


def test_a_nan_far_from_the_target_is_followed_to_its_origin():
    x = tf.Variable([2.0, 0.0])
    with tf.GradientTape(check="nan") as tape:
        finite_branch = tf.exp(x)
        broken = tf.math.log(x)
        for _ in range(20):
            broken = broken * 0.5 + finite_branch
        loss = tf.reduce_mean(broken)
    with pytest.raises(tf.errors.InvalidArgumentError, match="log"):
        tape.gradient(loss, x)
    assert tape.diagnose().op == "log"


def test_check_raises_with_the_whole_report_and_leaves_the_tape_usable():
    x = tf.Variable([1.0, 0.0])
    with tf.GradientTape(check="nan", trace=True) as tape:
        loss = tf.reduce_sum(tf.math.log(x))
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tape.gradient(loss, x)
    text = str(caught.value)
    assert "The target is not finite" in text
    assert "test_inspect_nonfinite.py" in text
    assert "loss = tf.reduce_sum(tf.math.log(x))" in text
    assert "at index (1,): x = 0" in text
    assert tape.diagnose(loss, x).op == "log"


def test_check_sees_gradients_that_are_slices():
    table = tf.Variable([[1.0], [0.0]])
    with tf.GradientTape(check="nan") as tape:
        loss = tf.reduce_sum(tf.sqrt(tf.gather(table, [0, 1])))
    with pytest.raises(tf.errors.InvalidArgumentError, match="sqrt"):
        tape.gradient(loss, table)


def test_check_lets_a_finite_run_pass():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(check="nan") as tape:
        loss = tf.reduce_sum(x * x)
    np.testing.assert_allclose(tape.gradient(loss, x), [2.0, 4.0])


def test_a_sum_that_overflows_is_not_taken_for_an_infinity():
    x = tf.Variable([3e38, 3e38])
    with tf.GradientTape(check="nan") as tape:
        y = x * 1.0
    np.testing.assert_allclose(tape.gradient(y, x), [1.0, 1.0])


def test_an_unknown_check_is_refused():
    with pytest.raises(ValueError, match="'nan'"):
        tf.GradientTape(check="inf")


def test_a_used_up_tape_says_how_to_have_it_kept():
    gc.collect()  # while a traced tape is alive, others are traced too
    x = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = tf.sqrt(x)
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="trace=True"):
        tape.diagnose(y, x)
    with pytest.raises(RuntimeError, match="never entered"):
        tf.GradientTape().diagnose()


def test_a_custom_gradient_is_named():
    @tf.custom_gradient
    def broken(x):
        return x * 1.0, lambda g: g * np.float32(np.nan)

    found = diagnosed(lambda x: broken(x) * 2.0, 3.0)
    assert (found.direction, found.op) == ("backward", "broken")
    assert "custom_gradient" in found.remedy


@tf.function
def log_of(x):
    return tf.reduce_sum(tf.math.log(x))


@tf.function
def masked_log(x):
    logs = tf.math.log(x)
    return tf.reduce_sum(tf.where(x > 0, logs, 0.0))


@tf.function
def noisy_sqrt(x):
    tf.print("once", output_stream="file:///dev/null")
    return tf.sqrt(x)


def test_it_is_found_inside_a_traced_function():
    for _ in range(2):
        found = diagnosed(lambda x: log_of(x * 1.0) * 2.0, [1.0, 0.0])
        assert (found.direction, found.op, found.index) == ("forward", "log", (1,))
        assert found.line[0] == __file__ and "log_of" in str(found)
        found = diagnosed(lambda x: masked_log(x) * 2.0, [1.0, 0.0])
        assert (found.direction, found.op, found.where_trap) == ("backward", "log", True)
        assert found.line[2] == "masked_log"


def test_a_function_that_must_not_run_again_is_named():
    found = diagnosed(lambda x: noisy_sqrt(x), 0.0)
    assert found.op == "noisy_sqrt"
    assert "run_functions_eagerly" in found.remedy


def test_an_op_with_several_outputs():
    found = diagnosed(lambda x: tf.add_n(tf.split(tf.sqrt(x), 2)), [[1.0, 0.0]][0])
    assert (found.direction, found.op, found.index) == ("backward", "sqrt", (1,))


TRAPS = {
    "log": (lambda x: tf.where(x > 0, tf.math.log(x), 0.0), [0.0, 2.0], [0.0, 0.5]),
    "quotient": (lambda x: tf.where(x > 0, 1.0 / x, 0.0), [0.0, 2.0], [0.0, -0.25]),
    "power": (lambda x: tf.where(x > 0, x**0.5, 0.0), [0.0, 4.0], [0.0, 0.25]),
    "broadcast": (lambda x: tf.where(x > 0, tf.constant([[1.0], [2.0]]) / x, 0.0), [0.0, 2.0], [0.0, -0.75]),
    "norm": (lambda x: tf.where(False, tf.sqrt(tf.reduce_sum(x * x)), 0.0), [0.0, 0.0], [0.0, 0.0]),
    "product of matrices": (
        lambda x: tf.where([[True, False]], tf.constant([[1.0, 1.0]]) @ tf.stack([x, [1.0, 1.0] / (x * 0.0)]), 0.0),
        [1.0, 2.0],
        None,
    ),
}


@pytest.mark.parametrize("name", TRAPS)
def test_an_exact_zero_wins(name):
    f, value, expected = TRAPS[name]
    x = tf.Variable(value)
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_sum(f(x))
    found = tape.gradient(loss, x, nan_safe=True)
    assert type(found) is tf.Tensor
    if expected is not None:
        np.testing.assert_allclose(found, expected)
        assert not np.isfinite(tape.gradient(loss, x)).all() or name == "norm"


@pytest.mark.parametrize("sides", [(False, False), (True, False), (False, True), (True, True)])
def test_an_exact_zero_wins_in_a_product_of_matrices(sides):
    infinite = np.array([[1.0, np.inf], [2.0, 3.0]], np.float32)
    a = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    weights = tf.constant([[1.0, 0.0], [1.0, 0.0]]) if not sides[1] else tf.constant([[0.0, 1.0], [0.0, 1.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.matmul(a, infinite, transpose_a=sides[0], transpose_b=sides[1])
    found = tape.gradient(y, a, weights, nan_safe=True).numpy()
    assert np.isfinite(found).all()
    finite = np.where(np.isfinite(infinite), infinite, 0.0)
    with tf.GradientTape() as other:
        y = tf.matmul(a, finite, transpose_a=sides[0], transpose_b=sides[1])
    np.testing.assert_allclose(found, other.gradient(y, a, weights))


def test_without_a_trap_nan_safe_changes_nothing():
    rng = np.random.default_rng(0)
    w = [tf.Variable(rng.normal(size=s).astype(np.float32)) for s in ((4, 5), (5, 3))]
    x, labels = tf.constant(rng.normal(size=(6, 4)).astype(np.float32)), tf.constant([0, 1, 2, 0, 1, 2])
    with tf.GradientTape(persistent=True) as tape:
        logits = tf.nn.relu(x @ w[0]) @ w[1]
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    for safe, plain in zip(tape.gradient(loss, w, nan_safe=True), tape.gradient(loss, w), strict=True):
        np.testing.assert_allclose(safe, plain, rtol=1e-4)


def test_nan_safe_gradients_can_be_differentiated_again():
    x = tf.Variable([0.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.where(x > 0, x * x * x, 0.0))
        first = inner.gradient(y, x, nan_safe=True)
    np.testing.assert_allclose(first, [0.0, 12.0])
    np.testing.assert_allclose(outer.gradient(first, x), [0.0, 12.0])


def test_nan_safe_through_slices_custom_gradients_and_functions():
    table = tf.Variable([[0.0], [4.0]])
    with tf.GradientTape() as tape:
        rows = tf.gather(table, [0, 1])
        loss = tf.reduce_sum(tf.where(rows > 0, tf.math.log(rows), 0.0))
    np.testing.assert_allclose(tf.convert_to_tensor(tape.gradient(loss, table, nan_safe=True)), [[0.0], [0.25]])

    @tf.recompute_grad
    def again(x):
        return tf.where(x > 0, tf.math.log(x), 0.0)

    @tf.function
    def traced(x):
        return tf.reduce_sum(tf.where(x > 0, tf.math.log(x), 0.0))

    x = tf.Variable([0.0, 4.0])
    for f in (again, traced):
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(f(x * 1.0))
            np.testing.assert_allclose(tape.gradient(loss, x, nan_safe=True), [0.0, 0.25])


@pytest.mark.parametrize("bad", [0.0, float("nan"), float("inf")])
def test_a_checked_tape_in_a_traced_function(bad):
    @tf.function
    def slope(x):
        with tf.GradientTape(check="nan") as tape:
            tape.watch(x)
            y = tf.math.log(x)
        return tape.gradient(y, x)

    for _ in range(2):
        assert float(slope(tf.constant(2.0))) == 0.5
        with pytest.raises(tf.errors.InvalidArgumentError, match="check='nan'"):
            slope(tf.constant(bad))


@pytest.mark.parametrize(("x", "shown"), [([0.0, 1.0], "-inf"), ([-1.0, 1.0], "nan")])
@pytest.mark.parametrize("kind", [{}, {"persistent": True}, {"trace": True}])
def test_the_values_of_a_run_that_is_being_traced_are_known(x, shown, kind):
    said = []

    @tf.function
    def step(x):
        with tf.GradientTape(**kind) as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.math.log(x))
        found = tape.diagnose(loss, x)
        said.append((found.ok, str(found)))
        return tape.gradient(loss, x)

    first = step(tf.constant(x)).numpy()
    assert [ok for ok, _ in said] == [False]
    assert said[0][1].startswith(f"The target is not finite: {shown}.")
    if "trace" in kind:
        assert "It began in tf.math.log at test_inspect_nonfinite.py" in said[0][1]
    np.testing.assert_array_equal(first, [np.inf if x[0] == 0.0 else -1.0, 1.0])
    np.testing.assert_array_equal(step(tf.constant([2.0, 4.0])).numpy(), [0.5, 0.25])
    assert len(said) == 1  # reading values does not specialize the graph for them


def test_the_target_of_a_tape_that_keeps_little_is_known():
    @tf.function
    def f(x):
        return tf.math.log(x)

    x = tf.Variable(-1.0)
    with tf.GradientTape() as tape:
        y = f(x)
    found = tape.diagnose(y, x)  # the derivative of a logarithm does not need its value
    assert (found.op, found.direction) == ("log", "forward") and "inside the function f" in str(found)


def test_a_finite_run_that_is_being_traced_is_finite():
    said = []

    @tf.function
    def step(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.sqrt(x))
        said.append(str(tape.diagnose(loss, x)))
        return loss

    step(tf.constant([1.0]))
    step(tf.constant([[0.0]]))
    assert said[0].startswith("Everything is finite")
    assert said[1].startswith("The target is finite, but the gradient")


def test_a_check_that_cannot_say_where_still_says_what(monkeypatch):
    def breaks(*_):
        raise KeyError("planted")

    monkeypatch.setattr("gradtape.inspect.diagnose", breaks)
    x = tf.Variable(-1.0)
    with tf.GradientTape(check="nan") as tape:
        y = tf.math.log(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"is not finite\. Its origin could not be determined"):
        tape.gradient(y, x)


@pytest.mark.parametrize("kind", [{}, {"persistent": True}, {"trace": True}])
def test_nan_safe_does_not_hide_a_loss_that_is_nan_itself(kind):
    x = tf.Variable(1.0)
    with tf.GradientTape(**kind) as tape:
        loss = tf.sqrt(x - 3.0) * 0.0 + x * 0.0
    with pytest.warns(RuntimeWarning, match="target that is NaN itself") as caught:
        tape.gradient(loss, x, nan_safe=True)
    (warning,) = caught
    assert warning.filename == __file__
    assert "The target is not finite: nan" in str(warning.message) and "check='nan'" in str(warning.message)
    if "trace" in kind:
        assert "It began in tf.sqrt at test_inspect_nonfinite.py" in str(warning.message)


def test_nan_safe_warns_of_nan_in_a_function_and_in_one_of_several_targets():
    x = tf.Variable([1.0, -1.0])

    @tf.function
    def slope():
        with tf.GradientTape() as tape:
            logs = tf.math.log(x)
        return tape.gradient([x * 2.0, logs], x, nan_safe=True)

    with np.errstate(invalid="ignore"), pytest.warns(RuntimeWarning, match="target that is NaN itself"):
        slope()


def test_nan_safe_says_nothing_of_masked_nans_and_infinities():
    x = tf.Variable([-1.0, 0.0, 1.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.where(x > 0.0, tf.math.log(x), 0.0))
    assert tape.gradient(loss, x, nan_safe=True).numpy().tolist() == [0.0, 0.0, 1.0]  # a warning would be an error here
