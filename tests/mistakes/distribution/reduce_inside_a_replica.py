import tensorflow as tf

strategy = tf.distribute.MirroredStrategy(["CPU:0"])


def step(x):
    return strategy.reduce(tf.distribute.ReduceOp.SUM, x, axis=None)


print(strategy.run(step, (tf.constant(1.0),)))
