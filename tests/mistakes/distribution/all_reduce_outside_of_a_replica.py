import tensorflow as tf

strategy = tf.distribute.MirroredStrategy(["CPU:0"])
with strategy.scope():
    total = tf.distribute.get_replica_context().all_reduce("sum", tf.constant(1.0))
