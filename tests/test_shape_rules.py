"""Shape rules against the kernels: at each op's samples, and at other sizes.

A rule gets a symbol for each axis of each input of a sample, and its result has to be the shape that the kernel makes.
Then all axes of one size get another size, and the kernel runs again: where the guards that the rule has left hold, the
same expressions have to give the shapes that the kernel makes now.
"""

import inspect

import numpy as np
import pytest

from gradtape.core import dtypes
from gradtape.core.sizes.expression import evaluate, hint_of
from gradtape.core.sizes.facts import SizeScope
from gradtape.engine.registry.op import registry
from gradtape.ops import load_all

# Their shapes depend on values or dtypes, or nobody has written a rule yet: this list may only shrink.
WITHOUT_RULE = {
    "banded_solve", "bitcast", "combined_boxes", "conv_filters", "cut_text", "dynamic_partition", "dynamic_segment_sum",
    "layer_norm_back", "map_text", "matrix_diag_part", "nonzero", "normalization_back", "qr", "random_candidates",
    "random_weighted_candidates", "rows", "scaled_dot_product_attention_back", "sparse_matmul", "suppressed_boxes",
    "suppressed_overlaps", "svd", "unique", "unique_slices",
}  # fmt: skip
load_all()
OPS = [name for name, op in registry.items() if op.shape_rule is not None]


def test_which_ops_have_no_rule():
    assert {name for name, op in registry.items() if op.shape_rule is None} == WITHOUT_RULE


@pytest.mark.parametrize("name", OPS)
def test_a_rule_takes_the_attributes_of_the_kernel(name):
    """With the kernel's defaults."""
    taken = inspect.signature(registry[name].shape_rule).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken):
        return
    defaults = {parameter.name: parameter.default for parameter in taken}
    kernel = registry[name].kernel
    for parameter in inspect.signature(kernel).parameters.values() if callable(kernel) else ():
        if parameter.kind is parameter.KEYWORD_ONLY:
            assert defaults[parameter.name] == parameter.default or parameter.default is parameter.empty


def arrays_of(op, sample, dtype):
    low, high = sample.domain or op.domain
    rng = np.random.default_rng(0)
    return [rng.uniform(low, high, x).astype(dtype) if isinstance(x, tuple) else np.asarray(x) for x in sample.inputs]


def kernel_shapes(op, arrays, attrs):
    """The shapes of the outputs as a list, or one of a single output."""
    with np.errstate(all="ignore"):
        result = op.numpy(*arrays, **attrs)
    return [np.shape(y) for y in result] if isinstance(result, tuple) else np.shape(result)


def kind_of(op):
    kinds = {"f": dtypes.FLOAT, "i": dtypes.INT, "b": dtypes.BOOL, "c": dtypes.COMPLEX}
    names = {"f": "float32", "i": "int32", "b": "bool", "c": "complex64"}
    return next((names[kind] for kind, flag in kinds.items() if op.kinds & flag), "object")


def evaluated(shape, value_of):
    return [tuple(value_of(n) for n in x) for x in shape] if isinstance(shape, list) else tuple(map(value_of, shape))


@pytest.mark.parametrize("name", OPS)
def test_the_rule_agrees_with_the_kernel(name):
    op = registry[name]
    for sample in op.samples:
        arrays = arrays_of(op, sample, kind_of(op))
        scope = SizeScope()
        dims = [tuple(scope.symbol(n) for n in x.shape) for x in arrays]
        shape = op.shape_rule(*dims, **sample.attrs)
        made = kernel_shapes(op, arrays, sample.attrs)
        assert evaluated(shape, hint_of) == made, (sample, shape)
        for size in {n for x in arrays for n in x.shape}:
            for other in (size + 1, size + 4, 2 * size):
                check_at(op, sample, arrays, scope, shape, {size: other})


def check_at(op, sample, arrays, scope, shape, changes):
    """Compares at other sizes, if the op accepts them and the guards hold."""
    resized = [np.resize(x, [changes.get(n, n) for n in x.shape]) for x in arrays]
    numbers = [n for x in resized for n in x.shape]

    def value_of(symbol):
        return numbers[symbol.index]

    if not all(guard.holds(value_of) for guard in scope.guards):
        return
    try:
        made = kernel_shapes(op, resized, sample.attrs)
    except Exception:
        return
    assert evaluated(shape, lambda n: evaluate(n, value_of)) == made, (sample, changes)
