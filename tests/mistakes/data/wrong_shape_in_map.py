import tensorflow as tf


def flatten(image):
    return tf.reshape(image, (768,))


dataset = tf.data.Dataset.from_tensor_slices(tf.zeros((4, 28, 28))).map(flatten)
for image in dataset:
    print(image.shape)
