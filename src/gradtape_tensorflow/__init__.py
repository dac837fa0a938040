"""The TensorFlow annex: what programs need that were written for TensorFlow itself, rather than for its gradients.

The import hook and `tensorflow.python`, `compat.v1`, `GraphDef`s and sessions, classes of protocol buffer messages,
feature columns, `tf.test`, and the names of TPUs, DTensor and TensorFlow Lite. gradtape reaches these modules through
its index of names and its extension points, and works without them.
"""
