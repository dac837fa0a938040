"""SavedModels of functions whose signatures leave sizes or ranks open."""

import functools
import re

import numpy as np
import pytest
from saved_modules import module_of

import gradtape as tf

S = tf.TensorSpec


def test_a_number_that_is_a_size_stays_open(tmp_path):
    module = module_of(lambda n: tf.tile([[1.0]], [tf.cast(n, tf.int32), 1]), S([]))
    module.g = tf.function(lambda n, x: tf.reshape(x, [n, -1]), input_signature=[S([], tf.int32), S([12])])
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    assert [loaded.f(tf.constant(float(n))).shape for n in (0, 1, 3)] == [(0, 1), (1, 1), (3, 1)]
    assert [loaded.g(tf.constant(n), tf.zeros([12])).shape for n in (2, 6)] == [(2, 6), (6, 2)]


def test_a_rank_that_is_open_stays_open(tmp_path):
    class Scaled(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable(2.0)

        @tf.function
        def __call__(self, x):
            return {"y": self.v * x + 1.0}

        @tf.function(input_signature=[S(None, tf.float32), S(None, tf.float32)])
        def product(self, x, y):
            return x * y

    module = Scaled()
    call = module.__call__.get_concrete_function(S(None, tf.float32))
    tf.saved_model.save(module, tmp_path / "model", signatures=call)
    loaded = tf.saved_model.load(tmp_path / "model")
    for x in (tf.constant(3.0), tf.range(2.0), tf.ones([2, 3]), tf.ones([1, 2, 3, 4])):
        for y in (loaded(x)["y"], loaded.signatures["serving_default"](x)["y"]):
            assert y.numpy().tolist() == (2.0 * x + 1.0).numpy().tolist()
        assert loaded.product(x, x).numpy().tolist() == (x * x).numpy().tolist()
    assert loaded.signatures["serving_default"].structured_outputs == {"y": S(None, tf.float32, "y")}


@pytest.mark.parametrize(
    ("function", "lowest_rank"),
    [
        (tf.reduce_sum, 0), (lambda x: x - tf.reduce_mean(x), 0), (lambda x: tf.clip_by_norm(x, 0.5), 0),
        (lambda x: tf.reduce_max(x, keepdims=True), 0), (tf.size, 0), (tf.rank, 0), (tf.reduce_logsumexp, 0),
        (lambda x: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x, lambda: -x), 0), (tf.nn.softmax, 1),
        (lambda x: tf.reduce_sum(x, axis=-1), 1), (lambda x: tf.reduce_sum(x, axis=0), 1), (tf.transpose, 0),
    ],
)  # fmt: skip
def test_all_axes_of_an_open_rank(tmp_path, function, lowest_rank):
    tf.saved_model.save(module_of(function, S(None, tf.float32)), tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    for x in (tf.constant(-3.0), tf.constant([1.0, -2.0]), tf.ones([2, 3, 1, 2]))[lowest_rank:]:
        np.testing.assert_allclose(loaded.f(x), function(x), rtol=1e-6)


def test_what_depends_on_an_open_rank_is_refused(tmp_path):
    module = tf.Module()
    module.turned = tf.function(lambda x: tf.tile(x, tf.fill([tf.rank(x)], 2)), input_signature=[S(None, tf.float32)])
    with pytest.raises(tf.errors.UnimplementedError, match="cannot be saved in a SavedModel"):
        tf.saved_model.save(module, tmp_path / "model")


def test_shapes_that_depend_on_values(tmp_path):
    module = module_of(lambda x: tf.boolean_mask(x, x > 0) - 1.0, S([None]))
    module.g = tf.function(lambda x: tf.reshape(tf.where(x > 0), [-1]), input_signature=[S([4])])
    module.h = tf.function(lambda x: tf.zeros_like(tf.boolean_mask(x, x > 0))[:, None] + tf.ones([1, 2]), [S([None])])
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    assert loaded.f(tf.constant([3.0, -1.0, 2.0])).numpy().tolist() == [2, 1]
    assert loaded.f(tf.constant([-1.0] * 5)).shape == (0,)
    assert loaded.g(tf.constant([1.0, 0.0, 0.0, 2.0])).numpy().tolist() == [0, 3]
    assert loaded.h(tf.constant([1.0, 0.0, 3.0])).shape == (2, 2)


def test_a_matrix_that_must_have_an_inverse(tmp_path):
    module = module_of(lambda x: tf.linalg.inv(x), S([None, None]))
    tf.saved_model.save(module, tmp_path / "m")
    found = tf.saved_model.load(tmp_path / "m").f(tf.constant([[2.0, 0.0], [0.0, 4.0]]))
    np.testing.assert_allclose(found, [[0.5, 0], [0, 0.25]])


@pytest.mark.parametrize(
    "function, shapes, given",
    [
        (lambda x: x - np.arange(9, dtype=np.float32), [[None, None]], [[[2, 9]], [[5, 1]], [[1, 9]]]),
        (lambda x: (x - np.ones(9, np.float32)) @ np.ones([9, 4], np.float32), [[None, None]], [[[2, 9]], [[3, 1]]]),
        (lambda x: x * tf.cast(tf.shape(x)[1], tf.float32) - np.ones(9, np.float32), [[None, None]],
         [[[2, 9]], [[2, 1]]]),
        (lambda x, y: x - np.ones(9, np.float32) + y, [[None, None], [None]],
         [[[2, 9], [9]], [[2, 1], [9]], [[2, 9], [1]]]),
    ],
)  # fmt: skip
def test_open_sizes_that_a_constant_determines(tmp_path, function, shapes, given):
    module = module_of(function, *[S(shape, tf.float32) for shape in shapes])
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    rng = np.random.default_rng(0)
    for sizes in given:
        xs = [tf.constant(rng.normal(size=size).astype(np.float32)) for size in sizes]
        np.testing.assert_array_equal(loaded.f(*xs), module.f(*xs))
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        loaded.f(*[tf.ones([7 for _ in shape]) for shape in shapes])


def test_an_open_size_that_a_product_or_a_branch_determines(tmp_path):
    def folded(x):
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.reshape(tf.reshape(x, [-1]), [tf.shape(x)[0], 3]), lambda: -x)

    module = module_of(folded, S([None, None]))
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    for sign in (1.0, -1.0):
        np.testing.assert_array_equal(loaded.f(sign * tf.ones([4, 3])), tf.ones([4, 3]))


