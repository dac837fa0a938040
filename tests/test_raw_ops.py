"""`tf.raw_ops`: a recorded case covers every row of its table; and behavior beyond the recorded results."""

import re

import numpy as np
import pytest
from test_recorded import recorder

import gradtape as tf
from gradtape.api.raw_ops.rows import rows

# Ops that need a file, a clock, or a constant's dtype as an argument, and ops that only libraries call; tested below.
OTHERS = {
    "Const", "ReadFile", "WriteFile", "Timestamp", "DecodeBmp", "DecodeGif", "DecodePng", "EncodePng",
    "BroadcastGradientArgs", "RandomGammaGrad", "StatelessRandomGetAlg",
    "RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt", "RandomShuffle", "Multinomial",
    "GenerateVocabRemapping", "GetSessionHandle",
    "RandomIndexShuffle",  # its cases are those of tf.random.experimental.index_shuffle
}  # fmt: skip
ON_VARIABLES = {
    "ReadVariableOp", "ResourceGather", "ResourceGatherNd", "ResourceApplyGradientDescent", "VariableShape",
    "VarIsInitializedOp",
}  # fmt: skip


def test_every_row_has_a_recorded_case():
    cases = [*recorder.load("raw_ops"), *recorder.load("optimizer_ops")]
    tried = {name.partition("(")[0] for name, _ in cases}
    subject = __import__("sys").modules["subject_raw_ops"]
    tried |= {op for _, source in recorder.load("upstream_corners") for op in re.findall(r"raw_ops\.(\w+)", source)}
    tried |= {name for name, _ in subject.VARIABLE_OPS} | set(subject.ND_OPS) | ON_VARIABLES
    assert set(rows()) - tried == OTHERS
    assert len(rows()) > 380


def test_ops_are_made_once_and_known_to_dir():
    assert tf.raw_ops.AddV2 is tf.raw_ops.AddV2
    assert {"AddV2", "Any", "MatMul"} <= set(dir(tf.raw_ops))
    with pytest.raises(AttributeError, match="NoSuchOp"):
        tf.raw_ops.NoSuchOp  # noqa: B018


def test_ops_that_draw():
    for op, low, high in (("RandomUniform", 0, 1), ("RandomStandardNormal", -9, 9), ("TruncatedNormal", -2, 2)):
        x, y = (getattr(tf.raw_ops, op)(shape=[200], dtype=tf.float32).numpy() for _ in range(2))
        assert low <= x.min() < x.max() <= high and (x != y).any()
    limits = {"minval": tf.constant(3, tf.int64), "maxval": tf.constant(6, tf.int64)}
    integers = tf.raw_ops.RandomUniformInt(shape=[100], **limits)
    assert set(integers.numpy().tolist()) == {3, 4, 5} and integers.dtype == tf.int64
    assert sorted(tf.raw_ops.RandomShuffle(value=[1, 2, 3]).numpy().tolist()) == [1, 2, 3]
    chosen = tf.raw_ops.Multinomial(logits=[[0.0, -1e9]], num_samples=5, output_dtype=tf.int32)
    assert chosen.numpy().tolist() == [[0] * 5] and chosen.dtype == tf.int32
    assert int(tf.raw_ops.StatelessRandomGetAlg()) == 1  # Philox


def test_a_vocabulary_is_remapped(tmp_path):
    new, old = tmp_path / "new", tmp_path / "old"
    new.write_text("MISSING\nknitting\neminem\n")
    old.write_text("knitting\neminem\nMISSING\n")
    files = {"new_vocab_file": str(new), "old_vocab_file": str(old)}
    found = tf.raw_ops.GenerateVocabRemapping(**files, new_vocab_offset=0, num_new_vocab=3, old_vocab_size=2)
    assert found.remapping.numpy().tolist() == [-1, 0, 1] and int(found.num_present) == 2


def test_sessions_are_none():
    with pytest.raises(tf.errors.FailedPreconditionError, match="null session state"):
        tf.raw_ops.GetSessionHandle(value=[1])


def test_noise_of_glimpses_is_in_the_range_of_the_image():
    image = tf.random.uniform([2, 3, 3, 1], 5, 6)
    for noise in ("uniform", "gaussian"):
        glimpse = tf.image.extract_glimpse(image, [9, 9], [[0.0, 0.0]] * 2, noise=noise)
        assert glimpse.shape == (2, 9, 9, 1) and 5 <= tf.reduce_min(glimpse) <= tf.reduce_max(glimpse) <= 6


