"""`tf.linalg.LinearOperator` and its like: matrices that know their structure, and use it."""

from . import algebra as algebra
from . import functions as functions  # TensorFlow's functions take operators
