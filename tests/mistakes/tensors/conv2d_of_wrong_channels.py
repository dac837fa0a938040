import tensorflow as tf

images = tf.zeros((1, 28, 28, 1))
filters = tf.Variable(tf.zeros((3, 3, 3, 8)))
print(tf.nn.conv2d(images, filters, strides=1, padding="SAME").shape)