def test_files_and_images(tmp_path):
    pytest.importorskip("PIL")
    image = tf.constant([[[1], [2]]], tf.uint8)
    path = str(tmp_path / "image.png")
    tf.raw_ops.WriteFile(filename=path, contents=tf.raw_ops.EncodePng(image=image))
    contents = tf.raw_ops.ReadFile(filename=path)
    assert tf.raw_ops.DecodePng(contents=contents).numpy().tolist() == image.numpy().tolist()
    assert tf.raw_ops.Const(value=[1.0], dtype=tf.float32).numpy().tolist() == [1.0]
    assert tf.raw_ops.Timestamp().dtype == tf.float64


@pytest.mark.parametrize(
    ("s0", "s1", "expected"),
    [
        ([2, 3], [3], ([], [0])), ([2, 1, 3], [4, 1], ([1], [0, 2])), ([], [2], ([0], [])), ([1, 1], [1, 1], ([], [])),
        ([0, 3], [1, 3], ([], [0])), ([1], [5, 1], ([0, 1], [1])),
    ],
)  # fmt: skip
def test_axes_of_gradients_that_were_stretched(s0, s1, expected):
    found = tf.raw_ops.BroadcastGradientArgs(s0=tf.constant(s0, tf.int32), s1=tf.constant(s1, tf.int32))
    assert (found.r0.numpy().tolist(), found.r1.numpy().tolist()) == expected


LSTMS = {  # by options, the first two steps of each output in TensorFlow
    (): [
        0.5866176,
        0.6786667,
        0.8935454,
        1.2229931,
        0.6224594,
        0.7493789,
        0.6681878,
        0.8307012,
        0.4621171,
        0.8154062,
        0.7131405,
        0.8405349,
        0.4765118,
        0.6982333,
    ],
    (("use_peephole", True), ("cell_clip", 0.2)): [
        0.7005671,
        0.69288,
        0.2,
        0.2,
        0.7310586,
        0.7553287,
        0.6899745,
        0.8255589,
        0.4621171,
        0.7782255,
        0.1973753,
        0.1973753,
        0.1361839,
        0.162945,
    ],
}


@pytest.mark.parametrize("options", LSTMS)
def test_an_lstm_over_the_steps_that_count(options):
    x = tf.constant([[[0.5]], [[1.0]], [[2.0]]])
    w = tf.constant([[0.7, 1.0, 1.0, 1.4], [0.1, 0.2, 0.3, 0.4]])
    at = dict.fromkeys(("wci", "wcf", "wco"), tf.constant([0.5]))
    found = tf.raw_ops.BlockLSTMV2(
        seq_len_max=2, x=x, cs_prev=tf.ones((1, 1)), h_prev=tf.zeros((1, 1)), w=w, b=tf.zeros(4), **at, **dict(options)
    )
    assert {tuple(y.shape) for y in found} == {(3, 1, 1)}
    assert all(float(y[2, 0, 0]) == 0.0 for y in found)
    assert [float(y[t, 0, 0]) for y in found for t in (0, 1)] == pytest.approx(LSTMS[options], rel=1e-5)


def test_derivatives_of_gamma_functions():
    by_a = tf.raw_ops.IgammaGradA(a=tf.constant([0.5, 2.0, 3.0]), x=tf.constant([1.0, 0.3, 4.0]))
    assert by_a.numpy().tolist() == pytest.approx([-0.38983727, -0.07982416, -0.17824739], rel=1e-5)
    drawn = tf.raw_ops.RandomGammaGrad(alpha=tf.constant([0.5, 2.0]), sample=tf.constant([1.0, 0.3]))
    assert drawn.numpy().tolist() == pytest.approx([1.8782471, 0.35917112], rel=1e-5)


def test_in_a_function_and_under_a_tape():
    @tf.function
    def f(x):
        return tf.raw_ops.Sum(input=tf.raw_ops.Mul(x=x, y=x), axis=0)

    x = tf.constant([1.0, 2.0])
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert (float(y), tape.gradient(y, x).numpy().tolist()) == (5.0, [2.0, 4.0])


def test_an_op_of_the_table_has_its_gradient_already():
    with pytest.raises(KeyError, match="Registering two gradient with name 'Tanh'"):
        tf.RegisterGradient("Tanh")(lambda op, grad: grad)


def test_a_number_takes_the_dtype_of_what_it_is_chosen_against():
    found = tf.compat.v1.where(tf.constant(True), tf.constant(2.0, tf.float64), 1.0)
    assert (float(found), found.dtype) == (2.0, tf.float64)
    assert tf.compat.v1.where(tf.constant(False), 1.0, tf.constant(2.0, tf.float64)).dtype == tf.float64


