"""Kernels that are row-wise formulas, which become one launch on a device."""

from functools import partial

import numpy as np
import pytest

from gradtape.engine.registry.op import registry
from gradtape.engine.registry.row_formula import trace_rows
from gradtape.ops.arrays import reductions  # noqa: F401 (the ops are registered)
from gradtape.ops.nn import losses, normalization  # noqa: F401 (the ops are registered)

FLOAT, INT = np.dtype("float32"), np.dtype("int64")


def rows_of(name, shapes, given, **attrs):
    return trace_rows(partial(registry[name].kernel, **attrs), shapes, given)


@pytest.mark.parametrize(
    ("name", "shapes", "given", "attrs", "shape", "count"),
    [
        ("softmax", [(4, 5)], [FLOAT], {"axis": 1}, (4, 5), 2),
        ("log_softmax", [(2, 4, 5)], [FLOAT], {"axis": 2}, (2, 4, 5), 2),
        ("softmax_cross_entropy", [(4, 5)] * 2, [FLOAT, FLOAT], {}, (4,), 3),
        ("sparse_softmax_cross_entropy", [(5,), (5, 5)], [INT, FLOAT], {}, (5,), 2),
        ("sparse_softmax_slope", [(4,), (4, 5)], [INT, FLOAT], {}, (4, 5), 2),
        ("layer_norm", [(5, 5), (5,), (5,)], [FLOAT] * 3, {"epsilon": 1e-3}, (5, 5), 2),
        ("layer_norm", [(2, 2, 5), (5,), (5,)], [FLOAT] * 3, {"epsilon": 1e-3}, (2, 2, 5), 2),
        ("mean", [(4, 5)], [FLOAT], {"axis": (1,)}, (4,), 1),
        ("max", [(4, 5)], [FLOAT], {"axis": (1,), "keepdims": True}, (4, 1), 1),
    ],
)
def test_what_works_along_rows_is_a_formula(name, shapes, given, attrs, shape, count):
    rows = rows_of(name, shapes, given, **attrs)
    assert rows.shape == shape
    assert rows.length == 5
    assert sum(step.function in ("sum", "max") for step in rows.formula.steps) == count


@pytest.mark.parametrize(
    ("name", "shapes", "given", "attrs"),
    [
        ("softmax", [(4, 5)], [FLOAT], {"axis": 0}),
        ("sum", [(4, 5)], [FLOAT], {"axis": (0,)}),
        ("sum", [(4, 5)], [np.dtype("int32")], {"axis": (1,)}),
        ("mean", [(0, 5)], [FLOAT], {"axis": (1,)}),
        ("layer_norm_back", [(4, 5), (4, 5), (5,)], [FLOAT] * 3, {"epsilon": 1e-3}),
    ],
)
def test_what_does_not_is_none(name, shapes, given, attrs):
    assert rows_of(name, shapes, given, **attrs) is None


def test_a_vector_is_for_rows_or_for_places_but_not_for_both():
    def both(xp, x, v):
        return (x * v).sum(axis=-1) + v

    def places(xp, x, v):
        return (x * v).sum(axis=-1)

    def rows(xp, x, v):
        return x.sum(axis=-1) * v

    shapes, given = [(3, 3), (3,)], [FLOAT, FLOAT]
    assert trace_rows(both, shapes, given) is None
    assert trace_rows(places, shapes, given).formula.inputs[1].kind == "place"
    assert trace_rows(rows, shapes, given).formula.inputs[1].kind == "row"
