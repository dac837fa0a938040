"""PyTorch's kernels for large arrays against NumPy's; skipped where PyTorch is not installed (`make test-torch`)."""

import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from random_programs.comparison import disagreements
from random_programs.generator import generate
from random_programs.other_processes import numpy_kernels

import gradtape as tf
from gradtape.backends.numpy import blocks
from gradtape.backends.torch import library
from gradtape.backends.torch.elementwise import compile_steps, forward_kernel, fused_vjps
from gradtape.backends.torch.host_kernels import KERNELS, VJPS, WITH_RESIDUALS, bind_kernel, bind_with_residual
from gradtape.core import dtypes
from gradtape.engine.registry.formula import neutral, trace_formula
from gradtape.engine.registry.op import bind, registry
from gradtape.engine.registry.rules import parameters
from gradtape.engine.run.namespace import ops
from gradtape.ops import load_all

if not library.IS_ENABLED:
    pytest.skip("PyTorch is not installed, or turned off", allow_module_level=True)
load_all()
SIZE = 1 << 17  # PyTorch computes this many elements, and NumPy a part of them
PART = 1 << 11
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-30, -1e-30]
ELEMENTWISE = sorted(
    name for name, op in registry.items()
    if op.family == "elementwise" and op.kinds & dtypes.FLOAT and not op.attributes and len(op.args) <= 2
)  # fmt: skip
FLOATS = pytest.mark.parametrize("dtype", [np.float32, np.float64])
ALL_FLOATS = pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
CASES = 6  # random variants of each sample of an op
LEAST_SCALES = {"layer_norm": 4 / 1e-3**0.5}  # of a row without variance, rounding is divided by the root of epsilon


def random_operands(op, dtype, size):
    """Random operands in the domain of an op; a seventh of the first `PART` are numbers that are not ordinary."""
    rng = np.random.default_rng(len(op.name))
    found = [rng.uniform(*op.domain, size).astype(dtype) for _ in op.args]
    for x in found:
        x[:PART:7] = rng.choice(np.array(SPECIAL, dtype), len(x[:PART:7]))
    return found


