import tensorflow as tf

checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
checkpoint.restore("no_such_folder/ckpt-1")
