"""`tf.linalg.LinearOperator` and its subclasses: structured matrices."""

from . import algebra as algebra
from . import functions as functions  # makes TensorFlow's functions accept operators
