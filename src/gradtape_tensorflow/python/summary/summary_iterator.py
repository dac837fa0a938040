"""`tensorflow.python.summary.summary_iterator`: the events of a file of TensorBoard."""

from gradtape.compat.v1.train import summary_iterator

__all__ = ["summary_iterator"]