def turned_once(x, y):
    return tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, tf.concat([z[:, 1:3], y[:, :1]], 1)), [0, x])[1]


def branches_apart(x, y):
    z = tf.cond(tf.reduce_sum(x) > 0.0, lambda: (y + tf.reduce_mean(x, 1, keepdims=True)) * tf.ones([1, 3]), lambda: x)
    return y + tf.reduce_mean(z, 0, keepdims=True)


def never_run(x, y):
    def goes_on(i, z):
        return tf.logical_and(i < 2, tf.reduce_sum(z) < -100.0)

    return tf.while_loop(goes_on, lambda i, z: (i + 1, z * tf.ones([1, 3]) + y), [0, x])[1]


@pytest.mark.parametrize("function", [turned_once, branches_apart, never_run])
def test_open_sizes_that_a_loop_or_branches_determine(tmp_path, function):
    """Some sizes follow from shapes that a loop must keep, others from branches, or a body that never ran."""
    module = module_of(function, S([None, None]), S([None, None]))
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    rng = np.random.default_rng(0)
    for rows in (2, 5):
        x, y = (tf.constant(rng.normal(size=[rows, 3]).astype("f")) for _ in range(2))
        for sign in (1.0, -1.0):
            np.testing.assert_allclose(loaded.f(sign * x, y), module.f(sign * x, y), rtol=1e-6)


WEIGHTS = np.arange(12, dtype=np.float32).reshape(3, 4)