def assert_close(found, expected, dtype, least_scale=1e-30):
    """Asserts equality up to some units in the last place; NaN and infinities are in the same places."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if found.dtype.kind == "c":
        found, expected = (np.stack([x.real, x.imag]) for x in (found, expected))
    elif found.dtype.kind != "f":
        assert (found == expected).all()
        return
    rtol = {np.float16: 4e-3, np.float32: 4e-5, np.float64: 1e-11}[dtype]
    with np.errstate(all="ignore"):
        scale = np.nanmax(np.where(np.isfinite(expected), np.abs(expected), 0), initial=least_scale)
    near_zero = 1e-1 if dtype == np.float16 else 1e-2
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * scale * near_zero)


@ALL_FLOATS
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_ops(name, dtype):
    op = registry[name]
    formula = trace_formula(bind(op.kernel, neutral), [np.dtype(dtype)] * len(op.args))
    kernel = forward_kernel(name, formula, len(op.args))
    if kernel is not None:
        arrays = random_operands(op, dtype, PART)
        with np.errstate(all="ignore"):
            assert_close(kernel(*arrays), op.numpy(*arrays), dtype)


@ALL_FLOATS
@pytest.mark.parametrize("name", [name for name in ELEMENTWISE if registry[name].vjp is not None])
def test_derivatives_of_elementwise_ops(name, dtype):
    op = registry[name]
    arrays = random_operands(op, dtype, SIZE)
    cotangent = np.random.default_rng(1).standard_normal(SIZE).astype(dtype)
    cotangent[::5] = 0

    def gradients(*given, g):
        sources = [tf.constant(x) for x in given]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            y = op.call(*sources)
        return [x for x in tape.gradient(y, sources, tf.constant(g)) if x is not None]

    large = gradients(*arrays, g=cotangent)
    small = gradients(*[x[:PART] for x in arrays], g=cotangent[:PART])
    assert len(large) == len(small)
    for a, b in zip(large, small, strict=True):
        assert_close(a.numpy()[:PART], b.numpy(), dtype)


LAYOUTS = {
    "transposed": lambda x: np.asfortranarray(x),
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "reversed": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "offset": lambda x: np.concatenate([x[:1], x])[1:],
    "scalar": lambda x: np.broadcast_to(x.reshape(-1)[:1], x.shape) if x.size else x,
}


@ALL_FLOATS
@pytest.mark.parametrize("special", [False, True])
def test_fused_slopes_that_may_be_infinite(dtype, special):
    rng = np.random.default_rng(0)
    g, x = rng.standard_normal(PART).astype(dtype), rng.uniform(0.5, 2, PART).astype(dtype)
    g[::5] = 0
    if special:
        x[:: PART // 64] = rng.choice(np.array(SPECIAL, dtype), 64)
    slopes = {"abs": np.sign, "sqrt": lambda y: 0.5 / y, "rsqrt": lambda y: -0.5 * y * y * y}
    for name, slope in slopes.items():
        found = fused_vjps()[name][1](*map(library.torch().from_numpy, (g, x))).numpy()
        with np.errstate(all="ignore"):
            expected = g * slope(x)
        assert_close(found, expected if name == "abs" else np.where(g == 0, 0, expected).astype(dtype), dtype)


def read_only(x):
    x.flags.writeable = False
    return x


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@pytest.mark.parametrize("name", ["exp", "sigmoid", "erf", "add", "mul", "maximum", "pow"])
def test_layouts_of_elementwise_operands(name, layout):
    op, rng = registry[name], np.random.default_rng(0)
    arrays = [read_only(LAYOUTS[layout](rng.uniform(0.5, 2, (256, 512)).astype(np.float32))) for _ in op.args]
    found = op.call(*[tf.constant(x) for x in arrays]).numpy()
    assert_close(found, bind(op.kernel, np)(*arrays), np.float32)


def test_numbers_and_rows_broadcast():
    x = np.random.default_rng(0).standard_normal((256, 512)).astype(np.float32)
    tensor = tf.constant(x)
    for other in (0.5, x[0], x[:, :1], x[None, :1]):
        assert_close((tensor * other).numpy(), x * np.asarray(other, np.float32), np.float32)
        assert_close((other - tensor).numpy(), np.asarray(other, np.float32) - x, np.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tensor * tf.constant(x[:3])


def variants(op, sample, rng, dtype):
    """Random operands of the shapes of a sample, in random layouts, sometimes with ties or special numbers."""
    for case in range(CASES):
        arrays = []
        for given in sample.inputs:
            if isinstance(given, tuple):
                x = rng.uniform(*(sample.domain or op.domain), given)
                if case % 3 == 1:
                    x = np.round(x)
                if case == 5 and op.domain[0] < 0 and op.name != "rfft":  # which spreads them over all results
                    x = np.where(rng.random(given) < 0.2, rng.choice(SPECIAL, given), x)
                x = np.asarray(x, dtype)
            else:
                kinds = {"f": dtype, "c": np.result_type(dtype, np.complex64)}
                x = np.asarray(given, kinds.get(np.asarray(given).dtype.kind))
            layout = LAYOUTS[rng.choice(sorted(LAYOUTS))] if case and x.ndim else np.asarray
            arrays.append(read_only(layout(x)) if case % 2 else layout(x))
        yield arrays


@FLOATS
@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"cast"}))
def test_kernels_on_the_samples_of_ops(name, dtype):
    op, rng, computed = registry[name], np.random.default_rng(len(name)), 0
    kernel, reference = bind_kernel(KERNELS[name]), bind(op.kernel, np)
    for sample in op.samples:
        for arrays in variants(op, sample, rng, dtype):
            found = kernel(*arrays, **sample.attrs)
            if found is None:
                continue
            computed += 1
            with np.errstate(all="ignore"):
                expected = reference(*arrays, **sample.attrs)
            for y, z, again in zip(*map(as_tuple, (found, expected, kernel(*arrays, **sample.attrs))), strict=True):
                assert_close(y, z, dtype, 4)
                assert y.tobytes() == again.tobytes()
                assert not op.never_aliases or not any(np.may_share_memory(y, x) for x in arrays)
    assert computed >= CASES // 2


def as_tuple(x):
    return x if isinstance(x, tuple) else (x,)


@FLOATS
@pytest.mark.parametrize("name", sorted(VJPS))
def test_vjps_on_the_samples_of_ops(name, dtype):
    op, rng, computed = registry[name], np.random.default_rng(len(name)), 0
    kernel, names = bind_kernel(VJPS[name]), parameters(VJPS[name].function)[1:]
    for sample in op.samples:
        for arrays in variants(op, sample, rng, dtype):
            inputs = [tf.constant(x) for x in arrays]
            with np.errstate(all="ignore"):
                y = op.run(*inputs, **sample.attrs)
            if isinstance(y, tuple):
                g = tuple([tf.constant(rng.standard_normal(z.shape).astype(z.numpy().dtype)) for z in y])
            else:
                g = tf.constant(np.asarray(rng.standard_normal(y.shape), dtype))
            s = op.keep(inputs, y, {**sample.attrs, "residual": residual_of(name, arrays, sample.attrs)})
            saved = {"g": g, "need": [True] * len(inputs), **dict(zip(op.kept, s, strict=True))}
            found = kernel(*[bare(saved[n]) for n in names])
            if found is None:
                continue
            computed += 1
            expected = op.vjp(ops, g, s, (0,) * len(inputs))
            for a, b in zip(as_tuple(found), expected, strict=True):
                assert (a is None) == (b is None)
                if a is not None:
                    assert_close(a, b.numpy(), dtype, LEAST_SCALES.get(name, 4))
    assert computed >= CASES // 2


def residual_of(name, arrays, attrs):
    """What PyTorch's kernel leaves for its vjp, or None."""
    found = bind_with_residual(WITH_RESIDUALS[name])(*arrays, **attrs) if name in WITH_RESIDUALS else None
    return None if found is None else found[1]


