"""`tf.data.experimental.service`: datasets that workers compute, within one process.

Functions of a dataset cannot be sent to another process, so that the dispatcher, the workers and the readers are in the
same one. Readers that share a job get different elements of it, as in TensorFlow.
"""
