import tempfile

import tensorflow as tf

path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(tempfile.mkdtemp() + "/ckpt")
tf.train.Checkpoint(v=tf.Variable([1.0, 2.0, 3.0])).restore(path)
