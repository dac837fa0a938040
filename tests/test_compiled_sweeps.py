"""A recurring tape is swept by straight-line code, which must be indistinguishable."""

import gc
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gradtape as tf
from gradtape import extend, ops
from gradtape.core.tensor import Tensor
from gradtape.engine.registry.op import registry
from gradtape.engine.tape import compiled_sweeps, tape
from gradtape.inspect.checks.opcheck import draw
from gradtape.ops.elementwise import transcendental

ops.load_all()
rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def straight(monkeypatch):
    """Compiles a tape's sweep at its third occurrence, and counts the compiled sweeps."""
    monkeypatch.setattr(compiled_sweeps, "_TIMES", 2)
    monkeypatch.setattr(compiled_sweeps, "_times", {})
    monkeypatch.setattr(compiled_sweeps, "_made", {})
    found = []

    def counted(log, target, wanted, m):
        made = compiled_sweeps.repeated_sweep(log, target, wanted, m)
        if made is not None:
            found.append(target)
        return made

    monkeypatch.setattr(tape, "repeated_sweep", counted)
    return found


def arrays(gradients):
    return [None if g is None else tf.convert_to_tensor(g).numpy() for g in gradients]


def assert_repeats(compute, straight, times=1):
    """Asserts that `compute`, which takes `times` gradients, gives the same results with compiled sweeps."""
    first = arrays(compute())
    compute()
    assert not straight
    for _ in range(2):
        for one, again in zip(first, arrays(compute()), strict=True):
            assert (one is None) == (again is None)
            if one is not None:
                np.testing.assert_array_equal(one, again)
    assert len(straight) == 2 * times


@pytest.mark.parametrize("op", [op for op in registry.values() if op.vjp is not None], ids=lambda op: op.name)
def test_every_op(op, straight):
    if op.random or op.backward_may_raise:
        pytest.skip("another result every time, or a user's rule")
    for case in op.samples:
        inputs = [Tensor(np.asarray(x)) for x in draw(op, case)]
        watched = [x for i, x in enumerate(inputs) if x.dtype.differentiable and i not in op.nondifferentiable_args]
        outputs = op(*inputs, **case.attrs)
        for nth, y in enumerate(outputs if type(outputs) is tuple else (outputs,)):
            if not y.dtype.differentiable or not watched:
                continue

            def compute(inputs=inputs, watched=watched, nth=nth, case=case):
                with tf.GradientTape() as tape:
                    tape.watch(watched)
                    outputs = op(*inputs, **case.attrs)
                    y = outputs[nth] if type(outputs) is tuple else outputs
                return tape.gradient(y, watched)

            straight.clear()
            compiled_sweeps._times.clear()
            compiled_sweeps._made.clear()
            assert_repeats(compute, straight)


def variables(*shapes):
    return [tf.Variable(rng.standard_normal(shape).astype(np.float32)) for shape in shapes]


def layers(x, w, b, v):
    return tf.reduce_mean(tf.matmul(tf.nn.relu(tf.matmul(x, w) + b), v) ** 2)


def recurrent(x, w, u, b):
    h = tf.zeros((4, 8))
    for _ in range(5):
        i, f = tf.split(tf.matmul(x, w) + tf.matmul(h, u) + b, 2, axis=1)
        h = tf.sigmoid(f) * h + tf.tanh(i)
    return tf.reduce_sum(h)


def used_often(x, y):
    z = x * x + x * y - y
    return tf.reduce_sum(z * z + x * z + tf.stop_gradient(z) * y + x)


def of_one_output(x, y):
    left, _, right = tf.split(x * y, 3)
    return tf.reduce_sum(right * 2.0 + left * 0.0)


def of_rows(table, scale):
    return tf.reduce_sum(tf.gather(table, [2, 0, 2]) * scale + tf.gather(table, [1]))


def unconnected(x, y):
    tf.reduce_sum(y * 2.0)
    return tf.reduce_sum(x) * 2.0


X = tf.constant(rng.standard_normal((4, 6)).astype(np.float32))
PROGRAMS = {
    "layers": (lambda *w: layers(X, *w), [(6, 8), (8,), (8, 3)]),
    "recurrent": (lambda *w: recurrent(X, *w), [(6, 16), (8, 16), (16,)]),
    "used often": (used_often, [(3, 2), (3, 2)]),
    "of one output": (of_one_output, [(6,), (6,)]),
    "rows": (of_rows, [(4, 3), (3,)]),
    "unconnected": (unconnected, [(3,), (3,)]),
    "the variable itself": (lambda x: x.value(), [(3,)]),
}


@pytest.mark.parametrize(("loss", "shapes"), PROGRAMS.values(), ids=PROGRAMS)
def test_programs(loss, shapes, straight):
    weights = variables(*shapes)

    def compute():
        with tf.GradientTape() as tape:
            value = loss(*weights)
            tf.exp(value)  # recorded after the target
        return tape.gradient(value, weights)

    assert_repeats(compute, straight)


