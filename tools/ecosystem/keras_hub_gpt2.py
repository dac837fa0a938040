"""keras-hub: GPT-2: logits, gradients, generated tokens."""

import keras_hub
import numpy as np
import tensorflow as tf


def numbers():
    random = np.random.RandomState(0)
    backbone = keras_hub.models.GPT2Backbone(
        vocabulary_size=30, num_layers=2, num_heads=2, hidden_dim=8, intermediate_dim=16, max_sequence_length=12,
        dropout=0.0,
    )  # fmt: skip
    model = keras_hub.models.GPT2CausalLM(backbone=backbone, preprocessor=None)
    for variable in backbone.trainable_variables:
        variable.assign(random.randn(*variable.shape).astype("float32") * 0.3)
    tokens = tf.constant(random.randint(0, 30, size=(2, 8)))
    inputs = {"token_ids": tokens, "padding_mask": tf.ones((2, 8), tf.int32)}
    found = {"logits": model(inputs)[:, -1]}
    with tf.GradientTape() as tape:
        logits = model(inputs)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tokens[:, 1:], logits[:, :-1]))
    gradients = tape.gradient(loss, [v.value for v in backbone.trainable_variables])
    found |= {"loss": loss, "gradients": [float(tf.norm(tf.convert_to_tensor(g))) for g in gradients]}
    model.compile(sampler="greedy", optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(True))
    mask = np.zeros((2, 8), "int32")
    mask[:, :4] = 1
    written = model.generate({"token_ids": tokens.numpy().astype("int32"), "padding_mask": mask}, stop_token_ids=None)
    found["written"] = written["token_ids"]
    return found
