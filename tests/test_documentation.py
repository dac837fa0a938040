"""What docstrings say is so: formulas, domains, shapes, dtypes and derivatives are evaluated."""

import inspect
import json
import math
import re
from functools import cache
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest
from documented_functions import CALLS

import gradtape as tf
from gradtape.api.catalogue import rows
from gradtape.api.catalogue.documentation import details_of, result_name
from gradtape.api.names import NAMES
from gradtape.api.namespace import resolve
from gradtape.inspect.checks.opcheck import draw

ROWS = {row.names[0]: row for row in rows()}
TENSORFLOW = json.loads((Path(__file__).parent / "data/tensorflow_dtypes.json").read_text())["functions"]
DTYPES = """
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 bfloat16 float16 float32 float64 complex64 complex128 string
""".split()

pytest.importorskip("scipy")  # the reference for special functions


def each(condition=lambda row: True):
    return pytest.mark.parametrize("name", [name for name, row in ROWS.items() if condition(row)])


def parameters_of(row):
    return list(row.types)[:-2]


@cache
def numbers():
    """The functions and numbers that formulas name."""
    from scipy import special

    names = "i0 i0e i1 i1e j0 j1 k0 k0e k1 k1e y0 y1".split()
    functions = {f"bessel_{name}": getattr(special, name) for name in names}
    functions |= {name: getattr(special, name) for name in "erf erfc gamma beta digamma polygamma zeta xlogy".split()}
    names = "exp log log1p sqrt sin cos tan sinh cosh sign trunc floor ceil".split()
    functions |= {name: getattr(np, name) for name in names}
    functions |= {"sigmoid": special.expit, "rint": np.rint, "minimum": np.minimum}
    functions |= {"xdivy": lambda x, y: x / y if x else 0.0, "divide_no_nan": lambda x, y: x / y if y else 0.0}
    return {**functions, "pi": math.pi, "e": math.e, "inf": math.inf, "integral": integral, "series": series}


def integral(function, low, high):
    from scipy import integrate

    # Beyond the range of numbers, a factor overflows and the other underflows.
    return integrate.quad(lambda t: 0.0 if math.isnan(value := function(t)) else value, low, high, limit=200)[0]


def series(function):
    """The sum over n from 0, with the tail as an integral (Euler and Maclaurin)."""
    first, scale = 400, 100.0
    tail = integral(lambda u: scale * math.exp(u) * function(first + scale * math.expm1(u)), 0, 60)
    return sum(function(n) for n in range(first)) + tail + function(first) / 2


def evaluate(text, values):
    """The value of a formula: ∫_0^x f dt is an integral over t, Σ_{n=0}^∞ f a sum."""
    text = text.replace("∞", "inf")
    text = re.sub(r"∫_(\S+?)\^(\S+) (.*?) dt", r"integral(lambda t: \3, \1, \2)", text)
    text = re.sub(r"Σ_\{n=0\}\^inf (.*)", r"series(lambda n: \1)", text)
    with np.errstate(all="ignore"):
        return eval(text, {**numbers(), **values})


def points_of(row, count=4):
    """Arguments for which the record's samples are defined, as lists of scalars."""
    record, random = row.record, np.random.default_rng(0)
    given = [sample for sample in draw(record, record.samples[0])]
    if any(x.dtype.kind != "f" for x in given) or row.casts.get("bool"):  # integers, truth values
        flat = [x.ravel() for x in np.broadcast_arrays(*given)]
        return [[x[i].item() for x in flat] for i in range(min(count, flat[0].size))]
    if row.names[0] == "math.special.expint":
        return (-random.uniform(0.5, 2, (count, 1))).tolist()  # elsewhere it is a principal value
    if row.names[0] == "math.polygamma":  # of integer order
        return [[1.0, 0.5], [2.0, 1.5]]
    low, high = record.samples[0].domain or record.domain
    return random.uniform(low, high, (count, len(given))).tolist()


def called(row, point):
    """The result of the function, and the derivatives with respect to its arguments."""
    xs = [tf.constant(x, tf.float64) if isinstance(x, float) else tf.constant(x) for x in point]
    with tf.GradientTape() as tape:
        tape.watch([x for x in xs if x.dtype.is_floating])
        y = resolve(row.names[0])(*xs)
    return y.numpy().item(), [None if g is None else g.numpy().item() for g in tape.gradient(y, xs)] if (
        y.dtype.is_floating
    ) else [None] * len(xs)


@each()
def test_formula(name):
    row = ROWS[name]
    assert row.formula, "the first sentence has an equation in backticks"
    constants = [span.partition(" = ") for span in row.doc.split("`")[1::2] if re.match(r"\w+ = [\d.]+$", span)]
    given = {name: float(number) for name, _, number in constants}
    for point in points_of(row):
        result, _ = called(row, point)
        parameters = parameters_of(row)
        values = {**given, **dict(zip(parameters, point, strict=True)), result_name(parameters): result}
        for span in row.doc.split("`")[1::2]:
            if " = " in span:
                left, _, right = span.partition(" = ")
                got, expected = evaluate(left, values), evaluate(right, values)
                np.testing.assert_allclose(got, expected, 1e-6, 1e-9, err_msg=f"{span} at {point}")


