"""A small U-Net with a Dice loss and IoU, trained on images and masks that are augmented together in `Dataset.map`."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(6)
rng = np.random.default_rng(44)
images = rng.normal(0, 0.2, (48, 16, 16, 1)).astype("float32")
masks = np.zeros((48, 16, 16, 1), "float32")
for image, mask in zip(images, masks):
    top, left, size = rng.integers(0, 8), rng.integers(0, 8), rng.integers(4, 8)
    mask[top : top + size, left : left + size] = 1
    image += mask
AUTO = tf.data.AUTOTUNE


def augment(image, mask):
    both = tf.concat([image, mask], -1)
    both = tf.image.random_flip_left_right(both, seed=1)
    both = tf.image.random_flip_up_down(both, seed=2)
    image, mask = both[..., :1], both[..., 1:]
    return tf.image.random_brightness(image, 0.1, seed=3), mask


data = tf.data.Dataset.from_tensor_slices((images, masks))
train = data.take(40).cache().map(augment).shuffle(40, seed=4).batch(8).prefetch(AUTO)
held = data.skip(40).batch(8)


def block(x, filters):
    for _ in range(2):
        x = keras.layers.Conv2D(filters, 3, padding="same", kernel_initializer="he_normal")(x)
        x = keras.layers.Activation("relu")(keras.layers.GroupNormalization(2)(x))
    return x


inputs = keras.Input((16, 16, 1))
one = block(inputs, 4)
two = block(keras.layers.MaxPooling2D()(one), 8)
three = block(keras.layers.AveragePooling2D(2)(two), 8)
x = keras.layers.Conv2DTranspose(8, 2, strides=2)(three)
x = block(keras.layers.Concatenate()([x, two]), 8)
x = keras.layers.UpSampling2D(interpolation="bilinear")(x)
x = block(keras.layers.Concatenate()([x, one]), 4)
model = keras.Model(inputs, keras.layers.Conv2D(1, 1, activation="sigmoid")(x))


@keras.saving.register_keras_serializable()
def dice_loss(y_true, y_pred):
    overlap = tf.reduce_sum(y_true * y_pred, axis=[1, 2, 3])
    total = tf.reduce_sum(y_true, axis=[1, 2, 3]) + tf.reduce_sum(y_pred, axis=[1, 2, 3])
    entropy = keras.losses.binary_crossentropy(tf.reshape(y_true, [-1, 256]), tf.reshape(y_pred, [-1, 256]))
    return 1 - (2 * overlap + 1) / (total + 1) + entropy


model.compile(
    keras.optimizers.Nadam(0.01),
    dice_loss,
    metrics=[
        keras.metrics.BinaryIoU(target_class_ids=[1], threshold=0.5, name="iou"),
        keras.metrics.Precision(),
        keras.metrics.Recall(),
    ],
)
history = model.fit(train, validation_data=held, epochs=3, verbose=0).history
for name, values in history.items():
    print(name, " ".join(f"{value:.5f}" for value in values))
