"""The checks of ops are checked: rules with planted errors must be caught."""

import numpy as np
import pytest

from gradtape.engine.registry.families import NEG, ONE, Mask, elementwise, linear, opaque, reduction
from gradtape.engine.registry.op import registry, sample
from gradtape.engine.run.namespace import ops, raw
from gradtape.inspect import check_op


@pytest.fixture
def planted():
    """Removes the ops defined in a test."""
    before = set(registry)
    yield
    for name in set(registry) - before:
        del registry[name]
        for namespace in (ops, raw):
            vars(namespace).pop(name, None)


def caught(op):
    with pytest.raises(AssertionError):
        check_op(op)


def test_right_rules_pass(planted):
    check_op(elementwise("planted", lambda xp, x: xp.sin(x) * x, dx=lambda m, x: m.cos(x) * x + m.sin(x)))


def test_a_partial_slightly_off(planted):
    caught(elementwise("planted", lambda xp, x: xp.tanh(x), dx=lambda y: 1.001 * (1 - y * y)))


def test_a_flipped_sign(planted):
    caught(elementwise("planted", lambda xp, a, b: a - b, da=ONE, db=ONE))
    caught_again = elementwise("planted_too", lambda xp, a, b: a + b, da=ONE, db=NEG)
    caught(caught_again)


def test_swapped_partials(planted):
    caught(elementwise("planted", lambda xp, a, b: a * b, da=lambda a: a, db=lambda b: b))


def test_an_inverted_mask(planted):
    caught(elementwise("planted", lambda xp, x: xp.maximum(x, 0), dx=Mask(lambda y: y <= 0)))


def test_a_permutation_that_is_not_inverted(planted):
    caught(
        linear(
            "planted", lambda xp, x, *, perm: x.transpose(perm),
            transpose=lambda m, g, perm: m.transpose(g, perm=perm),
            shift=lambda attrs, size: {"perm": (0, *(p + 1 for p in attrs["perm"]))},
            samples=[sample((2, 3, 4), perm=(1, 2, 0))],
        )
    )  # fmt: skip


def test_a_wrong_batching_rule(planted):
    caught(
        linear(
            "planted", lambda xp, x, *, axis: xp.flip(x, axis),
            transpose=lambda m, g, axis: m.reverse(g, axis=axis), shift=lambda attrs, size: attrs,
            samples=[sample((2, 3), axis=(0,))],
        )
    )  # fmt: skip


def test_a_wrong_weight_of_a_reduction(planted):
    caught(
        reduction(
            "planted", lambda xp, x, *, axis, keepdims=False: xp.prod(x, axis=axis, keepdims=keepdims),
            weight=lambda x, y: y, samples=[sample((3, 4), axis=(0,))],
        )
    )  # fmt: skip


def test_a_rule_right_at_first_order_only(planted):
    """The constant hides the dependence on x from the second derivative."""
    caught(
        opaque(
            "planted", lambda xp, x: x * x, vjp=lambda m, g, x: g * 2 * m.stop_gradient(x), samples=[sample((3,))],
        )
    )  # fmt: skip


def test_a_kernel_that_writes_into_its_input(planted):
    def kernel(xp, x):
        x += 1
        return x

    with pytest.raises(ValueError, match="read-only"):
        check_op(elementwise("planted", kernel, dx=ONE))


def test_an_incomplete_record_is_an_error_at_definition(planted):
    with pytest.raises(TypeError, match="needs the partials"):
        elementwise("planted", lambda xp, a, b: a, da=ONE)
    with pytest.raises(ValueError, match="has no samples"):
        linear("planted", lambda xp, x: x, transpose=lambda m, g: g, samples=[])
    with pytest.raises(ValueError, match="defined twice"):
        elementwise("tanh", np.tanh, args="x", dx=ONE)


def test_every_op_has_samples():
    assert all(op.samples for op in registry.values())
