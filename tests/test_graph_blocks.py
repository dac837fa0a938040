"""Kernels that are decomposed, run in place and in blocks: the same values as the original kernels."""

import numpy as np
import pytest
from small_graphs import Builder, Effect, names, registry

from gradtape.backends.numpy import blocks, programs
from gradtape.backends.numpy.blocks import Frame, frame_of
from gradtape.backends.tuning import FEW
from gradtape.core import dtypes
from gradtape.graph.executors.numpy import fusion
from gradtape.graph.executors.numpy.blockwise import Fused
from gradtape.graph.executors.numpy.buffers import overwritten
from gradtape.graph.executors.numpy.executor import compile_graph
from gradtape.graph.executors.numpy.fusion import fused
from gradtape.graph.executors.numpy.lowering import Primitive, lowered
from gradtape.graph.ir.graph import Value
from gradtape.graph.passes.fused_ops import FUSED
from gradtape.graph.passes.optimize import common_subexpressions, dead_code
from gradtape.inspect.checks.opcheck import draw

RNG = np.random.default_rng(0)


@pytest.fixture
def eager_to_fuse(monkeypatch):
    """Makes small arrays count as large, and blocks short."""
    monkeypatch.setattr(fusion, "FUSED", 2)
    monkeypatch.setattr(fusion, "_WORK", 0)
    monkeypatch.setattr(programs, "BLOCK_BYTES", 64)
    monkeypatch.setattr(blocks, "REPEATED_ROW", 8)


def array(*shape):
    return RNG.uniform(0.5, 2, shape).astype(np.float32)


ELEMENTWISE = sorted(name for name, op in registry.items() if op.family == "elementwise")


@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_a_kernel_taken_apart_gives_the_same(name, dtype):
    op = registry[name]
    if not dtypes.of_numpy(np.dtype(dtype)).kind & op.kinds:
        return
    for case in op.samples:
        b = Builder()
        y = b.op(op, *[b.input(a) for a in draw(op, case, dtype)], **case.attrs)
        graph = b.expecting(y)
        lower = lowered(graph).verify()
        made = dict(zip(lower.inputs, [b.example[v] for v in graph.inputs], strict=True))
        with np.errstate(all="ignore"):
            for node in lower.nodes:
                given = [made[v] if v.constant is None else v.constant for v in node.inputs]
                made[node.outputs[0]] = node.op.numpy(*given, **node.attrs)
        np.testing.assert_array_equal(made[lower.outputs[0]], b.array(y))
        b.agrees(graph)


def test_most_kernels_come_apart():
    whole = []
    for name in ELEMENTWISE:
        op = registry[name]
        arrays = np.broadcast_arrays(*draw(op, op.samples[0], np.float32))
        b = Builder()
        many = [b.input(np.stack([a] * FEW)) for a in arrays]
        graph = b.graph(b.op(op, *many, **op.samples[0].attrs))
        if not all(isinstance(node.op, Primitive) for node in lowered(graph).nodes):
            whole.append(name)
    assert len(whole) < 15, whole


def test_long_formulas_stay_one_call_on_few_numbers():
    for count in (FEW - 1, FEW):
        b = Builder()
        graph = b.expecting(b.op("gelu", b.input(np.linspace(-3, 3, count, dtype=np.float32))))
        assert (len(lowered(graph).nodes) == 1) == (count < FEW)
        b.agrees(graph)


def test_what_kernels_share_is_computed_once():
    b = Builder()
    x = b.input(array(3))
    graph = b.expecting(b.op("silu", x), b.op("sigmoid", x))
    lower = dead_code(common_subexpressions(lowered(graph))).verify()
    assert sorted(names(lower)) == ["add", "divide", "exp", "negative", "reciprocal"]
    b.agrees(graph)


def written(graph):
    """Returns the names of the ops that overwrite an argument."""
    graph = lowered(graph)
    return [graph.nodes[i].op.name for i in overwritten(graph)]


def test_results_are_written_over_what_is_not_needed_any_more():
    b = Builder()
    x = b.input(array(4, 4))
    y = b.op("add", b.op("exp", b.op("matmul", x, x)), b.op("tanh", x))
    graph = b.expecting(y)
    assert written(graph) == ["exp", "add"]
    b.agrees(graph)


def test_inputs_constants_and_outputs_are_never_written_over():
    b = Builder()
    x = b.input(array(4))
    t = b.op("exp", x)
    graph = b.expecting(b.op("neg", t), t, b.op("add", array(4), 1.0), b.op("neg", x))
    assert written(graph) == []
    b.agrees(graph)


@pytest.mark.parametrize("name", sorted(name for name, op in registry.items() if op.never_aliases))
def test_ops_that_say_so_make_their_results(name):
    """None of their results aliases an argument or another result."""
    op = registry[name]
    for case in op.samples:
        arrays = draw(op, case)
        result = op.numpy(*arrays, **case.attrs)
        results = result if type(result) is tuple else (result,)
        for i, y in enumerate(results):
            assert y.flags.writeable or not y.size or not y.shape
            assert not any(np.shares_memory(y, a) for a in (*arrays, *results[:i]))