def max_pool(x):
    return tf.nn.max_pool2d(x, 2, 2, "SAME")


def max_pool_of_overlapping_windows(x):
    return tf.nn.max_pool2d(x, 3, 1, "SAME")


def attention(x):
    return ops.scaled_dot_product_attention(x, x + 1, x * 2, scale=0.5, causal=True, biased=False)


def layer_norm(x):
    return ops.layer_norm(x, x[0, 0, 0], x[0, 0, 1], epsilon=1e-3)


@pytest.mark.parametrize("function", [max_pool, max_pool_of_overlapping_windows, attention, layer_norm])
def test_residuals_change_no_gradient(function):
    """A tape that keeps the residuals of kernels, one that does not, and the op's own rule agree."""
    rng = np.random.default_rng(0)
    x = tf.constant(rng.standard_normal((4, 64, 64, 16)).astype(np.float32))
    weight = tf.constant(rng.standard_normal(x.shape).astype(np.float32))

    def gradient(**options):
        with tf.GradientTape(**options) as tape:
            tape.watch(x)
            y = function(x)
            loss = tf.reduce_sum(y * weight[:, : y.shape[1], : y.shape[2]])
        again = [tape.gradient(loss, x).numpy()] if options.get("persistent") else []
        return [tape.gradient(loss, x).numpy(), *again]

    kept, *others = [*gradient(), *gradient(persistent=True), *gradient(memory_budget=1 << 40)]
    for found in others:
        np.testing.assert_array_equal(found, kept)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
            loss = tf.reduce_sum(y * weight[:, : y.shape[1], : y.shape[2]])
        first = tape.gradient(loss, x)
    np.testing.assert_allclose(first, kept, atol=1e-5)
    assert outer.gradient(first, x).shape == x.shape


