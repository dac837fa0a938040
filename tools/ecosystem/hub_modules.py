"""tensorflow-hub: a SavedModel, loaded with hub.load and as a layer that is trained with fit."""

import os
import tempfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tensorflow_hub as hub
from weights import set_weights


class Encoder(tf.train.Checkpoint):
    def __init__(self, random):
        super().__init__()
        self.kernel = tf.Variable(random.randn(4, 5).astype("float32"))
        self.bias = tf.Variable(random.randn(5).astype("float32"))
        self.variables = self.trainable_variables = [self.kernel, self.bias]  # which the layer reads
        self.regularization_losses = [tf.function(self.penalty, input_signature=[])]

    def penalty(self):
        return 0.01 * tf.reduce_sum(tf.square(self.kernel))

    @tf.function(input_signature=[tf.TensorSpec((None, 4), tf.float32)])
    def __call__(self, x):
        return tf.tanh(x @ self.kernel + self.bias)

    @tf.function(input_signature=[tf.TensorSpec((None, 4), tf.float32)])
    def scores(self, x):
        return {"scores": tf.nn.softmax(x @ self.kernel)}


def numbers():
    random = np.random.RandomState(0)
    encoder = Encoder(random)
    x = random.randn(16, 4).astype("float32")
    y = (x.sum(1) > 0).astype("float32")
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(encoder, folder, signatures={"scores": encoder.scores, "default": encoder.scores})
        loaded = hub.load(folder)
        found = {"loaded": loaded(x), "signature": loaded.signatures["scores"](x=tf.constant(x))["scores"]}
        frozen = hub.KerasLayer(folder, signature="scores", output_key="scores", signature_outputs_as_dict=False)
        found["layer"] = frozen(x) if not isinstance(frozen(x), dict) else frozen(x)["scores"]
        layer = hub.KerasLayer(folder, trainable=True, input_shape=(4,), output_shape=(5,), dtype=tf.float32)
        model = tf.keras.Sequential([layer, tf.keras.layers.Dense(1, activation="sigmoid")])
        set_weights(model.layers[1])
        model.compile(tf.keras.optimizers.SGD(0.5), "binary_crossentropy")
        history = model.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=0).history
        found |= {"losses": history["loss"], "weights": np.concatenate([np.ravel(w) for w in model.get_weights()])}
    return found
