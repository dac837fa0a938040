import numpy as np
import tensorflow as tf


@tf.function
def accuracy(labels, predictions):
    return np.mean(labels.numpy() == predictions.numpy())


print(accuracy(tf.constant([1, 2]), tf.constant([1, 3])))
