"""`gradient(per="example")` and `per="loss"`: the same as one sweep for each, on Keras models and by hand."""

import numpy as np
import pytest
from case_groups import check_cases

import gradtape as tf

keras = tf.keras
L = keras.layers
RNG = np.random.default_rng(0)


def transformer():
    tokens = keras.Input((6,), dtype="int32")
    h = L.Embedding(11, 8)(tokens)
    h = L.LayerNormalization()(h + L.MultiHeadAttention(2, 4)(h, h))
    return keras.Model(tokens, L.Dense(3)(L.GlobalAveragePooling1D()(L.Dense(16, "gelu")(h))))


MODELS = {
    "mlp": (lambda: [L.Dense(8, "tanh"), L.Dense(3)], (5,)),
    "cnn": (lambda: [L.Conv2D(4, 3, activation="relu"), L.MaxPooling2D(), L.Flatten(), L.Dense(3)], (8, 8, 2)),
    "norms": (
        lambda: [L.Conv2D(4, 2, 2, "same"), L.GroupNormalization(2), L.BatchNormalization(), L.GlobalMaxPooling2D(),
                 L.LayerNormalization(), L.Dense(3)], (8, 8, 2),
    ),
    "other convolutions": (
        lambda: [L.DepthwiseConv2D(3), L.AveragePooling2D(2), L.Conv2DTranspose(3, 2), L.Flatten(), L.Dense(3)],
        (8, 8, 2),
    ),
    "recurrent": (lambda: [L.LSTM(4, return_sequences=True), L.GRU(3), L.Dense(3)], (6, 2)),
}  # fmt: skip


def losses_of(model, x, y):
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None)(y, model(x, training=False))


def check(model, x, y):
    weights = model.trainable_variables
    with tf.GradientTape(persistent=True) as tape:
        losses = losses_of(model, x, y)
    found = tape.gradient(losses, weights, per="example")
    norms = tape.gradient(losses, weights, per="example", norms=True)
    for i in range(len(y)):
        with tf.GradientTape() as tape:
            loss = losses_of(model, x[i : i + 1], y[i : i + 1])
        alone = [tf.convert_to_tensor(g).numpy() for g in tape.gradient(loss, weights)]
        for all_of_them, norm, g in zip(found, norms, alone, strict=True):
            np.testing.assert_allclose(all_of_them[i], g, rtol=1e-3, atol=2e-6)
            np.testing.assert_allclose(norm[i], np.linalg.norm(g), rtol=1e-3, atol=2e-6)


@pytest.mark.parametrize("name", MODELS)
def test_each_example_of_a_model(name):
    layers, shape = MODELS[name]
    model = keras.Sequential([keras.Input(shape), *layers()])
    check(model, RNG.normal(size=(4, *shape)).astype(np.float32), np.array([0, 2, 1, 0]))


def test_each_example_of_a_transformer_where_sizes_agree_by_chance():
    check(transformer(), RNG.integers(0, 11, (8, 6)), np.arange(8) % 3)  # 8 examples, 8 features


def test_what_mixes_examples_is_exact_too():
    x = tf.constant(RNG.normal(size=(5, 3)))
    w = tf.Variable(RNG.normal(size=(3, 2)))
    with tf.GradientTape(persistent=True) as tape:
        h = x @ w
        h = (h - tf.reduce_mean(h, 0)) / tf.math.reduce_std(h, 0)
        losses = tf.reduce_sum(tf.sort(h, axis=0) ** 3 + tf.reverse(h, [0]), 1)
    found = tape.gradient(losses, w, per="example", check_rows=False)
    np.testing.assert_allclose(found, tape.jacobian(losses, w), rtol=1e-9, atol=1e-12)


def built(layer):
    layer.build((4, 3))
    return layer


