"""Passes on small graphs: what they take away, what they must leave, and that values stay the same."""

import numpy as np
import pytest
from small_graphs import Builder, Effect, constant, names

from gradtape.graph.ir.effects import guard
from gradtape.graph.ir.graph import Graph, Node, Value
from gradtape.graph.passes.optimize import common_subexpressions, dead_code, folded_constants, optimize
from gradtape.graph.passes.peepholes import simplified
from gradtape.graph.passes.products import gathered_products, scaled_products
from gradtape.graph.passes.transpose_folding import turned_products

X = np.array([[1.5, -2.0, 0.25], [3.0, 0.5, -1.0]], np.float32)


def after(b, one_pass, *outputs):
    """The graph that gives these outputs, after a pass, which is checked to change no value."""
    graph = one_pass(b.expecting(*outputs)).verify()
    b.agrees(graph)
    return graph


def test_dead_code_goes_and_effects_stay():
    b, effect = Builder(), Effect()
    x = b.input(X)
    b.op("exp", b.op("tanh", x))
    b.op(effect, b.op("neg", x))
    assert names(after(b, dead_code, b.op("add", x, 1.0))) == ["neg", "tell", "add"]


def test_one_output_of_several_keeps_the_node():
    b = Builder()
    first, _ = b.op("split", b.input(X), sizes=(1, 1), axis=0)
    assert names(after(b, dead_code, first)) == ["split"]


def test_common_subexpressions():
    b = Builder()
    x = b.input(X)
    y = b.op("add", b.op("tanh", b.op("mul", x, 2.0)), b.op("tanh", b.op("mul", x, 2.0)))
    assert names(after(b, common_subexpressions, y)) == ["mul", "tanh", "add"]


@pytest.mark.parametrize(
    ("first", "second"), [({"axis": (0,)}, {"axis": (1,)}), ({"axis": (0,)}, {"axis": (0,), "keepdims": True})]
)
def test_attributes_tell_nodes_apart(first, second):
    b = Builder()
    x = b.input(X)
    assert len(after(b, common_subexpressions, b.op("sum", x, **first), b.op("sum", x, **second)).nodes) == 2


def test_arrays_and_signs_in_attributes():
    b = Builder()
    x = b.input(X)
    rows = [b.op("slice", x, key=(np.array(i),)) for i in ([0, 1], [0, 1], [1, 0])]
    assert len(after(b, common_subexpressions, *rows).nodes) == 2
    b = Builder()
    x = b.input(X)
    graph = b.expecting(b.op("add", x, 0.0), b.op("add", x, -0.0))
    assert len(common_subexpressions(graph).nodes) == 2


def test_effects_are_never_merged_but_guards_are():
    b, effect = Builder(), Effect()
    x = b.input(np.float32(1))
    b.op(effect, x)
    b.op(effect, x)
    b.op(guard, x, value=np.float32(1))
    b.op(guard, x, value=np.float32(1))
    assert names(common_subexpressions(b.graph())) == ["tell", "tell", "guard"]


def test_constants_are_folded():
    b = Builder()
    x = b.input(X)
    two = b.op("add", constant(1.0), constant(1.0))
    graph = after(b, folded_constants, b.op("mul", x, b.op("exp", two)))
    assert names(graph) == ["mul"]
    assert graph.nodes[0].inputs[1].constant == np.exp(np.float32(2))


def test_folding_makes_nothing_large_and_raises_nothing():
    b = Builder()
    large = b.op("broadcast_to", constant(1.0), shape=(300, 300))
    assert names(after(b, folded_constants, large)) == ["broadcast_to"]
    value = Value((), constant(np.int32(1)).dtype)
    node = Node(b.nodes[0].op, (), {}, (value,))
    node = node._replace(op=_op("floordiv"), inputs=(constant(np.int32(1)), constant(np.int32(0))))
    assert names(folded_constants(Graph("zero", (), (node,), (value,)))) == ["floordiv"]