@pytest.mark.parametrize(("loss", "shapes"), PROGRAMS.values(), ids=PROGRAMS)
def test_programs_of_which_some_sources_are_wanted(loss, shapes, straight):
    """Records that lead to no wanted source are skipped, as without compilation."""
    weights = variables(*shapes)
    for wanted in [weights[nth:] + weights[:nth][1:] for nth in range(len(weights))] + [[w] for w in weights]:

        def compute(wanted=wanted):
            with tf.GradientTape() as tape:
                value = loss(*weights)
            return tape.gradient(value, wanted)

        straight.clear()
        compiled_sweeps._times.clear()
        compiled_sweeps._made.clear()
        assert_repeats(compute, straight)


def test_two_tapes_that_record_the_same_ops(straight):
    """As in adversarial training: each tape differentiates another loss by the weights of another network."""
    generator, judge = variables((3, 4), (4,)), variables((4, 5), (5,), (5, 1))
    noise, real = (tf.constant(rng.standard_normal(shape).astype(np.float32)) for shape in ((6, 3), (6, 4)))

    def judged(x):
        w, b, v = judge
        mean, variance = tf.nn.moments(tf.matmul(x, w), [0])
        return tf.matmul(tf.nn.relu(tf.nn.batch_normalization(tf.matmul(x, w), mean, variance, b, None, 0.1)), v)

    def compute():
        with tf.GradientTape() as of_generator, tf.GradientTape() as of_judge:
            fake = judged(tf.tanh(tf.matmul(noise, generator[0]) + generator[1]))
            generating = tf.reduce_mean(tf.nn.softplus(-fake))
            judging = tf.reduce_mean(tf.nn.softplus(fake)) + tf.reduce_mean(tf.nn.softplus(-judged(real)))
        return of_generator.gradient(generating, generator) + of_judge.gradient(judging, judge)

    assert_repeats(compute, straight, times=2)


