"""Every thin public function has every surface, or a stated reason why not.

A thin function is one op or one expression: a row of the catalogue, or a function of the list of elementwise functions.
Each is asked for its names, raw op, TensorFlow 1, NumPy and Keras names, composite tensors, functions, XLA, SavedModels
in both directions and its gradient, with the same arguments everywhere.
"""

import inspect
from collections.abc import Mapping
from functools import cache
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pytest
from case_groups import check_together, in_batches

import gradtape as tf
from gradtape.api.catalogue import rows
from gradtape.api.catalogue.elementwise import elementwise_functions
from gradtape.api.catalogue.nodes import functions
from gradtape.api.names import NAMES
from gradtape.api.namespace import V1, place_of, resolve
from gradtape.api.raw_ops.rows import rows as raw_rows
from gradtape.core.extras import is_installed
from gradtape.engine.registry.op import Op
from gradtape.saved_model.writing.writer import Unsaved


class Thin(NamedTuple):
    """A thin function: what its row declares."""

    names: tuple[str, ...]
    count: int  # how many tensors it takes, before its other parameters
    numpy: str
    keras: str
    without: Mapping[str, str]


# Functions that users' types may override like elementwise ones, but that are more than an op or an expression.
NOT_THIN = {
    **dict.fromkeys(["image.adjust_brightness", "image.adjust_gamma", "image.convert_image_dtype"], "for images"),
    **dict.fromkeys(["image.random_brightness", "image.stateless_random_brightness"], "draws"),
    "math.scalar_mul": "takes a scalar and a tensor",
    "nn.log_softmax": "normalizes along an axis",
}

# Functions that need more than tensors.
MORE = {
    "cast": {"dtype": tf.float64}, "clip_by_value": {"clip_value_min": 0.3, "clip_value_max": 0.6},
    "debugging.check_numerics": {"message": "here"}, "dtypes.saturate_cast": {"dtype": tf.float64},
    "strings.regex_full_match": {"pattern": "1|2"}, "strings.regex_replace": {"pattern": "1", "rewrite": "x"},
    "strings.substr": {"pos": 0, "len": 1}, "strings.to_hash_bucket": {"num_buckets": 5},
    "strings.to_hash_bucket_fast": {"num_buckets": 5},
    "strings.to_hash_bucket_strong": {"num_buckets": 5, "key": [1, 2]},
    "strings.unicode_transcode": {"input_encoding": "UTF-8", "output_encoding": "UTF-8"},
}  # fmt: skip

# Functions whose raw op has other parameters, which the table of raw ops writes as an expression.
NODES = {
    "cast": "Cast", "dtypes.complex": "Complex", "math.angle": "Angle", "math.imag": "Imag", "math.real": "Real",
}  # fmt: skip

# Surfaces that functions without a row do not have, and why: by surface and reason, the functions.
REASONS = {
    ("raw_ops", "several ops in TensorFlow too"): """
        dtypes.saturate_cast math.reciprocal_no_nan nn.gelu nn.sigmoid_cross_entropy_with_logits nn.silu
    """,
    ("raw_ops", "missing: the tests of loading have it as an example"): "strings.unicode_script",
    ("saved_model", "its raw op is missing"): "strings.unicode_script",
    ("keras", "its default is the approximation"): "nn.gelu",
    ("gradient", "piecewise constant"): "math.round ones_like zeros_like",
    ("gradient", "constant for real numbers"): "math.angle math.imag",
}


def reasons_of(row):
    """Returns why a row does not have some surfaces: what it states, and what its node and its op say."""
    found = {} if row.node else {"raw_ops": "it is several ops in TensorFlow too"}
    if isinstance(row.op, Op):
        found |= {"gradient": "the op has no derivative"} if row.op.vjp is None else {}
        found |= {f"gradient {i}": "the op has no such derivative" for i in row.op.nondifferentiable_args}
    return {**found, **row.without}


@cache
def thin_functions() -> dict[str, Thin]:
    """Returns all thin functions by their canonical names."""
    found = {}
    for row in rows():
        required = len(row.types) - len(row.defaults) - 1  # types has the result too
        found[row.names[0]] = Thin(row.names, required, row.numpy, row.keras, reasons_of(row))
    named = {name for function in found.values() for name in function.names}
    binary = ("math.nextafter", *elementwise_functions("binary"))  # TensorFlow lists `nextafter` as unary
    for path in (*elementwise_functions("unary"), *binary):
        if path not in named and path not in NOT_THIN:
            names = tuple(name for name in NAMES if NAMES[name] == NAMES[path] and not name.startswith("compat."))
            found[path] = Thin(names, 2 if path in binary else 1, "", "", MappingProxyType({}))
    return found


