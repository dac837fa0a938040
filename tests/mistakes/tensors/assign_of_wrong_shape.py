import tensorflow as tf

v = tf.Variable([1.0, 2.0, 3.0])
v.assign([1.0, 2.0])
