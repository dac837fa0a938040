"""Deep dream: a `tf.function` with a signature of unknown sizes, a tape in its loop, and tiles of a rolled image."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(3)
inputs = tf.keras.Input((None, None, 3))
x = tf.keras.layers.Conv2D(4, 3, activation="relu", padding="same", name="mixed3")(inputs)
x = tf.keras.layers.MaxPooling2D()(x)
x = tf.keras.layers.Conv2D(4, 3, activation="relu", padding="same", name="mixed5")(x)
base_model = tf.keras.Model(inputs, x)
base_model.set_weights([rng.normal(0, 0.4, w.shape) for w in base_model.get_weights()])
layers = [base_model.get_layer(name).output for name in ["mixed3", "mixed5"]]
dream_model = tf.keras.Model(inputs=base_model.input, outputs=layers)


def calc_loss(img, model):
    layer_activations = model(tf.expand_dims(img, axis=0))
    return tf.reduce_sum([tf.math.reduce_mean(act) for act in layer_activations])


class DeepDream(tf.Module):
    def __init__(self, model):
        self.model = model

    @tf.function(
        input_signature=(
            tf.TensorSpec(shape=[None, None, 3], dtype=tf.float32),
            tf.TensorSpec(shape=[], dtype=tf.int32),
            tf.TensorSpec(shape=[], dtype=tf.float32),
        )
    )
    def __call__(self, img, steps, step_size):
        loss = tf.constant(0.0)
        for _ in tf.range(steps):
            with tf.GradientTape() as tape:
                tape.watch(img)
                loss = calc_loss(img, self.model)
            gradients = tape.gradient(loss, img)
            gradients /= tf.math.reduce_std(gradients) + 1e-8
            img = img + gradients * step_size
            img = tf.clip_by_value(img, -1, 1)
        return loss, img


def random_roll(img, maxroll, seed):
    shift = tf.random.stateless_uniform(shape=[2], seed=seed, minval=-maxroll, maxval=maxroll, dtype=tf.int32)
    return shift, tf.roll(img, shift=shift, axis=[0, 1])


class TiledGradients(tf.Module):
    def __init__(self, model):
        self.model = model

    @tf.function(
        input_signature=(
            tf.TensorSpec(shape=[None, None, 3], dtype=tf.float32),
            tf.TensorSpec(shape=[2], dtype=tf.int32),
            tf.TensorSpec(shape=[], dtype=tf.int32),
        )
    )
    def __call__(self, img, img_size, tile_size=512):
        shift, img_rolled = random_roll(img, tile_size, [5, 6])
        gradients = tf.zeros_like(img_rolled)
        xs = tf.range(0, img_size[1], tile_size)[:-1]
        if not tf.cast(len(xs), bool):
            xs = tf.constant([0])
        ys = tf.range(0, img_size[0], tile_size)[:-1]
        if not tf.cast(len(ys), bool):
            ys = tf.constant([0])
        for x in xs:
            for y in ys:
                with tf.GradientTape() as tape:
                    tape.watch(img_rolled)
                    img_tile = img_rolled[y : y + tile_size, x : x + tile_size]
                    loss = calc_loss(img_tile, self.model)
                gradients = gradients + tape.gradient(loss, img_rolled)
        gradients = tf.roll(gradients, shift=-shift, axis=[0, 1])
        gradients /= tf.math.reduce_std(gradients) + 1e-8
        return gradients


img = rng.uniform(-1, 1, (16, 20, 3)).astype("float32")
deepdream = DeepDream(dream_model)
dreamt, steps_remaining, step = tf.convert_to_tensor(img), 25, 0
while steps_remaining:
    run_steps = tf.constant(10) if steps_remaining > 10 else tf.constant(steps_remaining)
    steps_remaining -= run_steps
    step += run_steps
    loss, dreamt = deepdream(dreamt, run_steps, tf.constant(0.01))
    print(f"Step {step}, loss {loss}")
print(dreamt[0, :2].numpy())
get_tiled_gradients = TiledGradients(dream_model)
for octave in range(-1, 2):
    new_size = tf.cast(tf.cast([16, 20], tf.float32) * (1.3**octave), tf.int32)
    resized = tf.image.resize(img, new_size)
    gradients = get_tiled_gradients(resized, new_size, tile_size=tf.constant(8))
    print(new_size.numpy(), gradients.shape, gradients[3, 3].numpy(), tf.reduce_mean(gradients).numpy())