@pytest.mark.parametrize("shape", [(200, 60), (20, 10, 60)])
@pytest.mark.parametrize("labels_dtype", [np.int32, np.int64])
def test_a_cross_entropy_keeps_the_logarithms_of_the_softmax(shape, labels_dtype):
    rng = np.random.default_rng(0)
    x = tf.constant(rng.standard_normal(shape).astype(np.float32))
    labels = tf.constant(rng.integers(0, shape[-1], shape[:-1]).astype(labels_dtype))
    weight = tf.constant(rng.standard_normal(shape[:-1]).astype(np.float32))

    def gradient(**options):
        with tf.GradientTape(**options) as tape:
            tape.watch(x)
            y = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x)
        again = [tape.gradient(y, x, output_gradients=weight)] if options.get("persistent") else []
        kept = [v for saved in tape._log.saved if saved for v in saved if isinstance(v, library.torch().Tensor)]
        return [y, tape.gradient(y, x, output_gradients=weight), *again], kept

    (y, slope), kept = gradient()
    assert [v.shape for v in kept] == [shape]
    (_, *others), _ = gradient(persistent=True)
    (recomputed, other), none = gradient(memory_budget=1 << 40)
    assert not none
    softmax = np.exp(x - np.log(np.exp(x).sum(-1, keepdims=True)))
    want = (softmax - np.eye(shape[-1])[labels]) * np.asarray(weight)[..., None]
    for found in (slope, other, *others):
        np.testing.assert_allclose(found, want, atol=1e-6)
    np.testing.assert_array_equal(y, recomputed)
    with pytest.raises(tf.errors.InvalidArgumentError, match="outside the valid range"), tf.GradientTape() as tape:
        tape.watch(x)
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels + shape[-1], x)


