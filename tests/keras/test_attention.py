"""Keras' attention layers: the fused op gives what the layers compute step by step, with every kind of mask."""

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras
RNG = np.random.default_rng(0)
QUERY, VALUE = (RNG.normal(size=(3, n, 6)).astype("f") for n in (5, 7))
MASK = RNG.random((3, 5, 7)) < 0.6
MASK[..., 0] = True  # where all is masked, the layers' own steps give zeros, and the op, as on JAX, the mean
CALLS = {
    "plain": {},
    "causal": {"use_causal_mask": True},
    "mask": {"attention_mask": MASK},
    "causal mask": {"attention_mask": MASK, "use_causal_mask": True},
    "padding": {"value_mask": np.arange(7) < [[7], [2], [4]]},
    "padding and causal": {"value_mask": np.arange(7) < [[7], [2], [4]], "use_causal_mask": True},
}
LAYERS = {
    "heads": lambda: keras.layers.MultiHeadAttention(2, 3),
    "values of another size": lambda: keras.layers.MultiHeadAttention(2, 3, value_dim=4, output_shape=5),
    "groups": lambda: keras.layers.GroupQueryAttention(head_dim=2, num_query_heads=4, num_key_value_heads=2),
}


def results(layer, scores, **options):
    """The output and the gradients; with `scores`, by the layer's own steps, which return the weights, too."""

    def step(query, value):
        with tf.GradientTape() as tape:
            tape.watch([query, value])
            y = layer(query, value, **options, **({"return_attention_scores": True} if scores else {}))
            y = y[0] if scores else y
            loss = tf.reduce_sum(tf.sin(tf.cast(y, "float32")))
        return [y, *tape.gradient(loss, [query, value, *layer.trainable_variables])]

    return step


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", LAYERS)
def test_layers(kind, call):
    layer = LAYERS[kind]()
    query, value = tf.constant(QUERY), tf.constant(VALUE)
    layer.build(query.shape, value.shape)
    known = results(layer, True, **CALLS[call])(query, value)
    found = results(layer, False, **CALLS[call])
    for y, expected in zip(found(query, value), known, strict=True):
        np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
    nodes = [node.type for node in tf.function(found).get_concrete_function(query, value).graph.get_operations()]
    assert "Softmax" not in nodes
    assert nodes.count("ScaledDotProductAttention") == nodes.count("ScaledDotProductAttentionBack") == 1
    if kind == "heads":
        for y, expected in zip(tf.function(found, jit_compile=True)(query, value), known, strict=True):
            np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision(policy):
    layer = keras.layers.MultiHeadAttention(2, 3, dtype=policy)
    query, value = tf.constant(QUERY), tf.constant(VALUE)
    layer.build(query.shape, value.shape)
    found = results(layer, False, **CALLS["padding and causal"])
    known = results(layer, True, **CALLS["padding and causal"])(query, value)
    for step in (found, tf.function(found), tf.function(found, jit_compile=True)):
        for y, expected in zip(step(query, value), known, strict=True):
            assert y.dtype == expected.dtype
            np.testing.assert_allclose(np.asarray(y, "f"), np.asarray(expected, "f"), rtol=0.1, atol=0.05)


def test_arguments():
    q, k, v = (tf.constant(RNG.normal(size=(2, 4, heads, 3)).astype("f")) for heads in (4, 2, 2))
    attend = keras.ops.dot_product_attention
    mask = RNG.random((2, 4, 4, 4)) < 0.6
    np.testing.assert_allclose(
        attend(q, k, v, mask=mask.astype("int32")), attend(q, k, v, bias=np.where(mask, 0, -1e9)), rtol=1e-5, atol=1e-5
    )
    np.testing.assert_allclose(attend(q, k, v, mask=mask[0, 0]), attend(q, k, v, mask=mask[:1, :1]), rtol=1e-6)
    np.testing.assert_allclose(attend(q, k[:1], v[:1])[0], attend(q[:1], k[:1], v[:1])[0], rtol=1e-6)
    scale = tf.Variable(0.3)
    with tf.GradientTape() as tape:
        y = attend(q, k, v, scale=scale)
    np.testing.assert_allclose(y, attend(q, k, v, scale=0.3), rtol=1e-5, atol=1e-6)
    assert tape.gradient(y, scale) is not None
    with pytest.raises(ValueError, match=r"`mask` must be broadcastable.*\(2, 4, 4, 4\).*mask.shape=\(3, 4\)"):
        attend(q, k, v, mask=mask[0, 0, :3])
    with pytest.raises(ValueError, match="4D"):
        attend(q[0], k[0], v[0])


@pytest.mark.parametrize("jit", [False, True])
def test_training(jit):
    """A small model learns which token is repeated, in `fit`."""
    tokens = keras.Input((6,), dtype="int32")
    h = keras.layers.Embedding(9, 8, mask_zero=True)(tokens)
    h = h + keras.layers.MultiHeadAttention(2, 4)(h, h, use_causal_mask=True)
    model = keras.Model(tokens, keras.layers.Dense(9)(h))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.05), loss, jit_compile=jit)
    x = RNG.integers(1, 9, (32, 6))
    x[:, 4:] = 0
    losses = model.fit(x, np.repeat(x[:, :1], 6, 1), epochs=8, batch_size=16, verbose=0).history["loss"]
    assert losses[-1] < losses[0] * 0.9


def test_saved_models(tmp_path):
    """A file has TensorFlow's own ops, for any batch size and length."""
    class Attends(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, None, 4, 3], tf.float32)])
        def __call__(self, q):
            bias, mask = tf.transpose(q[..., :1], (0, 2, 3, 1)), tf.transpose(q[..., 1:2], (0, 2, 3, 1)) > -0.5
            k, v = q[:, :, :2], q[:, :, 2:]
            shared = keras.ops.dot_product_attention(q, k, v, bias=bias, mask=mask, is_causal=True)
            return shared + keras.ops.dot_product_attention(q, q, q, scale=0.4)

    module = Attends()
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    for shape in ((2, 5, 4, 3), (1, 1, 4, 3)):
        q = RNG.normal(size=shape).astype("f")
        np.testing.assert_allclose(loaded(tf.constant(q)), module(tf.constant(q)), rtol=1e-5, atol=1e-6)
