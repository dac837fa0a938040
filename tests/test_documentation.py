"""What the docstrings of the catalogue say is so: formulas, domains, shapes, dtypes and derivatives are evaluated."""

import json
import math
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from gradtape.api.catalogue import rows
from gradtape.api.catalogue.documentation import details_of, result_name
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


def results_said(row):
    """The dtypes that the docstring lists, with those of the results."""
    text = details_of(row)["Dtypes"]
    listed, _, rest = text.partition("; ")
    own = set(re.findall(r"`(\w+)`", listed.partition(" (")[2]))
    listed = listed.partition(" (")[0]
    names = re.sub(r"`(u?int)8` … `u?int64`", r"`\g<1>8`, `\g<1>16`, `\g<1>32`, `\g<1>64`", listed)
    said = {name: name for name in re.findall(r"`(\w+)`", names)}
    if result := re.search(r"the result is `(\w+)`", rest):
        said = dict.fromkeys(said, result[1])
    for names, result in re.findall(r"((?:`\w+`(?:, | and )?)+) gives? `(\w+)`", rest):
        said |= dict.fromkeys(re.findall(r"`(\w+)`", names), result)
    return said, own


@each()
def test_dtypes(name):
    row, found = ROWS[name], {}
    for dtype in DTYPES:
        value = tf.constant(["a"]) if dtype == "string" else tf.cast(tf.constant([True]), dtype)
        try:
            found[dtype] = resolve(name)(*[value] * len(parameters_of(row))).dtype.name
        except (TypeError, ValueError, tf.errors.OpError):
            continue
    said, own = results_said(row)
    assert said == found
    theirs = set(TENSORFLOW[name]["dtypes"].split())
    assert own == set(found) - theirs, "`own_dtypes` are those that TensorFlow neither allows nor takes"


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