def test_tapes_keep_residuals_until_they_release_them():
    x = tf.constant(np.random.default_rng(0).standard_normal((4, 32, 32, 16)).astype(np.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = max_pool(x)
    (residual,) = [
        weakref.ref(s) for saved in tape._log.saved if saved for s in saved if isinstance(s, library.torch().Tensor)
    ]
    assert residual().nbytes <= x.numpy().nbytes
    assert tape.memory().total == x.numpy().nbytes + y.numpy().nbytes + residual().nbytes
    tape.gradient(y, x)
    assert residual() is None


def bare(x):
    return tuple(map(bare, x)) if isinstance(x, tuple) and x and hasattr(x[0], "array") else getattr(x, "array", x)


@ALL_FLOATS
@pytest.mark.parametrize("seed", range(8))
def test_steps_overwrite_only_what_no_later_step_reads(dtype, seed):
    unary = [np.exp, np.negative, np.abs, np.tanh, np.square, np.sqrt, np.floor]
    binary = [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.arctan2]

    def formula(*inputs):
        rng, known = np.random.default_rng(seed), list(inputs)
        for _ in range(20):
            a, b = (known[i] for i in rng.integers(0, len(known), 2))
            b = b if rng.random() < 0.8 else dtype(0.5)
            x, y = (a, b) if rng.random() < 0.5 else (b, a)
            known.append(rng.choice(unary)(a) if rng.random() < 0.4 else rng.choice(binary)(x, y))
            if rng.random() < 0.2:
                known.append((known[-1] > 0).astype(known[-1].dtype))
        return known[-1] + sum(known[len(inputs) : -1 : 3])

    run = compile_steps(trace_formula(formula, [np.dtype(dtype)] * 3))
    rng = np.random.default_rng(seed)
    for shapes in (((5, 4),) * 3, ((5, 4), (4,), ()), ((0, 4),) * 3, ((),) * 3):
        arrays = [np.asarray(rng.uniform(0.1, 1, shape), dtype) for shape in shapes]
        tensors = [library.torch().from_numpy(x.copy()) for x in arrays]
        with np.errstate(all="ignore"):
            assert_close(run(*tensors).numpy(), np.asarray(formula(*arrays)), dtype)
        assert all((x.numpy() == y).all() for x, y in zip(tensors, arrays, strict=True))


def test_casts_round_as_in_numpy():
    values = np.random.default_rng(0).standard_normal(SIZE) * 10.0 ** np.random.default_rng(1).uniform(-9, 6, SIZE)
    values[:9] = SPECIAL
    for given in (np.float16, np.float32, np.float64):
        for wanted in (np.float16, np.float32, np.float64):
            with np.errstate(all="ignore"):
                x = values.astype(given)
                expected = x.astype(wanted)
            found = tf.cast(tf.constant(x), wanted).numpy()
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == wanted


def test_every_kernel_is_of_an_op():
    assert set(KERNELS) | set(VJPS) <= set(registry)


@pytest.mark.parametrize("name", ["log_softmax", "logsumexp", "max", "min", "softmax"])
def test_gradients_along_rows(name):
    x = np.random.default_rng(3).standard_normal((512, 64)).astype(np.float32)
    x[::3, 5] = x[::3, 9]  # ties share the gradient
    op = registry[name]
    attrs = {"axis": 1 if name.endswith("softmax") else (1,)}

    def gradient(rows):
        source = tf.constant(rows)
        with tf.GradientTape() as tape:
            tape.watch(source)
            y = op.call(source, **attrs)
            total = tf.reduce_sum(y * y)
        return tape.gradient(total, source).numpy()

    assert_close(gradient(x)[:16], gradient(x[:16]), np.float32)


@FLOATS
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("f", [tf.nn.softmax, tf.nn.log_softmax])
def test_a_softmax_beside_inf_is_not_nan(f, axis, dtype):
    x = np.random.default_rng(3).standard_normal((64, 64, 64)).astype(dtype)
    x[(3, 3, 3)] = np.inf
    beside = [3, 3, 3]
    beside[axis] = slice(4, 9)
    np.testing.assert_array_equal(f(x, axis).numpy()[tuple(beside)], 0 if f is tf.nn.softmax else -np.inf)


def test_read_only_arrays_do_not_warn(recwarn):
    x = read_only(np.ones(SIZE, np.float32))
    assert tf.exp(tf.constant(x)).numpy()[0] == np.float32(np.e)
    assert not recwarn


def test_threads_compute_the_same():
    x = tf.constant(np.random.default_rng(0).standard_normal((256, 512)).astype(np.float32))
    expected = tf.nn.softmax(tf.exp(x)).numpy()
    found = []

    def work():
        found.extend([tf.nn.softmax(tf.exp(x)).numpy() for _ in range(5)])

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 15 and all(np.array_equal(y, expected) for y in found)


FORK = """
import os, signal, sys
import gradtape as tf
x = tf.ones([1 << 18])
tf.exp(x)  # starts the threads of PyTorch
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(0 if float(tf.reduce_sum(tf.exp(x * 0.0))) == 1 << 18 else 1)
sys.exit(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_processes_do_not_hang():
    environment = {**os.environ, "OMP_NUM_THREADS": "4"}
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], env=environment, check=True, timeout=120)


@pytest.mark.parametrize("choice", ["numpy", ""])
def test_the_environment_turns_it_off(choice):
    program = (
        "import gradtape as tf; from gradtape.backends.torch.library import IS_ENABLED; "
        "print(IS_ENABLED, type(tf.exp(tf.ones([1 << 18])).array.base).__name__ == 'Tensor')"  # PyTorch's
    )
    environment = {**os.environ, "GRADTAPE_KERNELS": choice}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(choice != "numpy")] * 2


@pytest.mark.parametrize("label", [-1, 8, -100, -(1 << 63)])
def test_labels_out_of_range_are_reported(label):
    labels, logits = np.zeros(1024, np.int32 if abs(label) < 1 << 31 else np.int64), np.zeros((1024, 8), np.float32)
    labels[5] = label
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"Received a label value of {label} which is outside"):
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_matrices_without_an_inverse_are_reported(value):
    x = tf.constant(np.full((128, 128), value, np.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.linalg.inv(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.linalg.solve(x, x)


@FLOATS
def test_large_products_are_those_of_numpy(dtype):
    """Of matrices in any layout, which PyTorch computes, and of smaller ones."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        rows, columns, inner = (int(n) for n in rng.choice([0, 1, 7, 64, 200], 3))
        a, b = rng.normal(size=(rows, inner)).astype(dtype), rng.normal(size=(inner, columns)).astype(dtype)
        a, b = (LAYOUTS[rng.choice(sorted(LAYOUTS))](x) for x in (a, b))
        assert_close(blocks.product(a, b), np.dot(a, b), dtype, np.sqrt(inner + 1))


@ALL_FLOATS
def test_arrays_of_pytorch_and_views_of_them_convert_to_tensors_of_their_memory(dtype):
    t, convert, rng = library.torch(), library.to_tensor(), np.random.default_rng(5)
    for _ in range(30):
        x = t.from_numpy(rng.normal(size=rng.integers(1, 6, rng.integers(0, 4))).astype(dtype)).mul(2).numpy()
        views = [x, x.T, x[..., :1] if x.ndim else x, x.reshape(-1), x.view(f"i{x.itemsize}"), x.copy()]
        for array in (*views, *[y[()] for y in views if not y.ndim]):
            tensor = convert(array)
            assert tensor.numpy().dtype == array.dtype and tensor.shape == array.shape
            np.testing.assert_array_equal(tensor.numpy(), array)
            assert type(array) is not np.ndarray or tensor.data_ptr() == array.ctypes.data


def test_scalars_convert_to_tensors_of_their_own():
    convert = library.to_tensor()
    numbers = [dtype(x) for dtype in (np.float32, np.float64, np.int64) for x in (0.0, -0.0, 1.0, 3.0)]
    for x in [*numbers, *map(np.float32, range(600)), *numbers]:
        y = convert(x).numpy()[()]
        assert (y.dtype, y.tobytes()) == (x.dtype, x.tobytes())


@pytest.mark.parametrize("threads", [1, 2])
@FLOATS
def test_one_thread_computes_the_same_as_several(threads, dtype):
    before = library.torch().get_num_threads()
    library.torch().set_num_threads(threads)
    try:
        rng = np.random.default_rng(threads)
        for shape, row in (
            ((SIZE,), ()),
            ((SIZE // 8, 8), (8,)),
            ((64, SIZE // 64), (64, 1)),
            ((SIZE // 8, 8), (1, 1)),
        ):
            a, b = (rng.uniform(0.5, 2, size).astype(dtype) for size in (shape, row))
            x, y = tf.constant(a), tf.constant(b)
            with tf.GradientTape() as tape:
                tape.watch([x, y])
                z = (x * y - x / y) * tf.tanh(x) + tf.square(x) * tf.sin(y) + tf.maximum(x, y)
            found, slopes = z.numpy(), tape.gradient(z, [x, y])
            assert_close(found, (a * b - a / b) * np.tanh(a) + a * a * np.sin(b) + np.maximum(a, b), dtype)
            slope = (b - 1 / b) * np.tanh(a) + (a * b - a / b) / np.cosh(a) ** 2 + 2 * a * np.sin(b)
            slope = slope + np.where(a == b, dtype(0.5), (a > b).astype(dtype))
            assert_close(slopes[0].numpy(), slope.astype(dtype), dtype)
            other = (
                (a + a / (b * b)) * np.tanh(a) + a * a * np.cos(b) + np.where(a == b, dtype(0.5), (a < b).astype(dtype))
            )
            np.testing.assert_allclose(slopes[1].numpy(), _summed(other.astype(np.float64), row), rtol=1e-3)
    finally:
        library.torch().set_num_threads(before)


def _summed(x, shape):
    """Sums an array over the axes along which an array of `shape` is broadcast to it."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    return x.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True).reshape(shape)


@FLOATS
def test_slopes_of_gelu_are_the_same_beside_numbers_that_overflow(dtype):
    rng = np.random.default_rng(0)
    x = (rng.normal(size=SIZE) * 10.0 ** rng.uniform(-8, 12, SIZE)).astype(dtype)
    weights = tf.constant(rng.normal(size=SIZE).astype(dtype))

    def slopes(array):
        x = tf.constant(array)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.gelu(x, approximate=True)
        return tape.gradient(y, x, output_gradients=weights).numpy()

    before = slopes(x)
    x[0] = np.inf
    assert np.isfinite(before).all() and np.isnan(slopes(x)[0])
    np.testing.assert_array_equal(slopes(x)[1:], before[1:])


@pytest.fixture(scope="module")
def numpy_process():
    process = numpy_kernels()
    yield process
    process.close()


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed, numpy_process):
    """Their results and gradients, on arrays of every size; `python -m random_programs --kernels` runs more."""
    program = generate(seed, is_large=True)
    found = disagreements(program, ("numpy",), {"numpy": numpy_process})
    assert not found, "\n".join([*found, program.source(alone=True)])
