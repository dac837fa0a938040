"""What a classifier attends to: saliency, integrated gradients and an adversarial step, all gradients for the input."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(3)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((8, 8, 3)),
        tf.keras.layers.Conv2D(6, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(4),
    ]
)
model.set_weights([rng.normal(size=w.shape).astype("float32") for w in model.get_weights()])
model.trainable = False

image = tf.constant(rng.uniform(size=(1, 8, 8, 3)).astype("float32"))
with tf.GradientTape() as tape:
    tape.watch(image)
    scores = model(image)
    top = tf.reduce_max(scores, axis=1)
saliency = tf.reduce_max(tf.abs(tape.gradient(top, image)), axis=-1)[0]
print("scores", scores.numpy())
print("class", int(tf.argmax(scores[0])), "largest saliency", float(tf.reduce_max(saliency)))
print("rows", tf.reduce_sum(saliency, axis=1).numpy())

target = int(tf.argmax(scores[0]))
alphas = tf.linspace(0.0, 1.0, 21)[:, tf.newaxis, tf.newaxis, tf.newaxis]
path = alphas * image
with tf.GradientTape() as tape:
    tape.watch(path)
    logits = model(path)[:, target]
gradients = tape.gradient(logits, path)
average = tf.reduce_mean((gradients[:-1] + gradients[1:]) / 2.0, axis=0)
attribution = (image * average)[0]
print("attribution", float(tf.reduce_sum(attribution)), "score change", float(logits[-1] - logits[0]))

label = tf.one_hot([target], 4)
with tf.GradientTape() as tape:
    tape.watch(image)
    loss = tf.keras.losses.categorical_crossentropy(label, model(image), from_logits=True)
adversarial = tf.clip_by_value(image + 0.05 * tf.sign(tape.gradient(loss, image)), 0, 1)
after = tf.keras.losses.categorical_crossentropy(label, model(adversarial), from_logits=True)
print("loss", float(loss[0]), "after the step", float(after[0]))
