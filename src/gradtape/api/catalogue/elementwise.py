"""Which public functions work element by element: one handler of a user, or one ragged implementation, serves all.

Rows of the catalogue say so themselves; the functions that are more than a row are listed here. TensorFlow has no
attribute that identifies these functions: the choice is that of its registry.
"""

from __future__ import annotations

from . import rows
from .row import Elementwise

_UNARY = """
cast clip_by_value debugging.check_numerics dtypes.saturate_cast image.adjust_brightness image.adjust_gamma
image.convert_image_dtype image.random_brightness image.stateless_random_brightness io.decode_base64
io.decode_compressed io.encode_base64 math.angle math.conj math.imag math.nextafter math.real math.reciprocal_no_nan
math.round nn.gelu nn.leaky_relu nn.log_softmax nn.silu ones_like strings.as_string strings.length strings.lower
strings.regex_full_match strings.regex_replace strings.strip strings.substr strings.to_hash_bucket
strings.to_hash_bucket_fast strings.to_hash_bucket_strong strings.to_number strings.unicode_script
strings.unicode_transcode strings.upper zeros_like
"""
_BINARY = """
dtypes.complex math.scalar_mul math.squared_difference nn.sigmoid_cross_entropy_with_logits
"""
ASSERTING = """
debugging.assert_equal debugging.assert_greater debugging.assert_greater_equal debugging.assert_less
debugging.assert_less_equal debugging.assert_near debugging.assert_none_equal
""".split()


def elementwise_functions(kind: Elementwise) -> list[str]:
    """Returns the canonical names of the elementwise functions of one (`unary`) or two (`binary`) values."""
    others = _UNARY if kind == "unary" else _BINARY
    return [*(row.names[0] for row in rows() if row.elementwise == kind), *others.split()]
