"""Bitwise operations on integers."""

from ...ops.elementwise import bits
from .row import binary, unary

# fmt: off
bitwise_and = binary("bitwise.bitwise_and", bits.bitwise_and, "Bitwise AND.",
    "tf.bitwise.bitwise_and([12, 10], 6).numpy()", "array([4, 2], dtype=int32)")
bitwise_or = binary("bitwise.bitwise_or", bits.bitwise_or, "Bitwise OR.",
    "tf.bitwise.bitwise_or([12, 10], 6).numpy()", "array([14, 14], dtype=int32)")
bitwise_xor = binary("bitwise.bitwise_xor", bits.bitwise_xor, "Bitwise exclusive OR.",
    "tf.bitwise.bitwise_xor([12, 10], 6).numpy()", "array([10, 12], dtype=int32)")
invert = unary("bitwise.invert", bits.invert, "Bitwise complement.",
    "tf.bitwise.invert([0, 5]).numpy()", "array([-1, -6], dtype=int32)")
left_shift = binary("bitwise.left_shift", bits.left_shift,
    "Shifts the bits of `x` left by `y`, at most the width of the dtype minus 1.",
    "tf.bitwise.left_shift([1, 3], 2).numpy()", "array([ 4, 12], dtype=int32)")
right_shift = binary("bitwise.right_shift", bits.right_shift,
    "Shifts the bits of `x` right by `y`, at most the width of the dtype minus 1; the sign is preserved.",
    "tf.bitwise.right_shift([8, -8], 2).numpy()", "array([ 2, -2], dtype=int32)")
