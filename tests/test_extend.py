"""User-defined ops: what a family derives, and how a wrong rule is reported."""

import importlib
import sys

import numpy as np
import pytest

import gradtape as tf
from gradtape import extend
from gradtape.engine.registry.op import registry
from gradtape.engine.run.namespace import ops, raw


@pytest.fixture
def forget():
    """Removes the ops that a test defined."""
    before = set(registry)
    yield
    for name in set(registry) - before:
        del registry[name]
        delattr(ops, name)
        delattr(raw, name)


def test_an_elementwise_op_has_everything(forget):
    softabs = extend.elementwise(
        "softabs", lambda xp, x, *, width: xp.sqrt(x * x + width * width), dx=lambda x, y: x / y,
        samples=[extend.sample((3, 2), width=1.0), extend.sample((), width=0.5), extend.sample((0,), width=1.0)],
    )  # fmt: skip
    extend.check_op(softabs)
    x = tf.constant([3.0, 0.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = softabs(x, width=4.0)
        g = tape.gradient(y, x)
    assert y.numpy().tolist() == [5.0, 4.0] and g.numpy().tolist() == pytest.approx([0.6, 0.0])
    np.testing.assert_allclose(outer.jacobian(g, x), np.diag([16 / 125, 1 / 4]), rtol=1e-6)
    assert tf.vectorized_map(lambda a: softabs(a, width=4.0), x).numpy().tolist() == [5.0, 4.0]
    with tf.autodiff.ForwardAccumulator(x, tf.ones([2])) as acc:
        y = softabs(x, width=4.0)
    np.testing.assert_allclose(acc.jvp(y), [0.6, 0.0], rtol=1e-6)


def test_a_rule_cannot_read_the_cotangents_of_many_examples(forget):
    doubled = extend.opaque(
        "doubled_by_value", lambda xp, x: 2 * x, vjp=lambda m, g, x: m.constant(2 * g.array),
        samples=[extend.sample((2, 3))],
    )  # fmt: skip
    x = tf.Variable(np.linspace(1.0, 2.0, 200))
    with tf.GradientTape(persistent=True) as tape:
        y = doubled(x * x)
    for compute in (lambda: tape.jacobian(y, x), lambda: tape.gradient(y, x, per="example")):
        with pytest.raises(TypeError, match="is not known"):
            compute()


def test_masks_and_one(forget):
    gate = extend.elementwise(
        "gate", lambda xp, a, b: xp.where(b > 0, a, xp.zeros_like(a)), da=extend.Mask(lambda b: b > 0), db=None,
        on=extend.FLOAT,
    )  # fmt: skip
    shift = extend.elementwise("shift", lambda xp, a, b: a - b, da=extend.ONE, db=extend.NEG)
    extend.check_op(gate)
    extend.check_op(shift)


def test_an_opaque_op_without_batch_or_jvp(forget):
    cumulative = extend.opaque(
        "running_product", lambda xp, x: xp.cumprod(x),
        vjp=lambda m, g, x, y: m.reverse(m.cumsum(m.reverse(g * y, axis=(0,)), axis=0), axis=(0,)) / x,
        samples=[extend.sample((4,), domain=(0.5, 2))], on=extend.FLOAT,
    )  # fmt: skip
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cumulative(x)
    assert tape.gradient(y, x).numpy().tolist() == pytest.approx([9.0, 4.0, 2.0])


@pytest.mark.parametrize("dx", [lambda x: 3.001 * x * x, lambda x: -3 * x * x, lambda x: 2 * x])
def test_wrong_rules_are_caught(forget, dx):
    op = extend.elementwise("wrong_cube", lambda xp, x: x * x * x, dx=dx)
    with pytest.raises(AssertionError):
        extend.check_op(op)


def test_an_incomplete_record_is_an_error_at_definition(forget):
    with pytest.raises(TypeError, match="needs the partials"):
        extend.elementwise("half_done", lambda xp, a, b: a * b, da=lambda b: b)
    with pytest.raises(ValueError, match="no samples"):
        extend.opaque("untried", lambda xp, x: x, vjp=lambda m, g: g, samples=[])
    extend.elementwise("defined_once", lambda xp, x: x, dx=extend.ONE)
    with pytest.raises(ValueError, match="defined twice"):
        extend.elementwise("defined_once", lambda xp, x: x, dx=extend.ONE)


def test_a_module_whose_import_was_interrupted_is_imported_again(tmp_path, monkeypatch, forget):
    source = "from gradtape import extend\n"
    source += "new = extend.elementwise('made_again', lambda xp, x: x * x, dx=lambda x: 2 * x)\n"
    module = tmp_path / "interrupted_ops.py"
    module.write_text(source + "raise KeyboardInterrupt\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    with pytest.raises(KeyboardInterrupt):
        importlib.import_module("interrupted_ops")
    module.write_text(source)
    importlib.invalidate_caches()
    again = importlib.import_module("interrupted_ops")
    monkeypatch.delitem(sys.modules, "interrupted_ops")
    assert float(again.new(tf.constant(3.0))) == 9
    with pytest.raises(ValueError, match="defined twice"):
        extend.elementwise("made_again", lambda xp, x: x, dx=extend.ONE)


def test_everything_named_is_there():
    assert all(hasattr(extend, name) for name in extend.__all__)


def mixes_rows(name, **options):
    """An op that a library might add: each row of its result is the mean of two rows."""
    return extend.linear(
        name, lambda xp, x: (x + xp.roll(x, 1, 0)) / 2, moves_data=False,
        transpose=lambda m, g: (g + m.roll(g, shift=(-1,), axis=(0,))) / 2,
        samples=[extend.sample((3, 2))], **options,
    )  # fmt: skip


def test_an_op_that_says_nothing_of_examples_is_right(forget):
    op = mixes_rows("mixes_rows")
    assert op.rows is None
    extend.check_op(op)
    x, w = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), tf.Variable([[1.0], [2.0]])
    with tf.GradientTape(persistent=True) as tape:
        losses = tf.reduce_sum(op(x @ w) ** 2, 1)
    with pytest.raises(ValueError, match="depends on other examples"):
        tape.gradient(losses, w, per="example")
    gradients = tape.gradient(losses, w, per="example", check_rows=False)
    np.testing.assert_allclose(gradients, tape.jacobian(losses, w), rtol=1e-6)


def test_what_an_op_says_of_examples_is_checked(forget):
    twice = extend.linear(
        "twice_each", lambda xp, x: 2 * x, transpose=lambda m, g: 2 * g, rows=extend.all_rows,
        moves_data=False, samples=[extend.sample((3, 2))],
    )  # fmt: skip
    extend.check_op(twice)
    wrong = mixes_rows("mixes_rows_and_denies_it", rows=extend.all_rows)
    with pytest.raises(AssertionError):
        back_and_forth = extend.linear(
            "mixes_rows_back", lambda xp, x: (x + xp.roll(x, -1, 0)) / 2, transpose=lambda m, g: wrong(g),
            moves_data=False, samples=[extend.sample((3, 2))],
        )  # fmt: skip
        extend.check_op(back_and_forth)


def picked(xp, x, index, *, scale):
    return scale * xp.take(x, index, axis=0)


def picked_vjp(m, g, need, index, x_shape, scale):
    return m.scatter_add(scale * g, index, shape=x_shape) if need[0] else None, None


def test_indices_are_integers_whatever_dtypes_the_op_is_on(forget):
    samples = [extend.sample((3, 2), np.array([0, 2]), scale=2.0), extend.sample((2, 0), np.array([1]), scale=1.0)]
    op = extend.opaque("picked", picked, vjp=picked_vjp, on=extend.COMPLEX, samples=samples)
    extend.check_op(op)  # on complex numbers, as it takes no others
    assert op(tf.constant([1j, 2j]), [1], scale=3.0).numpy().tolist() == [6j]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'T' of float is not in .*: complex64, complex128"):
        op(tf.constant([1.0, 2.0]), [1], scale=3.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="'T' of float is not in"):
        op(tf.constant([1j, 2j]), [1.0], scale=3.0)


def test_errors_of_checks_name_the_check_and_the_sample(forget):
    samples = [extend.sample((3,), np.array([0, 2]), scale=0.0), extend.sample((3,), np.array([1]), scale=5.0)]
    wrong = extend.opaque(
        "picked_wrongly", picked, samples=samples,
        vjp=lambda m, g, index, x_shape, scale: (m.scatter_add(2 * scale * g, index, shape=x_shape), None),
    )  # fmt: skip
    with pytest.raises(AssertionError) as caught:
        extend.check_op(wrong)
    first, law, *rest = str(caught.value).splitlines()
    assert first.startswith("check_forward of op 'picked_wrongly' fails at samples[1] = Sample(inputs=((3,), array([1]")
    assert law == "The JVP equals the numeric directional derivative." and "ACTUAL" in "".join(rest)

    def raising(m, g, index):
        raise ZeroDivisionError("mine")

    broken = extend.opaque("picked_never", picked, samples=samples, vjp=raising)
    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        extend.check_op(broken)
    assert "samples[0]" in caught.value.__notes__[0]
