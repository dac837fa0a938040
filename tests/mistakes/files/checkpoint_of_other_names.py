import tempfile

import tensorflow as tf

path = tf.train.Checkpoint(model=tf.Variable(1.0)).save(tempfile.mkdtemp() + "/ckpt")
tf.train.Checkpoint(net=tf.Variable(1.0)).restore(path).assert_consumed()