BATCH_NORMALIZATION, LAYER_NORMALIZATION = built(L.BatchNormalization()), built(L.LayerNormalization())
COMBINING = {
    "batch normalization": lambda h: BATCH_NORMALIZATION(h, training=True),
    "moments": lambda h: tf.nn.batch_normalization(h, *tf.nn.moments(h, [0]), None, None, 0.001),
    "fused": lambda h: tf.compat.v1.nn.fused_batch_norm(h[:, None, None], tf.ones(3), tf.zeros(3))[0][:, 0, 0],
    "the mean": lambda h: h - tf.reduce_mean(h, 0), "the norm": lambda h: h / tf.norm(h),
    "the largest": lambda h: h / tf.reduce_max(h, 0), "softmax": lambda h: tf.nn.softmax(h, 0),
    "sorted": lambda h: tf.sort(h, axis=0), "cumulative": lambda h: tf.cumsum(h), "shifted": lambda h: tf.roll(h, 1, 0),
    "all pairs": lambda h: tf.nn.log_softmax(h @ tf.transpose(h)),
    "before a fallback": lambda h: tf.nn.log_softmax(h - tf.reduce_mean(h, 0)),
    "in a function": tf.function(lambda h: h - tf.reduce_mean(h, 0)),
}  # fmt: skip
INDEPENDENT = {
    "dropout": lambda h: tf.nn.dropout(h, 0.5), "layer normalization": LAYER_NORMALIZATION,
    "inference": lambda h: BATCH_NORMALIZATION(h, training=False),
    "transposed": lambda h: tf.transpose(tf.sort(tf.transpose(h), axis=0)),
    "one by one": lambda h: tf.map_fn(tf.sin, h),
    "recomputed": lambda h: tf.recompute_grad(tf.tanh)(h), "fallback": lambda h: h + tf.transpose(tf.transpose(h)),
    "in a function": tf.function(lambda h: tf.nn.l2_normalize(h, 1)),
}  # fmt: skip


def losses_after(layer, whole, dtype="float32"):
    """The gradients of examples whose hidden values pass through `layer`; `whole` compiles the tape, too."""
    x, w = (tf.cast(RNG.normal(size=size), dtype) for size in [(4, 5), (5, 3)])
    w = tf.Variable(w)

    def gradients(x, **kwargs):
        with tf.GradientTape() as tape:
            losses = tf.reduce_sum(layer(tf.tanh(x @ w)) ** 2, 1)
        return tape.gradient(losses, w, per="example", **kwargs)

    return lambda **kwargs: tf.function(lambda x: gradients(x, **kwargs))(x) if whole else gradients(x, **kwargs)


@pytest.mark.parametrize("whole", [False, True])
def test_examples_that_depend_on_each_other_are_refused(whole):
    def check(layer):
        gradients = losses_after(layer, whole)
        with pytest.raises(ValueError, match="the loss of an example depends on other examples"):
            gradients()
        assert gradients(check_rows=False).shape == (4, 5, 3)

    eager_only = {"all pairs", "before a fallback"}  # a trace does not join the cotangents behind a fallback again
    check_cases(check, {name: (layer,) for name, layer in COMBINING.items() if not (whole and name in eager_only)})


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_examples_that_depend_on_each_other_are_refused_where_cotangents_are_added_in_float32(dtype):
    gradients = losses_after(lambda h: h - tf.reduce_mean(h, 0, keepdims=True), whole=False, dtype=dtype)
    with pytest.raises(ValueError, match="the loss of an example depends on other examples"):
        gradients()


@pytest.mark.parametrize("whole", [False, True])
def test_independent_examples_are_not_refused(whole):
    def check(layer):
        assert losses_after(layer, whole)().shape == (4, 5, 3)

    check_cases(check, {name: (layer,) for name, layer in INDEPENDENT.items()})


def test_norms_and_cosines_refuse_dependent_examples_too():
    x, w = tf.constant(RNG.normal(size=(4, 5))), tf.Variable(RNG.normal(size=(5, 3)))
    with tf.GradientTape(persistent=True) as tape:
        h = x @ w
        losses = tf.reduce_sum((h - tf.reduce_mean(h, 0)) ** 3, 1)
    queries = {
        "norms": lambda **given: tape.gradient(losses, w, per="example", norms=True, **given),
        "cosines": lambda **given: tape.cosines(losses, w, per="example", **given),
        "example_norms": lambda **given: tf.inspect.example_norms(tape, losses, w, **given),
    }
    for query in queries.values():
        with pytest.raises(ValueError, match="depends on other examples"):
            query()
        query(check_rows=False)