GRID = [-3.3, -2.0, -1.5, -1.0, -0.7, 0.0, 0.3, 0.9, 1.0, 1.6, 2.0, 2.4]


@each(lambda row: row.record.domain and row.domain)
def test_domain(name):
    row, count = ROWS[name], len(parameters_of(ROWS[name]))
    for point in [[x] for x in GRID] if count == 1 else [[x, y] for x in GRID for y in GRID]:
        inside = evaluate(row.domain, dict(zip(parameters_of(row), point, strict=True)))
        assert math.isnan(called(row, point)[0]) != inside, point


@each(lambda row: row.record.kinds & 4 and not row.domain and len(row.types) == 3 and not row.record.shaped_by_values)
def test_functions_without_a_domain_are_defined_everywhere(name):
    assert not [x for x in GRID if math.isnan(called(ROWS[name], [x])[0]) and not (x < 0 and x == int(x))]


@each()
def test_shape(name):
    row = ROWS[name]
    says = details_of(row)["Shape"]
    for case in row.record.samples:
        given = draw(row.record, case)
        result = resolve(name)(*given)
        assert result.shape == np.broadcast_shapes(*[x.shape for x in given])
    parameters = [f"`{name}`" for name in parameters_of(row)]
    assert says == f"that of {parameters[0]}" if len(parameters) == 1 else says.endswith("broadcast")
    assert all(parameter in says for parameter in parameters)


def dtypes_said(text):
    """The dtypes that a docstring lists, with those of the results, and those that TensorFlow does not take."""
    listed, _, rest = text.partition("; ")
    listed, _, own = listed.partition(" (")
    names = re.sub(r"`(u?int)8` … `u?int64`", r"`\g<1>8`, `\g<1>16`, `\g<1>32`, `\g<1>64`", listed)
    said = {name: name for name in (DTYPES if listed == "any" else re.findall(r"`(\w+)`", names))}
    if result := re.search(r"the result is `(\w+)`", rest):
        said = dict.fromkeys(said, result[1])
    for names, result in re.findall(r"((?:`\w+`(?:, | and )?)+) gives? `(\w+)`", rest):
        said |= dict.fromkeys(re.findall(r"`(\w+)`", names), result)
    return said, set(re.findall(r"`(\w+)`", own))


def check_dtypes(name, text, call):
    """`call` is called with a function that creates tensors of a dtype, given their shape."""
    found = {}
    for dtype in DTYPES:

        def tensor(*shape, dtype=dtype):
            return tf.fill(list(shape), "a") if dtype == "string" else tf.cast(tf.ones(list(shape)), dtype)

        try:
            found[dtype] = call(tensor).dtype.name
        except (AssertionError, TypeError, ValueError, tf.errors.OpError):  # `tf.range` asserts
            continue
    said, own = dtypes_said(text)
    assert said == found
    assert own == set(found) - set(TENSORFLOW[name]["dtypes"].split()), "TensorFlow neither allows nor takes the others"


@each()
def test_dtypes(name):
    count = len(parameters_of(ROWS[name]))
    check_dtypes(name, details_of(ROWS[name])["Dtypes"], lambda tensor: resolve(name)(*[tensor(1)] * count))


@each()
def test_derivative(name):
    row = ROWS[name]
    parameters, text = parameters_of(row), details_of(row)["Derivative"]
    said = {x: formula for x, formula in re.findall(r"`[d∂]\w/[d∂](\w+) = (.*?)`", text)}
    constants = dict(re.findall(r"`(\w+) = ([\d.]+)`", row.doc))
    for point in points_of(row):
        result, slopes = called(row, point)
        values = {**{key: float(number) for key, number in constants.items()}, result_name(parameters): result}
        values |= dict(zip(parameters, point, strict=True))
        for parameter, slope in zip(parameters, slopes, strict=True):
            if slope is None:
                assert text.startswith("none") or f"none for `{parameter}`" in text
            elif parameter in said:
                np.testing.assert_allclose(evaluate(said[parameter], values), slope, 1e-7, 1e-12, err_msg=text)
            else:
                assert "without a formula" in text


OTHER_EDGES = {"math.special.bessel_i1": "1.0"}  # of TensorFlow, which docs/differences.md calls incorrect


@each(lambda row: row.edges)
def test_edges_are_those_of_tensorflow(name):
    row = ROWS[name]
    for at, slope in row.edges.items():
        assert called(row, [float(at)])[1] == [slope]
        theirs = TENSORFLOW[name]["edges"][str(at)]
        assert theirs == OTHER_EDGES.get(name) or float(theirs) == slope


# Functions that are more than a row: what their docstrings say by hand.


def said_by(name):
    """The list in a docstring, by label."""
    text = inspect.getdoc(resolve(name))
    return {label: " ".join(said.split()) for label, said in re.findall(r"^- (\w+): (.*?)\.$", text, re.M | re.S)}


