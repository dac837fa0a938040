import tensorflow as tf

images = tf.zeros((10, 28, 28))
labels = tf.zeros((9,))
dataset = tf.data.Dataset.from_tensor_slices((images, labels))
