"""A step of a DCGAN as in TensorFlow's tutorial: two models, two tapes, two optimizers."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.RandomState(2)


def settle(model):
    """Sets weights that are the same on every machine."""
    model.set_weights([(rng.normal(size=w.shape) * 0.1).astype("float32") for w in model.get_weights()])
    return model


generator = settle(
    tf.keras.Sequential(
        [
            layers.Input(shape=(10,)),
            layers.Dense(7 * 7 * 8, use_bias=False),
            layers.LeakyReLU(),
            layers.Reshape((7, 7, 8)),
            layers.Conv2DTranspose(4, (5, 5), strides=(2, 2), padding="same", use_bias=False),
            layers.LeakyReLU(),
            layers.Conv2DTranspose(1, (5, 5), strides=(2, 2), padding="same", use_bias=False, activation="tanh"),
        ]
    )
)
discriminator = settle(
    tf.keras.Sequential(
        [
            layers.Input(shape=(28, 28, 1)),
            layers.Conv2D(8, (5, 5), strides=(2, 2), padding="same"),
            layers.LeakyReLU(),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )
)
cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
generator_optimizer = tf.keras.optimizers.Adam(1e-3)
discriminator_optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def train_step(images, noise):
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        generated_images = generator(noise, training=True)
        real_output = discriminator(images, training=True)
        fake_output = discriminator(generated_images, training=True)
        gen_loss = cross_entropy(tf.ones_like(fake_output), fake_output)
        disc_loss = cross_entropy(tf.ones_like(real_output), real_output)
        disc_loss += cross_entropy(tf.zeros_like(fake_output), fake_output)
    gen_gradients = gen_tape.gradient(gen_loss, generator.trainable_variables)
    disc_gradients = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gen_gradients, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(zip(disc_gradients, discriminator.trainable_variables))
    return gen_loss, disc_loss


images = tf.constant(rng.uniform(-1, 1, (8, 28, 28, 1)).astype("float32"))
for step in range(4):
    noise = tf.constant(rng.normal(size=(8, 10)).astype("float32"))
    gen_loss, disc_loss = train_step(images, noise)
    print(f"step {step} generator {float(gen_loss):.4f} discriminator {float(disc_loss):.4f}")
print("image", generator(noise, training=False).shape)