def test_ops_that_may_return_an_argument_do_not_say_so():
    assert not any(registry[name].never_aliases for name in ("reshape", "identity", "add_n", "cast", "concat"))


@pytest.mark.parametrize("second", FUSED)
def test_a_kernel_that_makes_two_results(second):
    if second != "max_pool_place":
        arrays, attrs = (np.array([1, 0]), np.array([[0.5, 2.0], [1.0, 3.0]])), {}
    else:
        op = registry["max_pool"]
        arrays, attrs = draw(op, op.samples[0]), op.samples[0].attrs
    for y in FUSED[second].numpy(*arrays, **attrs):
        assert y.flags.writeable
        assert not any(np.shares_memory(y, a) for a in arrays)


def test_empty_arrays_are_never_written_over():
    b = Builder()
    x = b.input(np.zeros((0, 3), np.float32))
    graph = b.expecting(b.op("neg", b.op("softmax", x, axis=1)))
    assert written(graph) == []
    b.agrees(graph)


@pytest.mark.parametrize("name, attrs", [("reshape", {"shape": (2, 2)}), ("transpose", {"perm": (0,)})])
def test_views_keep_an_array_alive(name, attrs):
    b = Builder()
    t = b.op("exp", b.input(array(4)))
    seen = b.op(name, t, **attrs)
    graph = b.expecting(b.op("neg", t), b.op("neg", seen))
    assert len(written(graph)) <= 1
    b.agrees(graph)


def test_a_stretched_array_is_never_written_over():
    b = Builder()
    t = b.op("exp", b.input(array(4)))
    graph = b.expecting(b.op("neg", b.op("broadcast_to", t, shape=(3, 4))))
    assert written(graph) == []
    b.agrees(graph)


def test_what_an_effect_has_seen_is_left_alone():
    b, effect = Builder(), Effect()
    t = b.op("exp", b.input(array(4)))
    b.op(effect, t)
    graph = b.expecting(b.op("neg", t))
    assert written(graph) == []
    effect.told.clear()
    b.agrees(graph)
    np.testing.assert_array_equal(effect.told[0], b.example[t])


def runs(graph):
    """Returns the lowered graph with fused runs, checked by the grammar, and their number."""
    graph = fused(lowered(graph)).verify()
    return sum(isinstance(node.op, Fused) for node in graph.nodes)


def formula(b, x, y):
    t = b.op("mul", b.op("tanh", x), y)
    return b.op("where_positive", b.op("sub", 1.0, b.op("mul", t, t)), b.op("sub", x, y))


@pytest.mark.parametrize(
    "other", [(7, 6, 5), (5,), (6, 5), (1, 5), (7, 1, 1), (7, 6, 1), (), (1, 1, 1)], ids=str
)
def test_arguments_are_stretched(eager_to_fuse, other):
    b = Builder()
    graph = b.expecting(formula(b, b.input(array(7, 6, 5)), b.input(array(*other))))
    assert runs(graph) == 1
    b.agrees(graph)


def test_ones_in_front_do_not_matter(eager_to_fuse):
    b = Builder()
    graph = b.expecting(formula(b, b.input(array(1, 16)), b.input(array(16))))
    assert runs(graph) == 1
    b.agrees(graph)


def test_shapes_that_do_not_fit_a_frame_stay_steps(eager_to_fuse):
    b = Builder()
    x = b.input(array(7, 6, 5))
    graph = b.expecting(b.op("exp", b.op("mul", x, b.input(array(6, 1)))), b.op("add", x, b.input(array(7, 1, 5))))
    assert runs(graph) == 1
    b.agrees(graph)


def test_rows_and_columns_together(eager_to_fuse):
    b = Builder()
    x, row, column = b.input(array(6, 20)), b.input(array(20)), b.input(array(6, 1))
    graph = b.expecting(b.op("add", b.op("mul", b.op("sub", x, column), column), row))
    assert runs(graph) == 1
    b.agrees(graph)


def test_several_results_dtypes_and_selection(eager_to_fuse):
    b = Builder()
    x, y = b.input(array(37)), b.input(array(37))
    smaller = b.op("less", x, y)
    chosen = b.op("where", smaller, x, b.op("exp", y))
    wide = b.op("cast", b.op("mul", chosen, 2.0), dtype=np.dtype("float64"))
    graph = b.expecting(chosen, wide, b.op("masked", smaller, x), smaller, b.op("neg", b.op("sqrt", wide)))
    assert runs(graph) >= 1
    b.agrees(graph)


def test_inputs_in_any_order_of_memory(eager_to_fuse):
    b = Builder()
    x = b.input(array(6, 8))
    turned = b.op("transpose", x, perm=(1, 0))
    every_other = b.op("slice", b.input(array(8, 12)), key=(slice(None), slice(0, 12, 2)))
    graph = b.expecting(b.op("exp", b.op("mul", turned, every_other)))
    assert runs(graph) == 1
    b.agrees(graph)