def test_losses_of_several_entries_tables_and_sources_without_a_path():
    table, other = tf.Variable(RNG.normal(size=(6, 2))), tf.Variable([1.0])
    with tf.GradientTape(persistent=True) as tape:
        losses = tf.nn.embedding_lookup(table, [[3, 1], [3, 3], [0, 5]]) ** 2
    found, none = tape.gradient(losses, [table, other], per="example")
    np.testing.assert_allclose(found, tf.reduce_sum(tape.jacobian(losses, table), [1, 2]))
    assert none is None
    zero = tape.gradient(losses, other, per="example", unconnected_gradients="zero")
    assert zero.numpy().tolist() == [[0.0]] * 3


def test_each_loss_and_the_angle_between_them():
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        first, second = tf.reduce_sum(w**2), w[0] * 3.0
    found = tape.gradient([first, second], w, per="loss")
    assert found.numpy().tolist() == [[2.0, 4.0], [3.0, 0.0]]
    norms = tape.gradient([first, second], w, per="loss", norms=True)
    np.testing.assert_allclose(norms, [np.sqrt(20.0), 3.0])
    cosine = tape.cosines([first, second], w)
    np.testing.assert_allclose(cosine, [[1, 2 / np.sqrt(20.0)], [2 / np.sqrt(20.0), 1]], rtol=1e-6)


def two_tasks():
    inputs = keras.Input((5,))
    h = L.Dense(6, "tanh", name="shared")(inputs)
    return keras.Model(inputs, [L.Dense(1)(h), L.Dense(3)(h)])


def test_cosines_between_the_tasks_of_a_model():
    model = two_tasks()
    x, y = RNG.normal(size=(8, 5)).astype(np.float32), np.arange(8) % 3

    def losses_of():
        value, logits = model(x)
        return tf.reduce_mean(value**2), tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))

    weights = model.trainable_variables
    with tf.GradientTape(persistent=True) as tape:
        losses = losses_of()
    found = tape.cosines(losses, weights).numpy()
    zero = tf.UnconnectedGradients.ZERO
    flat = [
        np.concatenate([g.numpy().ravel() for g in tape.gradient(loss, weights, unconnected_gradients=zero)])
        for loss in losses
    ]
    lengths = [np.linalg.norm(g) for g in flat]
    np.testing.assert_allclose(found, np.array(flat) @ np.array(flat).T / np.outer(lengths, lengths), rtol=1e-5)

    @tf.function
    def compiled():
        with tf.GradientTape() as tape:
            losses = losses_of()
        return tape.cosines(losses, weights)

    np.testing.assert_allclose(compiled(), found, rtol=1e-5)


def test_cosines_between_examples_and_where_there_is_no_gradient():
    x, w = tf.constant([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0], [-1.0, 0.0]]), tf.Variable([[1.0], [1.0]])
    other = tf.Variable([2.0])
    with tf.GradientTape(persistent=True) as tape:
        losses = tf.reduce_sum(x @ w, 1)
        first, nothing = losses[0], tf.reduce_sum(other * 0.0)
    found = tape.cosines(losses, [w, other], per="example")
    np.testing.assert_allclose(found, [[1, 0, 1, -1], [0, 1, 0, 0], [1, 0, 1, -1], [-1, 0, -1, 1]])
    assert tape.cosines([first, nothing], w).numpy().tolist() == [[1.0, 0.0], [0.0, 0.0]]
    with pytest.raises(ValueError, match="a loss for each example"):
        tape.cosines(nothing, w, per="example")
    with pytest.raises(ValueError, match="none of the losses depends"):
        tape.cosines([losses[0], nothing], w)  # sliced outside the block
    with pytest.raises(ValueError, match="real numbers"):
        tape.cosines(losses, tf.Variable([1]))