@pytest.mark.parametrize("name", CALLS)
def test_function(name):
    call, shape = CALLS[name]
    said = said_by(name)
    assert list(said) == ["Shape", "Dtypes", "Derivative"]
    function = eval(f"lambda a: {call}", {"tf": tf})
    text = said["Dtypes"].replace("the result is `dtype`", "the result is `float32`")
    check_dtypes(name, text, function)
    dtype = next(iter(dtypes_said(text)[0]))
    assert function(lambda *shape: tf.cast(tf.ones(list(shape)), dtype)).shape == shape
    if said["Derivative"].startswith("none; gradients are `None`"):
        given = []

        def watched(*shape):
            given.append(tf.cast(tf.ones(list(shape)), tf.bool if "reduce_a" in name else tf.float64))
            tape.watch([x for x in given if x.dtype.is_floating])
            return given[-1]

        with tf.GradientTape() as tape:
            y = function(watched)
        if y.dtype.is_floating and given[0].dtype.is_floating:
            assert tape.gradient(y, given) == [None] * len(given)


ARGUMENTS = {"math.l2_normalize": {"epsilon": 0.0}}  # for functions that have more than the formula


@pytest.mark.parametrize("name", [name for name in CALLS if re.search(r"∂x\[", said_by(name)["Derivative"])])
def test_formula_of_a_derivative_along_an_axis(name):
    x = tf.constant([0.7, 1.5, -0.4, 1.1], tf.float64)
    (left, right), *_ = re.findall(r"`(∂y(?:\[i\])?/∂x\[\w\]) = (.*?)`", said_by(name)["Derivative"])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = resolve(name)(x, axis=0, **ARGUMENTS.get(name, {}))
    jacobian = tape.jacobian(y, x).numpy()
    more = {"x": x.numpy(), "y": y.numpy(), "n": 4, "count": 1, "mean": np.mean, "norm": np.linalg.norm}
    points = [(i, j) for i in range(4) for j in range(4)] if "[i]/" in left else [(i, i) for i in range(4)]
    for i, j in points:
        expected = jacobian[i, j] if "[i]/" in left else jacobian[i]
        np.testing.assert_allclose(evaluate(right, {**more, "i": i, "j": j}), expected, 1e-9, 1e-12)


@pytest.mark.parametrize(
    ("name", "derivative"), [("math.reduce_euclidean_norm", 0), ("norm", 0), ("math.reduce_std", np.nan)]
)
def test_derivatives_of_norms_at_0(name, derivative):
    said = "`nan` where `y` is 0" if np.isnan(derivative) else "0 where `y` is 0"
    assert said in said_by(name)["Derivative"]
    x = tf.zeros([2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = resolve(name)(x)
    np.testing.assert_array_equal(tape.gradient(y, x), [derivative, derivative])


def test_formulas_of_cross_entropies():
    labels, logits = tf.constant([0.2, 0.9, 0.3], tf.float64), tf.constant([1.0, -0.5, 2.0], tf.float64)
    log_softmax = tf.nn.log_softmax(logits)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([labels, logits])
        dense = tf.nn.softmax_cross_entropy_with_logits(labels, logits)
        binary = tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)
        sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(1, logits)
    softmax = tf.exp(log_softmax)
    expected = [
        (dense, logits, softmax * tf.reduce_sum(labels) - labels), (dense, labels, -log_softmax),
        (binary, logits, tf.sigmoid(logits) - labels), (binary, labels, -logits),
        (sparse, logits, softmax - tf.one_hot(1, 3, dtype=tf.float64)),
    ]  # fmt: skip
    for y, x, gradient in expected:
        np.testing.assert_allclose(tape.gradient(y, x), gradient, 1e-12)
    assert float(sparse) == -float(log_softmax[1])


# Words that say nothing about a function.
FILLER = """
    a an the of to returns computes gets and or in for is with one function operation tensor tensors value values by
    each creates as from its
"""
# First sentences that refer to the name alone and are complete: the function of that name is documented.
REFERENCES = ("config.experimental.get_device_policy", "config.repeated_row_sums_enabled", "data.experimental.")


def says_nothing(name, sentence):
    """Whether a sentence has no formula and fewer than two words besides those of the name.

    >>> says_nothing("math.sin", "The sine."), says_nothing("math.sin", "Computes `y = sin(x)`.")
    (True, False)
    """

    def stems(text):
        return {re.sub(r"(?:ing|ed|es|s|e)$", "", word.lower()) for word in re.findall(r"[A-Za-z]{2,}", text)}

    if any(re.search(r"[^\w.]", code) for code in re.findall(r"`([^`]*)`", sentence)):
        return False
    words = stems(re.sub(r"`[^`]*`", " ", sentence)) - stems(FILLER)
    return len(words - stems(name.replace("_", " "))) < 2


def test_first_sentences_say_more_than_the_name():
    found = {}
    for name in NAMES:
        if name.startswith(("raw_ops.", "compat.", "keras.", "experimental.numpy.", "__", *REFERENCES)):
            continue
        function = resolve(name)
        if type(function) is FunctionType:
            first = (inspect.getdoc(function) or "").partition("\n\n")[0]
            if says_nothing(name, first):
                found[name] = first
    assert not found
