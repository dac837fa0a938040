import tensorflow as tf

images = tf.zeros((8, 28, 28))
print(tf.reshape(images, (8, 768)).shape)