def test_nothing_waits_for_itself(eager_to_fuse):
    b = Builder()
    x = b.input(array(8, 8))
    t = b.op("exp", x)
    total = b.op("sum", t, axis=(0, 1))
    graph = b.expecting(b.op("div", t, total), b.op("mul", t, x))
    assert runs(graph) == 2
    b.agrees(graph)


def test_effects_stay_in_order_around_runs(eager_to_fuse):
    b = Builder()
    first, second = Effect(), Effect()
    first.told = second.told = told = []
    x = b.input(array(8))
    t = b.op("exp", x)
    b.op(first, b.op("mul", t, 2.0))
    u = b.op(second, b.op("neg", x))
    graph = b.expecting(b.op("add", b.op("mul", t, u), x))
    told.clear()
    b.agrees(graph)
    np.testing.assert_array_equal(told[0], np.exp(b.example[x]) * 2)
    np.testing.assert_array_equal(told[1], -b.example[x])


def test_frames():
    shape = (4, 64, 32)

    def value(*dims):
        return Value(dims, dtypes.float32)

    assert frame_of(value(), shape) == frame_of(value(*shape), shape) == Frame()
    assert frame_of(value(32), shape) == Frame(32)
    assert frame_of(value(64, 32), shape) == Frame(2048)
    assert frame_of(value(4, 64, 1), shape) == Frame(32, columns=True)
    assert frame_of(value(4, 1, 32), shape) is None
    assert Frame(32).joined(Frame(2048)) == Frame(2048)
    assert Frame(32).joined(Frame(32, columns=True)) == Frame(32, columns=True)
    assert Frame(2048).joined(Frame(32, columns=True)) is None


def moved(b, x, y, rng):
    """Applies one of several non-elementwise ops to matrices."""
    ways = {
        "transpose": lambda: b.op("transpose", x, perm=(1, 0)),
        "sum": lambda: b.op("sum", x, axis=(int(rng.integers(2)),), keepdims=bool(rng.integers(2))),
        "softmax": lambda: b.op("softmax", x, axis=1),
        "reshape": lambda: b.op("reshape", b.op("reshape", x, shape=(36,)), shape=(6, 6)),
        "matmul": lambda: b.op("matmul", x, y, transpose_a=bool(rng.integers(2))),
        "slice": lambda: b.op("mul", b.op("slice", x, key=(0,)), 0.5),
        "where": lambda: b.op("where", b.op("greater", x, 0.1), x, y),
    }
    return ways[str(rng.choice(list(ways)))]()


def random_graph(seed):
    """Returns a graph of a few dozen ops on matrices, rows and columns."""
    rng = np.random.default_rng(seed)
    b = Builder()
    values = [b.input(array(*shape)) for shape in ((6, 6), (6, 6), (6,), (6, 1), ())]
    unary = ("tanh", "sigmoid", "neg", "relu", "softplus", "square", "identity", "stop_gradient", "zeros_like")
    binary = ("add", "sub", "mul", "maximum", "where_positive", "squared_difference")
    for _ in range(30):
        x, y = (values[i] for i in rng.integers(len(values), size=2))
        kind = rng.integers(8)
        if kind < 2:
            z = b.op(unary[rng.integers(len(unary))], x)
        elif kind < 5:
            name = binary[rng.integers(len(binary))]
            if name == "where_positive" and x.shape != y.shape:
                name = "add"
            z = b.op(name, x, y if rng.integers(4) else float(rng.integers(-1, 2)))
        elif x.shape == (6, 6):
            z = moved(b, x, y if y.shape == (6, 6) else x, rng)
        else:
            z = b.op("broadcast_to", x, shape=(6, 6))
        if z.shape not in ((6, 6), (6,), (6, 1), (), (1, 6)) or not np.all(np.abs(b.example[z]) < 1e3):
            continue
        values.append(z)
    outputs = [values[i] for i in rng.integers(5, len(values), size=3)]
    return b, b.expecting(*outputs, values[-1])


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs(seed, eager_to_fuse):
    b, graph = random_graph(seed)
    b.agrees(graph)


@pytest.mark.parametrize("seed", range(60, 90))
def test_random_graphs_step_by_step(seed):
    b, graph = random_graph(seed)
    b.agrees(graph)


def test_large_arrays_on_all_cores():
    b = Builder()
    x = b.input(array(1000, 700))
    graph = b.expecting(formula(b, x, b.input(array(700))), b.op("sum", formula(b, x, x), axis=(0,)))
    assert runs(graph) >= 1
    b.agrees(graph)
    (y, _) = compile_graph(graph)(*[b.example[v] for v in graph.inputs])
    assert y.flags.owndata and y.flags.writeable


def test_runs_name_what_they_do(eager_to_fuse):
    b = Builder()
    x = b.input(array(8))
    graph = fused(lowered(b.graph(b.op("exp", b.op("mul", x, x)))))
    assert "multiply_exp" in str(graph)
    assert repr(graph.nodes[0].op) == "<fused multiply_exp>"