def each():
    return pytest.mark.parametrize("path", thin_functions())


CANDIDATES = (
    ([0.25, 0.5, 0.75], [0.4, 0.15, 0.3], [0.3, 0.6, 0.8]),
    ([1.25, 1.5, 1.75], [1.5, 2.5, 3.5]),
    ([1, 2, 3], [3, 1, 2]),
    ([True, False, True], [True, True, False]),
    (["1", "2", "12"], ["2", "x", "3"]),
    (["MQ", "Mg", "Mw"],),
    ([0.25 + 1j, 0.5, 0.75j], [1j, 0.5, 0.25]),
)


@cache
def arguments_of(path):
    """Returns tensors (float64 rather than float32) and keyword arguments for which a function is defined."""
    function, more = resolve(path), MORE.get(path, {})
    for values in CANDIDATES:
        for dtype in (tf.float64, tf.float32, None):
            try:
                given = [tf.constant(x, dtype=dtype) for x in values[: thin_functions()[path].count]]
                result = function(*given, **more)
            except (TypeError, ValueError, tf.errors.InvalidArgumentError, IndexError):
                continue
            if not result.dtype.is_floating or np.isfinite(result.numpy()).all():
                return given, more
    raise AssertionError(f"tf.{path} is defined for none of the candidates: extend MORE or CANDIDATES")


def called(path, *given):
    tensors, more = arguments_of(path)
    return resolve(path)(*(given or tensors), **more)


def traceable(path):
    """Returns a function of tensors for `tf.function`, which searches what a function refers to, but no modules."""
    of, (_, more) = attrgetter(path), arguments_of(path)
    return lambda *given: of(tf)(*given, **more)


def assert_same(got, expected, dtype=True):
    got, expected = tf.convert_to_tensor(got), tf.convert_to_tensor(expected)
    if dtype:
        assert got.dtype == expected.dtype
    if expected.dtype.is_floating or expected.dtype.is_complex:
        tolerance = 1e-5 if expected.dtype in (tf.float32, tf.complex64) or got.dtype in (tf.float32,) else 1e-10
        np.testing.assert_allclose(got.numpy(), expected.numpy(), tolerance, tolerance)
    else:
        np.testing.assert_array_equal(got.numpy(), expected.numpy())


def reason(path, surface):
    """Returns why a function does not have a surface, or None."""
    listed = (why for (kind, why), paths in REASONS.items() if kind == surface and path in paths.split())
    return thin_functions()[path].without.get(surface) or next(listed, None)


def asked(path, surface, has):
    """Checks that a function either has a surface or has a reason; returns whether it has it."""
    if reason(path, surface):
        assert not has, f"tf.{path} has {surface}, but there is a reason against it: {reason(path, surface)}"
    else:
        assert has, f"tf.{path} does not have {surface}: add it, or the reason to its row (`without`)"
    return has


def test_rows_state_their_reasons_themselves():
    listed = {path for paths in REASONS.values() for path in paths.split()} | set(NOT_THIN) | set(NODES) | set(MORE)
    assert not listed & {row.names[0] for row in rows()}


@each()
def test_names(path):
    names = thin_functions()[path].names
    assert len({id(resolve(name)) for name in names}) == 1, "the names are different functions"
    function = resolve(path)
    assert ">>> " in function.__doc__, "an example"


@each()
def test_raw_op(path):
    names = thin_functions()[path].names
    found = [node for node, function in functions().items() if function in names]
    found += [node for node in raw_rows() if node == NODES.get(path)]
    if asked(path, "raw_ops", bool(found)):
        tensors, more = arguments_of(path)
        for name in found:
            op = getattr(tf.raw_ops, name)
            given = dict(zip(inspect.signature(op).parameters, (*tensors, *more.values()), strict=False))
            given |= {"Tout": called(path).dtype} if "Tout" in inspect.signature(op).parameters else {}
            assert_same(op(**given), called(path))


@each()
def test_tensorflow_1(path):
    tensors, more = arguments_of(path)
    old = [f"{V1}{name}" for name in thin_functions()[path].names if place_of(f"{V1}{name}") is not None]
    if asked(path, "compat.v1", bool(old)):
        for name in old:
            assert_same(resolve(name)(*tensors, **more), called(path))


