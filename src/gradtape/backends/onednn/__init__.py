"""oneDNN, if it is installed, for products and convolutions of float32: two to three times as fast as NumPy's.

`pip install gradtape[onednn]` brings the library; conda's or the system's will do as well. It is called through its C
interface and loaded when the first computation is large enough for it. `GRADTAPE_ONEDNN=0` in the environment leaves it
alone. Whatever it cannot do, or not fast, the functions here answer with None, and NumPy does it.
"""

from .convolutions import convolved, filter_gradient, image_gradient
from .library import version
from .products import product, sum_rows

__all__ = ["convolved", "filter_gradient", "image_gradient", "product", "sum_rows", "version"]