RELATED_SIZES = {
    "stack": (lambda x, y: tf.stack([x @ WEIGHTS, y]), [2, 2], [[[5, 3], [5, 4]]]),
    "stack of columns": (lambda x, y: tf.stack([x[:, 0], y[:, 1]]), [2, 2], [[[4, 3], [4, 2]]]),
    "concat": (lambda x, y: tf.concat([x @ WEIGHTS, y], 1), [2, 2], [[[5, 3], [5, 2]]]),
    "concat with a constant": (lambda x: tf.concat([x, WEIGHTS], 0), [2], [[[2, 4]]]),
    "reshape": (lambda x, y: tf.reshape(tf.reshape(x, [-1]), tf.shape(y)), [2, 2],
                [[[4, 3], [4, 3]], [[2, 6], [3, 4]]]),
    "reshape of a product": (lambda x, y: tf.reshape(tf.reshape(x @ WEIGHTS, [-1]), tf.shape(y)), [2, 2],
                             [[[5, 3], [5, 4]]]),
    "reshape in pairs": (lambda x: tf.reshape(x, [-1, 2]), [2], [[[4, 3]], [[3, 2]]]),
    "reshape in halves": (lambda x: tf.reshape(x, [tf.shape(x)[0] // 2, 2, tf.shape(x)[1]]), [2], [[[4, 3]]]),
    "matmul": (lambda x, y: tf.matmul(x, y, transpose_a=True) @ WEIGHTS, [2, 2], [[[4, 5], [4, 3]]]),
    "square": (lambda x: x @ x, [2], [[[5, 5]]]),
    "where": (lambda x, y: tf.where(x > 0, x @ tf.ones([3, 3]), y), [2, 2], [[[4, 3], [4, 3]]]),
    "einsum": (lambda x, y: tf.einsum("bi,ij,bj->b", x, WEIGHTS, y), [2, 2], [[[5, 3], [5, 4]]]),
    "attention": (lambda q, k, v: tf.einsum("bqk,bkd->bqd", tf.nn.softmax(tf.einsum("bqd,bkd->bqk", q, k)), v),
                  [3, 3, 3], [[[2, 4, 3], [2, 5, 3], [2, 5, 7]]]),
    "tensordot": (lambda x, y: tf.tensordot(x, y, [[0, 1], [1, 0]]), [2, 2], [[[4, 3], [3, 4]]]),
    "cross entropy": (lambda x, y: tf.nn.softmax_cross_entropy_with_logits(y, x), [2, 2], [[[2, 5], [2, 5]]]),
    "scatter": (lambda x, y: tf.tensor_scatter_nd_add(x, [[0], [0]], y), [2, 2], [[[3, 5], [2, 5]]]),
    "cross": (tf.linalg.cross, [2, 2], [[[4, 3], [4, 3]]]),
    "split": (lambda x: tf.split(x, 3, axis=1)[1], [2], [[[3, 6]]]),
    "diagonal": (tf.linalg.set_diag, [2, 1], [[[4, 4], [4]], [[4, 6], [4]]]),
    "trace": (lambda x: tf.linalg.trace(x @ WEIGHTS), [2], [[[4, 3]]]),
    "blocks": (lambda x: tf.nn.space_to_depth(x, 2), [4], [[[1, 4, 6, 3]]]),
    "repeated": (lambda x, y: tf.concat([tf.repeat(x, 2, 1), y], -1), [3, 3], [[[1, 4, 2], [1, 8, 3]]]),
    "sparse": (lambda x: tf.sparse.sparse_dense_matmul(tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 4]), x), [2],
               [[[4, 2]]]),
    "stitch": (lambda x, y: tf.dynamic_stitch([[0, 2], [1, 3]], [x, y]), [2, 2], [[[2, 3], [2, 3]]]),
    "five": (lambda a, b, c, d, e: (a @ b + c) @ d + e, [2] * 5, [[[2, 8], [8, 3], [2, 3], [3, 5], [2, 5]]]),
}  # fmt: skip


@pytest.mark.parametrize("name", RELATED_SIZES)
def test_open_sizes_that_an_op_relates(tmp_path, name):
    """The invented sizes clash in each; the loaded function takes every size that the live one does."""
    function, ranks, given = RELATED_SIZES[name]
    module = module_of(function, *[S([None] * rank, tf.float32) for rank in ranks])
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    rng = np.random.default_rng(0)
    for shapes in given:
        xs = [tf.constant(rng.normal(size=shape).astype(np.float32)) for shape in shapes]
        np.testing.assert_allclose(loaded.f(*xs), module.f(*xs), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [[], [None]])
def test_a_loop_that_would_not_end_for_made_up_values_is_saved(tmp_path, shape):
    def f(x):
        y = tf.constant(1.0)
        while y < 100.0:
            y *= tf.reduce_sum(x)  # for input 1 the loop never ends
        return y

    module = tf.Module()
    module.f = tf.function(f, input_signature=[tf.TensorSpec(shape, tf.float32)])
    tf.saved_model.save(module, tmp_path)
    three = tf.fill([1] * len(shape), 3.0)
    assert float(tf.saved_model.load(tmp_path).f(three)) == float(module.f.get_concrete_function()(three)) == 243.0


def test_the_shape_of_a_ragged_result_stays_open(tmp_path):
    module = module_of(lambda r: r * 2.0, tf.RaggedTensorSpec([None, None], tf.float32))
    tf.saved_model.save(module, tmp_path / "m")
    (concrete,) = tf.saved_model.load(tmp_path / "m").f.concrete_functions
    assert concrete.structured_outputs.shape.as_list() == [None, None]


V, IMAGES = [None], [2, None, None, 3]


def at_sizes(function):
    """Returns the function of a vector and its size."""
    return lambda x: function(x, x.shape[0])


# What saving does with a function of open sizes: the file is right at every size, or there is none.
OUTCOMES = {
    "first half": (at_sizes(lambda x, n: x[: n // 2]), V, "right"),
    "first half of the shape": (lambda x: x[: tf.shape(x)[0] // 2], V, "right"),
    "second half": (at_sizes(lambda x, n: x[n // 2 :]), V, "right"),
    "halves swapped": (at_sizes(lambda x, n: tf.concat([x[n // 2 :], x[: n // 2]], 0)), V, "right"),
    "larger half": (at_sizes(lambda x, n: x[: -(-n // 2)]), V, "right"),
    "median": (at_sizes(lambda x, n: tf.sort(x)[n // 2]), V, "right"),
    "percentile": (at_sizes(lambda x, n: tf.sort(x)[int(n * 0.9)]), V, "right"),
    "top half": (at_sizes(lambda x, n: tf.math.top_k(x, n // 2)[0]), V, "right"),
    "third": (at_sizes(lambda x, n: x[: n // 3]), V, "right"),
    "every other": (lambda x: x[::2], V, "right"),
    "every third": (lambda x: x[1::3], V, "right"),
    "differences": (lambda x: x[1:] - x[:-1], V, "right"),
    "rfft": (lambda x: tf.abs(tf.signal.rfft(x)), V, "right"),
    "fftshift": (tf.signal.fftshift, V, "right"),
    "ifftshift": (tf.signal.ifftshift, V, "right"),
    "frames": (lambda x: tf.signal.frame(x, 3, 2), V, "right"),
    "short STFT": (lambda x: tf.abs(tf.signal.stft(x, 4, 2)), V, "refused"),
    "STFT": (lambda x: tf.abs(tf.signal.stft(x, 400, 160)), V, "refused"),
    "resize to half": (lambda x: tf.image.resize(x, [x.shape[1] // 2, x.shape[2] // 2]), IMAGES, "refused"),
    "resize": (lambda x: tf.image.resize(x, [16, 16]), IMAGES, "refused"),
    "central crop": (lambda x: tf.image.central_crop(x, 0.5), IMAGES, "right"),
    "crop or pad": (lambda x: tf.image.resize_with_crop_or_pad(x, 8, 8), IMAGES, "refused"),
    "pooling": (lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), IMAGES, "right"),
    "strides": (lambda x: tf.nn.conv2d(x, np.ones([3, 3, 3, 2], "f"), 2, "SAME"), IMAGES, "right"),
    "pad to a multiple": (at_sizes(lambda x, n: tf.pad(x, [[0, -n % 4]])), V, "right"),
    "pad to a power of two": (at_sizes(lambda x, n: tf.pad(x, [[0, (1 << (n - 1).bit_length()) - n]])), V, "refused"),
    "remainder": (at_sizes(lambda x, n: x + float(n % 3)), V, "right"),
    "at least": (at_sizes(lambda x, n: tf.fill([max(n, 4)], tf.reduce_sum(x))), V, "right"),
    "at most": (at_sizes(lambda x, n: x[: min(n, 512)]), V, "right"),
    "at most 1000": (at_sizes(lambda x, n: x[: min(n, 1000)]), V, "right"),
    "at most 700 of two sizes": (lambda x: x[:, : min(x.shape[1], 700)], [None, None], "right"),
    "all but a row of 512, in many steps": (lambda x: functools.reduce(lambda y, _: tf.sin(y), range(40), x)[
        x.shape[0] // 512 :], [None, None], "refused"),
    "top 700": (at_sizes(lambda x, n: tf.math.top_k(x, min(n, 700))[0]), V, "right"),
    "at most 4": (at_sizes(lambda x, n: x[: min(n, 4)]), V, "right"),
    "at most 4 in a branch": (lambda x: tf.cond(tf.reduce_sum(x) > 99.0,
                                                lambda: tf.roll(x @ WEIGHTS, min(x.shape[0], 4), 0),
                                                lambda: x @ WEIGHTS), [None, None], "refused"),
    "size 2 in a branch": (at_sizes(lambda x, n: tf.cond(tf.reduce_sum(x) > 99.0, lambda: x + 1.0 if n == 2 else x,
                                                         lambda: x)), V, "refused"),
    "four fifths, rounded up": (at_sizes(lambda x, n: x[: n - n // 5]), V, "right"),
    "at most, constrained": (lambda x: tf.roll(x @ WEIGHTS, min(x.shape[0], 4), 0), [None, None], "refused"),
    "last 512": (lambda x: x[-512:], V, "right"),
    "window": (at_sizes(lambda x, n: x * tf.signal.hann_window(n)), V, "refused"),
    "positions": (at_sizes(lambda x, n: x * tf.linspace(0.0, 1.0, n)), V, "refused"),
    "square root": (at_sizes(lambda x, n: x / np.float32(np.sqrt(n))), V, "refused"),
    "pairs": (at_sizes(lambda x, n: tf.fill([n * (n - 1) // 2], tf.reduce_sum(x))), V, "refused"),
    "condition on a size": (at_sizes(lambda x, n: x * 2.0 if n > 10 else x * 3.0), V, "refused"),
    "condition on a large size": (at_sizes(lambda x, n: x * 2.0 if n > 518 else x), V, "refused"),
    "condition on a size of 1000": (at_sizes(lambda x, n: x * 2.0 if n > 1000 else x), V, "refused"),
    "condition in the graph": (lambda x: tf.cond(tf.shape(x)[0] > 1000, lambda: x * 2.0, lambda: x), V, "refused"),
    "remainder of 17": (at_sizes(lambda x, n: x + float(n % 17)), V, "refused"),
    "matrix of places": (at_sizes(lambda x, n: tf.gather(x, np.add.outer(range(n), range(n)) % n)), V, "refused"),
    "condition on the size 2": (at_sizes(lambda x, n: x + 1.0 if n == 2 else x), V, "refused"),
    "factor of a difference": (lambda x, y: (x - y) * float(len(x) == 2), [V, V], "refused"),
    "half in a branch": (at_sizes(lambda x, n: tf.cond(tf.reduce_sum(x) > 99.0, lambda: tf.reduce_sum(x[: n // 2]),
                                                       lambda: 0.0)), V, "right"),
    "window in a branch": (at_sizes(lambda x, n: tf.cond(tf.reduce_sum(x) > 99.0,
                                                         lambda: x * tf.signal.hann_window(n), lambda: x)), V,
                           "refused"),
    "two sizes": (lambda x, y: tf.reduce_sum(x[: x.shape[0] // 2]) + y[: y.shape[0] // 3], [V, V], "right"),
}  # fmt: skip


def outcome_of_saving(function, shapes, folder):
    """Saves a function and runs it at eleven sizes: returns "right", "wrong at …" or "refused"."""
    module = module_of(function, *[S(shape, tf.float32) for shape in shapes])
    try:
        tf.saved_model.save(module, folder)
    except tf.errors.UnimplementedError as error:
        assert re.search(rf"{re.escape(__file__)}:\d+", str(error)), error
        return "refused"
    loaded = tf.saved_model.load(folder)
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 4, 6, 9, 31, 64, 514, 1000, 1501):
        if len(shapes[0]) < 4 or n < 100:
            arrays = [rng.normal(size=[k or n + i for k in shape]) for i, shape in enumerate(shapes)]
            xs = [tf.constant(array, tf.float32) for array in arrays]
            try:
                wanted = tf.function(function)(*xs)
            except tf.errors.InvalidArgumentError:
                continue
            found = loaded.f(*xs)
            if found.shape != wanted.shape or not np.allclose(found, wanted, rtol=1e-4, atol=1e-4):
                return f"wrong at {n}"
    return "right"


def test_files_for_open_sizes_are_right_or_refused(tmp_path):
    found = {}
    for i, (name, (function, shapes, _)) in enumerate(OUTCOMES.items()):
        shapes = shapes if isinstance(shapes[0], list) else [shapes]
        found[name] = outcome_of_saving(function, shapes, tmp_path / str(i))
    assert found == {name: outcome for name, (_, _, outcome) in OUTCOMES.items()}


def test_sizes_that_a_function_rejects_do_not_refuse_its_file(tmp_path):
    def f(x):
        if x.shape[0] < 3 or x.shape[0] > 500:
            raise ValueError("between 3 and 500 numbers, please")
        return x[2:]

    tf.saved_model.save(module_of(f, S([None])), tmp_path / "m")
    assert tf.saved_model.load(tmp_path / "m").f(tf.range(6.0)).numpy().tolist() == [2, 3, 4, 5]


def test_a_function_that_accepts_no_size_but_the_first_ones_is_refused(tmp_path):
    def f(x):
        if x.shape[0] not in (3, 5, 7):
            raise ValueError("another size")
        return x

    with pytest.raises(tf.errors.UnimplementedError, match=r"(?s)fails at all that were tried: .*another size"):
        tf.saved_model.save(module_of(f, S([None])), tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_runs_at_other_sizes_have_no_side_effects(tmp_path, capsys):
    module = tf.Module()
    module.v = tf.Variable(3.0)
    module.generator = tf.random.Generator.from_seed(5)

    def f(x):
        module.v.assign_add(tf.reduce_sum(x[: x.shape[0] // 2]))
        tf.print("running", x)
        return x * tf.random.uniform([]) + module.v

    module.f = tf.function(f, input_signature=[S([None], tf.float32)])
    tf.random.set_seed(1)
    first = tf.random.uniform([]).numpy()
    tf.random.set_seed(1)
    tf.saved_model.save(module, tmp_path / "m")
    assert float(module.v) == 3.0 and tf.random.uniform([]).numpy() == first
    assert capsys.readouterr() == ("", "")
    loaded = tf.saved_model.load(tmp_path / "m")
    loaded.f(tf.ones([6]))
    assert float(loaded.v) == 6.0


def test_the_error_names_the_line_that_depends_on_a_size(tmp_path):
    def f(x):
        y = x + 1.0
        y = y * 2.0 if x.shape[0] > 10 else y  # the line
        return y - 1.0

    line = f.__code__.co_firstlineno + 2
    with pytest.raises(tf.errors.UnimplementedError, match=rf"{re.escape(__file__)}:{line}.*Give the size"):
        tf.saved_model.save(module_of(f, S([None])), tmp_path / "m")