def test_boundaries_of_buckets_are_floats():
    assert tf.raw_ops.Bucketize(input=[-1, 0, 2], boundaries=[-0.5, 0.5]).numpy().tolist() == [0, 1, 2]
    assert tf.raw_ops.Bucketize(input=np.array([0.1]), boundaries=[0.1]).numpy().tolist() == [0]  # float32's is larger


def test_both_seeds_of_an_op_choose_its_stream():
    raw = tf.raw_ops
    tf.random.set_seed(1)  # has no influence
    draws = [
        lambda: raw.RandomStandardNormal(shape=[2], dtype=tf.float32, seed=5, seed2=7),
        lambda: raw.TruncatedNormal(shape=[2], dtype=tf.float32, seed=5, seed2=0),
        lambda: raw.RandomUniform(shape=[2], dtype=tf.float32, seed=5, seed2=7),
        lambda: raw.RandomUniformInt(shape=[2], minval=0, maxval=100, seed=0, seed2=9),
        lambda: raw.RandomShuffle(value=tf.range(5), seed=5, seed2=7),
        lambda: raw.Multinomial(logits=[[0.0, 0.0, 0.0]], num_samples=5, seed=5, seed2=7)[0],
    ]
    tensorflows = [
        ([-0.87252676, -0.920335], [-1.2815717, -0.32294098]), ([-1.7138785, -0.6787023], [-0.2950869, -0.21065663]),
        ([0.44746375, 0.620757], [0.41754687, 0.7107128]), ([33, 61], [79, 76]),
        ([0, 4, 3, 2, 1], [4, 1, 0, 3, 2]), ([1, 0, 1, 0, 0], [2, 0, 1, 0, 2]),
    ]  # fmt: skip
    for draw, numbers in zip(draws, tensorflows, strict=True):
        np.testing.assert_allclose([draw(), draw()], numbers, rtol=1e-6)
        traced = tf.function(draw)
        np.testing.assert_allclose([traced(), traced()], numbers, rtol=1e-6)
    assert not np.array_equal(*(raw.RandomUniform(shape=[4], dtype=tf.float32) for _ in range(2)))


def test_attributes_change_results_or_are_refused():
    raw, x = tf.raw_ops, tf.reshape(tf.range(36.0), [1, 6, 6, 1])
    two, three = tf.ones([2]), tf.ones([3])
    assert not raw.Equal(x=two, y=three, incompatible_shape_error=False)
    assert raw.NotEqual(x=two, y=three, incompatible_shape_error=False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        raw.Equal(x=two, y=three)
    at = {"indices": [[7], [0]], "bad_indices_policy": "IGNORE"}
    scattered = {"Add": [5, 1], "Sub": [-3, 1], "Max": [4, 1], "Min": [1, 1], "Update": [4, 1]}
    for name, result in scattered.items():
        op = getattr(raw, f"TensorScatter{name}")
        assert op(tensor=two, updates=[2.0, 4.0], **at).numpy().tolist() == result
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not index into"):
            op(tensor=two, updates=[2.0, 4.0], indices=[[7], [0]])
    assert raw.ScatterNd(updates=[2.0, 4.0], shape=[2], **at).numpy().tolist() == [4, 0]
    assert raw.GatherNd(params=two, **at).numpy().tolist() == [0, 1]
    for name, result in {"Add": [5, 1], "Sub": [-3, 1], "Update": [4, 1]}.items():
        v = tf.Variable(two)
        getattr(raw, f"ResourceScatterNd{name}")(ref=v.handle, updates=[2.0, 4.0], **at)
        assert v.numpy().tolist() == result
    stream = {"shape": [2], "key": tf.constant([3], tf.uint64), "counter": tf.constant([3, 4], tf.uint64)}
    np.testing.assert_allclose(raw.StatelessRandomUniformV2(**stream, alg=3), [0.9217179, 0.22804546])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unsupported algorithm id: 2"):
        raw.StatelessRandomUniformV2(**stream, alg=2)
    with pytest.raises(tf.errors.UnimplementedError, match="Truncate=True is not implemented"):
        raw.Cast(x=two, DstT=tf.bfloat16, Truncate=True)
    ratio = {"value": x, "pooling_ratio": [1.0, 1.5, 1.5, 1.0]}
    once, again = (raw.FractionalAvgPool(**ratio, deterministic=True) for _ in range(2))
    assert np.array_equal(once.row_pooling_sequence, again.row_pooling_sequence)
    with pytest.raises(tf.errors.InvalidArgumentError, match="should be 0 if deterministic is false"):
        raw.FractionalAvgPool(**ratio, seed=5)
    assert raw.IsotonicRegression(input=[[1, 2]], output_dtype=tf.float64).output.dtype is tf.float64
