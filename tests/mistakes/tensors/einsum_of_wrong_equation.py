import tensorflow as tf

a = tf.zeros((2, 3))
b = tf.zeros((3, 4))
print(tf.einsum("ij,jk,kl->il", a, b))
