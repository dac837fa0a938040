"""oneDNN, if it is installed, for large work on float32: mostly two to five times as fast as NumPy's.

`pip install gradtape[onednn]` brings the library; conda's or the system's will do as well. It is called through its C
interface and loaded when the first computation is large enough for it. `GRADTAPE_ONEDNN=0` in the environment leaves it
alone. Whatever it cannot do, or not fast, the functions here answer with None, and NumPy does it.
"""

from .contractions import contract
from .convolutions import convolved, filter_gradient, image_gradient
from .elementwise import combined, mapped, pulled, vjp_and_summed
from .fixed_products import FixedProduct, can_multiply, fixed_product
from .library import at_line, version
from .pooling import max_places, max_pooled, max_pooled_with_places, max_spread
from .product_sums import MOST_ADDED, fixed_sum
from .products import add_product, known_product, product, sum_rows
from .repeated_products import changed, product_with_transpose
from .rows import LayerNormalisation, layer_normalisation, softmax, softmax_gradient
from .team import together

__all__ = [
    "MOST_ADDED", "FixedProduct", "LayerNormalisation", "add_product", "at_line", "can_multiply", "changed", "combined",
    "contract", "convolved", "filter_gradient", "fixed_product", "fixed_sum", "image_gradient",
    "known_product", "layer_normalisation", "mapped", "max_places", "max_pooled", "max_pooled_with_places",
    "max_spread", "product", "product_with_transpose", "pulled", "vjp_and_summed", "softmax", "softmax_gradient",
    "sum_rows", "together", "version",
]  # fmt: skip