@each()
@pytest.mark.parametrize("space", ["numpy", "keras"])
def test_numpy_and_keras(path, space):
    row = thin_functions()[path]
    leaf = path.rpartition(".")[2]
    if space == "keras":
        if not is_installed("keras"):
            pytest.skip("Keras is not installed")
        front = tf.keras.ops
        name = row.keras or leaf
        has = hasattr(front, name)
    else:
        front = tf.experimental.numpy
        name = row.numpy or leaf
        has = f"experimental.numpy.{name}" in NAMES
    declared = getattr(row, space)
    assert has or not declared, f"the row declares {declared!r}, which {space} does not have"
    if has and not reason(path, space):
        tensors, more = arguments_of(path)
        assert_same(getattr(front, name)(*tensors, **more), called(path), dtype=False)


def ragged(x):
    return tf.RaggedTensor.from_row_lengths(x, [2, 0, 1])


def sparse(x):
    return tf.SparseTensor([[0, 0], [0, 2], [1, 1]], x, [2, 3])


@each()
def test_ragged(path):
    tensors, _ = arguments_of(path)
    try:
        result = called(path, *map(ragged, tensors))
    except (TypeError, ValueError):
        result = None
    if asked(path, "ragged", isinstance(result, tf.RaggedTensor)):
        assert_same(result.values, called(path))
        assert result.row_lengths().numpy().tolist() == [2, 0, 1]


# The functions that TensorFlow applies to the values of a sparse tensor.
ON_SPARSE = {
    f"math.{name}"
    for name in "abs asin asinh atan atanh bessel_i0e bessel_i1e erf negative sign sin sqrt square tan tanh".split()
} | {"cast"}


@each()
def test_sparse(path):
    tensors, _ = arguments_of(path)
    if ON_SPARSE.isdisjoint(thin_functions()[path].names):
        with pytest.raises((TypeError, ValueError)):
            called(path, *map(sparse, tensors))
    else:
        result = called(path, *map(sparse, tensors))
        assert isinstance(result, tf.SparseTensor)
        assert_same(result.values, called(path))


@each()
def test_in_a_function(path):
    compiled = tf.function(traceable(path), autograph=False)
    tensors, _ = arguments_of(path)
    for _ in range(2):  # the first call traces, the second runs the program
        assert_same(compiled(*tensors), called(path))


BATCHES = in_batches(dict.fromkeys(thin_functions()), 12)


@pytest.mark.parametrize("paths", BATCHES.values(), ids=BATCHES)
def test_compiled_by_xla(paths, quick_xla):
    check_together(check_compiled, {path: None for path in paths if not (reason(path, "xla") or has_strings(path))})


def has_strings(path):
    """Whether a function takes or gives strings, which XLA does not have."""
    return any(x.dtype == tf.string for x in (*arguments_of(path)[0], called(path)))


def check_compiled(paths):
    """One program calls all functions."""
    functions_of = {path: traceable(path) for path in paths}

    def program(tensors):
        return {path: function(*tensors[path]) for path, function in functions_of.items()}

    compiled = tf.function(program, jit_compile=True, autograph=False)
    tensors = {path: arguments_of(path)[0] for path in paths}
    for _ in range(2):  # the first call traces, the second runs the program
        for path, result in compiled(tensors).items():
            assert_same(result, called(path))


@each()
def test_gradient_matches_finite_differences(path):
    tensors, _ = arguments_of(path)
    if not all(x.dtype.is_floating for x in (*tensors, called(path))):
        return
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        total = tf.reduce_sum(called(path, *tensors))
    gradients = tape.gradient(total, tensors)
    if not asked(path, "gradient", any(g is not None for g in gradients)):
        return
    step = 1e-6 if tensors[0].dtype == tf.float64 else 1e-2
    for i, gradient in enumerate(gradients):
        if gradient is None:
            assert reason(path, f"gradient {i}")
            continue
        moved = [
            called(path, *(x + sign * step if i == k else x for k, x in enumerate(tensors))).numpy() for sign in (1, -1)
        ]
        tolerance = 1e-5 if tensors[0].dtype == tf.float64 else 1e-2
        np.testing.assert_allclose(gradient.numpy(), (moved[0] - moved[1]) / (2 * step), tolerance, tolerance)


@each()
def test_saved_model(path, tmp_path):
    tensors, _ = arguments_of(path)
    model = tf.Module()
    specs = [tf.TensorSpec([None], x.dtype) for x in tensors]
    model.f = tf.function(traceable(path), input_signature=specs, autograph=False)
    try:
        tf.saved_model.save(model, str(tmp_path))
    except Unsaved:
        asked(path, "saved_model", has=False)
        return
    assert asked(path, "saved_model", has=True)
    assert_same(tf.saved_model.load(str(tmp_path)).f(*tensors), called(path))