def test_in_a_function_and_under_another_tape():
    x, w = tf.constant(RNG.normal(size=(4, 3))), tf.Variable(RNG.normal(size=(3, 2)))

    def apart():
        with tf.GradientTape() as tape:
            losses = tf.reduce_sum(tf.sin(x @ w), 1)
        return tape.gradient(losses, w, per="example")

    np.testing.assert_allclose(tf.function(apart)(), apart())
    with tf.GradientTape() as outer:
        total = tf.reduce_sum(apart() ** 2)
    with tf.GradientTape() as reference:
        with tf.GradientTape() as tape:
            losses = tf.reduce_sum(tf.sin(x @ w), 1)
        expected = tf.reduce_sum(tape.jacobian(losses, w) ** 2)
    np.testing.assert_allclose(outer.gradient(total, w), reference.gradient(expected, w))


@pytest.mark.parametrize("dtype", [tf.complex128, tf.bfloat16])
def test_norms_are_real_lengths_in_every_dtype(dtype):
    x, w = tf.cast(RNG.normal(size=(4, 3)), dtype), tf.Variable(tf.cast(RNG.normal(size=(3, 2)), dtype))
    turn = tf.constant(1 + 2j, dtype) if dtype.is_complex else tf.constant(2.0, dtype)
    with tf.GradientTape(persistent=True) as tape:
        losses = tf.reduce_sum(tf.math.real((x @ w) * turn), 1)
    rows = tape.gradient(losses, w, per="example")
    norms = tape.gradient(losses, w, per="example", norms=True)
    expected = [np.linalg.norm(tf.cast(g, tf.complex128)) for g in rows]
    np.testing.assert_allclose(tf.cast(norms, tf.float64), expected, rtol=1e-9 if dtype.is_complex else 0.02)


def test_clipping_by_example_in_three_lines():
    x, w = tf.constant(RNG.normal(size=(6, 3))), tf.Variable(RNG.normal(size=(3, 1)))
    with tf.GradientTape(persistent=True) as tape:
        losses = tf.reduce_sum((x @ w) ** 2, 1)
    norms = tape.gradient(losses, w, per="example", norms=True)
    clipped = tape.gradient(losses, w, output_gradients=tf.minimum(1.0, 0.5 / norms))
    rows = tape.gradient(losses, w, per="example")
    np.testing.assert_allclose(clipped, tf.reduce_sum(tf.clip_by_norm(rows, 0.5, [1, 2]), 0))


@pytest.mark.parametrize(
    "target, options, message",
    [
        (lambda w: tf.reduce_sum(w), {"per": "example"}, "a loss for each example"),
        (lambda w: w, {"per": "batch"}, "per must be"),
        (lambda w: w, {"norms": True}, "per='example'"),
        (lambda w: w, {"per": "example", "output_gradients": tf.ones(2)}, "weigh the losses"),
    ],
)
def test_bad_questions(target, options, message):
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = target(w * 1.0)
    with pytest.raises(ValueError, match=message):
        tape.gradient(y, w, **options)
    assert tape.gradient(y, w) is not None  # the tape is still usable


def test_norms_of_complex_gradients_and_of_no_examples():
    z, other = tf.Variable([1 + 2j, 3 - 1j]), tf.Variable([1j])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.math.real(tf.reduce_sum(tf.ones([3, 2], z.dtype) * z, axis=1))
        none = tf.math.real(tf.reduce_sum(tf.ones([0, 2], z.dtype) * z, axis=1))
    norms = tape.gradient(y, [z, other], per="example", norms=True, unconnected_gradients="zero")
    assert [(g.dtype.is_complex, g.shape) for g in norms] == [(False, (3,))] * 2
    found, unconnected = tape.gradient(none, [z, other], per="example")
    assert found.shape == (0, 2) and unconnected is None


@pytest.mark.parametrize("per", ["example", "loss"])
def test_norms_of_halves_do_not_overflow(per):
    w = tf.Variable(tf.ones([2], tf.float16))
    x = tf.constant([[300.0, 400.0], [3.0, 4.0]], tf.float16)
    with tf.GradientTape() as tape:
        losses = tf.linalg.matvec(x, w)
        losses = losses if per == "example" else [losses[0], losses[1]]
    norms = tape.gradient(losses, w, per=per, norms=True)
    assert norms.dtype == tf.float16 and norms.numpy().tolist() == [500.0, 5.0]