def test_other_shapes_on_a_tape_of_the_same_structure(straight):
    for n in (1, 5, 3, 0, 2):
        w, b = variables((3, 4), (4,))
        x = tf.constant(rng.standard_normal((n, 3)).astype(np.float32))
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.matmul(x, w) + b)
        dw, db = tape.gradient(y, [w, b])
        np.testing.assert_allclose(dw, np.repeat(x.numpy().sum(0)[:, None], 4, 1), rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(db, np.full(4, n))
    assert len(straight) == 3


def test_another_target_or_other_sources_are_another_sweep(straight):
    v = tf.Variable(2.0)

    def gradient(which, sources):
        with tf.GradientTape() as tape:
            y = v * v
            z = y * y
        return tape.gradient((y, z)[which], sources(v, y))

    for _ in range(4):
        assert float(gradient(0, lambda v, y: v)) == 4
        assert float(gradient(1, lambda v, y: v)) == 32
        assert [float(g) for g in gradient(1, lambda v, y: [y, v])] == [8, 32]
        assert [float(g) for g in gradient(1, lambda v, y: [v, v])] == [32, 32]


def test_hooks_finishers_persistent_and_nested_tapes(straight):
    v = tf.Variable(3.0)
    for _ in range(4):
        with tf.GradientTape() as tape:
            y = v * v
        assert float(tape.gradient(y, v)) == 6
        with tf.GradientTape() as tape:
            y = v * v
        tape.on_gradient(v, lambda g: g * 10.0)
        assert float(tape.gradient(y, v)) == 60
        with tf.GradientTape(persistent=True) as tape:
            y = v * v
        assert float(tape.gradient(y, v)) == float(tape.gradient(y, v)) == 6
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = v * v
            dy = inner.gradient(y, v)
        assert float(outer.gradient(dy, v)) == 2
        with tf.GradientTape(check="nan") as tape:
            y = tf.sqrt(v - 3.0) * 2.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            tape.gradient(y, v)


def test_persistent_tapes_keep_their_residuals(straight):
    v, w = tf.Variable(rng.normal(size=(3, 4))), tf.Variable(rng.normal(size=4))

    def compute():
        with tf.GradientTape(persistent=True) as tape:
            x = tf.tanh(v * w) + w
            y, z = tf.reduce_sum(x * x), tf.reduce_max(tf.concat([x, tf.exp(x)], 0))
        found = [*tape.gradient(y, [v, w]), tape.gradient(z, w), tape.gradient(y, v)]
        again = tape.gradient(z, [w, v])
        with tape:
            more = tf.sin(y) * tf.reduce_sum(w)
        return [*found, *again, tape.gradient(more, w)]

    assert_repeats(compute, straight, times=5)


def test_an_error_on_the_way_uses_the_tape_up(straight, monkeypatch):
    failing = False
    with tf.GradientTape() as tape:  # the first gradient of a process completes the rule
        tape.watch(x := tf.constant([0.5]))
        y = tf.tanh(x)
    tape.gradient(y, x)
    rule = transcendental.tanh.first.vjp_raw

    def sometimes(*given):
        if failing:
            raise MemoryError("no more")
        return rule(*given)

    monkeypatch.setattr(transcendental.tanh.first, "vjp_raw", sometimes)
    v = tf.Variable(0.5)
    for nth in range(5):
        failing = nth == 3
        with tf.GradientTape() as tape:
            y = tf.tanh(v * 2.0)
        if failing:
            with pytest.raises(MemoryError):
                tape.gradient(y, v)
            with pytest.raises(RuntimeError, match="can only be used to compute one set"):
                tape.gradient(y, v)
        else:
            np.testing.assert_allclose(tape.gradient(y, v), 2 * (1 - np.tanh(1.0) ** 2), rtol=1e-6)
    assert len(straight) == 3


def test_a_rule_that_gives_too_much_is_taken_as_before(straight):
    multiplied = extend.opaque(
        "product_with_one_too_many", lambda xp, a, b: a * b, vjp=lambda m, g, a, b: (g * b, g * a, None),
        samples=[extend.sample((3,), (3,))],
    )  # fmt: skip
    a, b = tf.Variable(2.0), tf.Variable(3.0)

    def compute():
        with tf.GradientTape() as tape:
            y = multiplied(a, b)
        return tape.gradient(y, [a, b])

    try:
        assert_repeats(compute, straight)
    finally:
        del registry[multiplied.name]


def test_threads_that_repeat_the_same_structure(straight):
    def differ(seed):
        x = np.random.default_rng(seed).standard_normal((1 + seed, 3)).astype(np.float32)
        w, b = variables((3, 2), (2,))
        for _ in range(50):
            with tf.GradientTape() as tape:
                y = tf.matmul(x, w) + b
                loss = tf.reduce_sum(y * y)
            dw, db = tape.gradient(loss, [w, b])
            y = x @ w.numpy() + b.numpy()
            if not (np.allclose(dw, 2 * x.T @ y, atol=1e-4) and np.allclose(db, 2 * y.sum(0), atol=1e-4)):
                return True
        return False

    with ThreadPoolExecutor(4) as pool:
        assert not any(pool.map(differ, range(4)))
    assert straight


def test_numerics_are_checked_after_the_code_was_made(straight):
    v = tf.Variable(0.0)

    def gradient():
        with tf.GradientTape() as tape:
            y = tf.sqrt(v)
        return tape.gradient(y, v)

    for _ in range(4):
        assert np.isinf(gradient())
    assert straight
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Infinity"):
            gradient()
    finally:
        tf.debugging.disable_check_numerics()
    assert np.isinf(gradient())


def test_what_a_rule_of_one_call_refers_to_is_let_go():
    v = tf.Variable(1.0)
    seen = []

    class Kept:
        pass

    for _ in range(4):
        kept = Kept()
        seen.append(weakref.ref(kept))

        @tf.custom_gradient
        def doubled(x, kept=kept):
            return x * 2.0, lambda g: g * 2.0 if kept else None

        with tf.GradientTape() as tape:
            y = doubled(v) * 1.0
        assert float(tape.gradient(y, v)) == 2
        del tape, y, doubled, kept
    gc.collect()
    assert not any(ref() for ref in seen)


def test_memory_falls_during_the_sweep():
    v = tf.Variable(np.ones(1 << 16, np.float32))

    def peak():
        with tf.GradientTape() as tape:
            y = v
            for _ in range(20):
                y = tf.tanh(y)
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        tape.gradient(y, v)
        most = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
        return most

    peaks = [peak() for _ in range(5)]
    assert max(peaks[3:]) <= 1.1 * peaks[0] + (1 << 16)


def test_long_tapes_and_many_structures_are_not_kept(straight):
    x = tf.Variable(0.5)
    for _ in range(4):
        with tf.GradientTape() as tape:
            y = x
            for _ in range(compiled_sweeps._LONGEST + 1):
                y = y * 1.0
        assert float(tape.gradient(y, x)) == 1
    assert not straight
    for length in range(2 * compiled_sweeps._MOST_KNOWN):
        for _ in range(3):
            with tf.GradientTape() as tape:
                y = x
                for _ in range(length + 1):
                    y = y * 1.0
            assert float(tape.gradient(y, x)) == 1
    assert len(compiled_sweeps._made) <= compiled_sweeps._MOST_KNOWN
    assert len(compiled_sweeps._times) <= compiled_sweeps._MOST_KNOWN
