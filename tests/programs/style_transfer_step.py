"""Steps of neural style transfer: the image is the variable, Gram matrices and total variation the loss."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(4)
kernels = [tf.constant(rng.normal(size=s).astype("float32") * 0.3) for s in [(3, 3, 3, 8), (3, 3, 8, 8)]]


def features(image):
    found = []
    for kernel in kernels:
        image = tf.nn.relu(tf.nn.conv2d(image, kernel, strides=1, padding="SAME"))
        found.append(image)
        image = tf.nn.avg_pool2d(image, 2, 2, "VALID")
    return found


def gram_matrix(x):
    result = tf.linalg.einsum("bijc,bijd->bcd", x, x)
    shape = tf.shape(x)
    return result / tf.cast(shape[1] * shape[2], tf.float32)


content = tf.constant(rng.uniform(size=(1, 16, 16, 3)).astype("float32"))
style = tf.constant(rng.uniform(size=(1, 16, 16, 3)).astype("float32"))
style_targets = [gram_matrix(f) for f in features(style)]
content_target = features(content)[-1]
image = tf.Variable(content)
optimizer = tf.keras.optimizers.Adam(learning_rate=0.02, beta_1=0.99, epsilon=1e-1)


@tf.function()
def train_step(image):
    with tf.GradientTape() as tape:
        found = features(image)
        grams = [gram_matrix(f) for f in found]
        style_loss = tf.add_n([tf.reduce_mean((g - t) ** 2) for g, t in zip(grams, style_targets)])
        content_loss = tf.reduce_mean((found[-1] - content_target) ** 2)
        loss = 10.0 * style_loss + content_loss
        loss += 0.01 * tf.reduce_sum(tf.image.total_variation(image))
    grad = tape.gradient(loss, image)
    optimizer.apply_gradients([(grad, image)])
    image.assign(tf.clip_by_value(image, clip_value_min=0.0, clip_value_max=1.0))
    return loss


for step in range(6):
    print("step", step, "loss", float(train_step(image)))
print("mean of the image", float(tf.reduce_mean(image)))