def _op(name):
    from gradtape.engine.registry.op import registry

    return registry[name]


def test_a_guard_of_a_constant_goes():
    b = Builder()
    b.op(guard, constant(1.0), value=np.float32(1))
    b.op(guard, constant(1.0), value=np.float32(1))
    assert names(folded_constants(b.graph())) == []
    graph = b.graph()
    wrong = graph.nodes[0]._replace(attrs={"value": np.float32(2)})
    assert names(folded_constants(graph.substituted([wrong]))) == ["guard"]


ONES, ZEROS = np.ones_like(X), np.zeros_like(X)

IDENTITIES = {
    "x + 0": (lambda b, x: b.op("add", x, 0.0), []),
    "0 + x": (lambda b, x: b.op("add", 0.0, x), []),
    "x - 0": (lambda b, x: b.op("sub", x, 0.0), []),
    "0 - x": (lambda b, x: b.op("sub", 0.0, x), ["sub"]),
    "x * 1": (lambda b, x: b.op("mul", x, 1.0), []),
    "x * ones": (lambda b, x: b.op("mul", ONES, x), []),
    "x + zeros_like": (lambda b, x: b.op("add", x, b.op("zeros_like", x)), []),
    "x * -1": (lambda b, x: b.op("mul", x, -1.0), ["neg"]),
    "x / 1": (lambda b, x: b.op("div", x, 1.0), []),
    "x / 4": (lambda b, x: b.op("div", x, 4.0), ["mul"]),
    "x / 3": (lambda b, x: b.op("div", x, 3.0), ["div"]),
    "x / tiny": (lambda b, x: b.op("div", x, constant(np.float32(2.0**-140))), ["div"]),
    "1 / x": (lambda b, x: b.op("div", 1.0, x), ["div"]),
    "--x": (lambda b, x: b.op("neg", b.op("neg", x)), []),
    "x + -x": (lambda b, x: b.op("add", x, b.op("neg", x)), ["sub"]),
    "-x + x": (lambda b, x: b.op("add", b.op("neg", x), x), ["sub"]),
    "x - -x": (lambda b, x: b.op("sub", x, b.op("neg", x)), ["add"]),
    "-x * 3": (lambda b, x: b.op("mul", b.op("neg", x), 3.0), ["mul"]),
    "identity": (lambda b, x: b.op("identity", x), []),
    "identity_n": (lambda b, x: b.op("identity_n", x, x)[1], []),
    "stop_gradient": (lambda b, x: b.op("stop_gradient", x), []),
    "cast to itself": (lambda b, x: b.op("cast", x, dtype=np.dtype("float32")), []),
    "cast": (lambda b, x: b.op("cast", x, dtype=np.dtype("float64")), ["cast"]),
    "reshape to itself": (lambda b, x: b.op("reshape", x, shape=(2, 3)), []),
    "reshape twice": (lambda b, x: b.op("reshape", b.op("reshape", x, shape=(6,)), shape=(3, 2)), ["reshape"]),
    "reshape and back": (lambda b, x: b.op("reshape", b.op("reshape", x, shape=(6,)), shape=(2, 3)), []),
    "broadcast to itself": (lambda b, x: b.op("broadcast_to", x, shape=(2, 3)), []),
    "transpose twice": (lambda b, x: b.op("transpose", b.op("transpose", x, perm=(1, 0)), perm=(1, 0)), []),
    "sum over no axis": (lambda b, x: b.op("sum", x, axis=()), []),
    "sum of ones": (
        lambda b, x: b.op("mul", x, b.op("sum", b.op("ones_like", x), axis=(0,), keepdims=False)), ["mul"],
    ),
    "stretched factor": (
        lambda b, x: b.op("mul", b.op("broadcast_to", b.op("sum", x, axis=(0, 1)), shape=(2, 3)), x), ["sum", "mul"],
    ),
    "stretched by one op only": (
        lambda b, x: b.op("exp", b.op("broadcast_to", b.op("sum", x, axis=(0, 1)), shape=(2, 3))),
        ["sum", "broadcast_to", "exp"],
    ),
    "product with a transpose": (
        lambda b, x: b.op("matmul", b.op("transpose", x, perm=(1, 0)), x), ["matmul"],
    ),
    "sum of two": (lambda b, x: b.op("add_n", x, x), ["add"]),
    "ones times ones, stretched": (
        lambda b, x: b.op("add", x, b.op("mul", b.op("ones_like", x), 2.0)), ["add"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", IDENTITIES)
def test_identities(case):
    build, left = IDENTITIES[case]
    b = Builder()
    y = build(b, b.input(X))
    graph = after(b, lambda g: dead_code(folded_constants(simplified(g))), y)
    assert names(graph) == left


def test_adding_zeros_may_stretch():
    b = Builder()
    after(b, optimize, b.op("add", b.input(X[0]), ZEROS), b.op("mul", b.op("sum", b.inputs[0], axis=(0,)), ONES))


def test_a_mixture_of_zeros_is_no_number():
    b = Builder()
    mixed = np.array([0.0, -0.0, 0.0], np.float32)
    assert names(simplified(b.expecting(b.op("div", b.input(X), mixed)))) == ["div"]
    assert simplified(b.graph(b.op("div", b.inputs[0], mixed))).nodes[0].inputs[1].constant is mixed


def test_inner_graphs_are_optimised():
    class Twice:
        name = title = "twice"
        family = "opaque"
        moves_data = True
        effect = False

        @staticmethod
        def numpy(x, *, body):
            from gradtape.graph.executors.numpy.executor import compiled

            return compiled(body)(compiled(body)(x)[0])[0]

    inner = Builder()
    body = inner.graph(inner.op("add", inner.op("identity", inner.input(X)), 1.0))
    b = Builder()
    graph = after(b, optimize, b.op(Twice(), b.input(X), body=body))
    assert names(graph.nodes[0].attrs["body"]) == ["add"]


def test_sums_of_products_are_one_product():
    b = Builder()
    total = None
    for i in range(4):
        a, g = b.input(X + i), b.input(X[:, :2] - i)
        product = b.op("matmul", a, g, transpose_a=True)
        total = product if total is None else b.op("add", total, product)
    graph = after(b, gathered_products, b.op("neg", total))
    assert names(graph) == ["concat", "concat", "matmul", "neg"]


def test_a_product_used_elsewhere_stays():
    b = Builder()
    a, g = b.input(X), b.input(X[:, :2])
    first, second = (b.op("matmul", a, b.op("add", g, n), transpose_a=True) for n in (1.0, 2.0))
    graph = after(b, gathered_products, b.op("add", first, second), first)
    assert names(graph).count("matmul") == 2


@pytest.mark.parametrize("number_first", [True, False])
def test_a_number_times_a_product_multiplies_the_smaller_factor(number_first):
    b = Builder()
    a, g = b.input(np.tile(X, (1, 5))), b.input(np.tile(X, (1, 4)))
    product = b.op("matmul", a, g, transpose_a=True)
    scaled = b.op("mul", *((np.float32(0.25), product) if number_first else (product, np.float32(0.25))))
    graph = after(b, lambda graph: dead_code(scaled_products(graph)), scaled)
    assert names(graph) == ["mul", "matmul"]
    assert graph.nodes[0].outputs[0].shape == (2, 12)
    assert graph.nodes[1].attrs == {"transpose_a": True}


@pytest.mark.parametrize("number", [0.0, 1e-12, 3.0, np.inf, np.nan])
def test_a_number_that_may_make_the_factor_vanish_or_overflow_multiplies_the_product(number):
    b = Builder()
    product = b.op("matmul", b.input(np.tile(X, (1, 5))), b.input(np.tile(X, (1, 4))), transpose_a=True)
    graph = after(b, scaled_products, b.op("mul", np.float32(number), product))
    assert names(graph) == ["matmul", "mul"]


def test_a_product_that_is_used_twice_or_is_no_larger_than_its_factors_is_multiplied_itself():
    b = Builder()
    large = b.op("matmul", b.input(np.tile(X, (1, 5))), b.input(np.tile(X, (1, 4))), transpose_a=True)
    small = b.op("matmul", b.input(X), b.input(X), transpose_b=True)
    scaled = [b.op("mul", np.float32(0.25), y) for y in (large, small)]
    graph = after(b, lambda graph: dead_code(scaled_products(graph)), *scaled, large)
    assert names(graph) == ["matmul", "matmul", "mul", "mul"]


def turned(graph, many=0):
    """The graph with all products taken for large ones."""
    return dead_code(turned_products(graph, large=0, many=many))


def heads(b):
    """Queries and keys as they come out of layers: `(batch, places, heads, channels)`."""
    rng = np.random.default_rng(0)
    return [b.input(rng.normal(size=(2, 5, 3, 4)).astype(np.float32)) for _ in range(2)]


def test_products_take_transposes_before_and_after():
    b = Builder()
    q, k = heads(b)
    q, k = (b.op("transpose", x, perm=(0, 2, 1, 3)) for x in (q, k))
    scores = b.op("matmul", q, k, transpose_b=True)
    mixed = b.op("matmul", b.op("softmax", scores, axis=3), k)
    graph = after(b, turned, b.op("transpose", mixed, perm=(0, 2, 1, 3)))
    assert names(graph) == ["large_contract", "softmax", "large_contract"]


def test_transposes_go_past_steps_with_numbers_to_products():
    b = Builder()
    q, k = heads(b)
    q = b.op("mul", b.op("transpose", q, perm=(0, 2, 1, 3)), np.float32(0.5))
    scores = b.op("matmul", q, b.op("transpose", k, perm=(0, 2, 3, 1)))
    y = b.op("transpose", b.op("mul", np.float32(2), b.op("tanh", scores)), perm=(1, 0, 3, 2))
    graph = after(b, turned, y)
    assert names(graph) == ["mul", "large_contract", "tanh", "mul"]


def test_what_others_use_is_transposed_for_them():
    b = Builder()
    q, k = heads(b)
    q, k = (b.op("transpose", x, perm=(0, 2, 1, 3)) for x in (q, k))
    y = b.op("matmul", q, k, transpose_b=True)
    scaled = b.op("mul", q, np.float32(0.5))
    graph = after(b, turned, y, b.op("transpose", y, perm=(0, 1, 3, 2)), scaled, b.op("tanh", q))
    assert sorted(names(graph)) == ["large_contract", "mul", "tanh", "transpose", "transpose"]


def test_steps_on_differently_transposed_arrays_stay():
    b = Builder()
    q, k = heads(b)
    sum_ = b.op("add", b.op("transpose", q, perm=(0, 2, 1, 3)), b.op("transpose", k, perm=(0, 2, 1, 3)))
    other = b.op("add", b.op("transpose", q, perm=(1, 2, 0, 3)), b.op("transpose", k, perm=(1, 2, 0, 3)))
    row = b.op("add", b.op("transpose", q, perm=(0, 2, 1, 3)), np.ones(4, np.float32))
    graph = after(b, turned, sum_, other, row)
    assert names(graph).count("transpose") == 3


def test_stretched_products_stay():
    b = Builder()
    x, w = b.input(np.ones((1, 2, 3), np.float32)), b.input(np.ones((4, 3, 2), np.float32))
    assert names(after(b, turned, b.op("matmul", x, w))) == ["matmul"]


def test_few_products_stay():
    b = Builder()
    q, k = heads(b)
    y = b.op("matmul", q, k, transpose_b=True)
    assert names(after(b, lambda g: turned(g, many=1 << 20), y)) == ["matmul"]
