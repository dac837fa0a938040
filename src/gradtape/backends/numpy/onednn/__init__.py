"""oneDNN, if it is installed, for convolutions and max pooling of float32: two to five times as fast as NumPy's.

`pip install gradtape[onednn]` brings the library; conda's or the system's will do as well. It is called through its C
interface and loaded when the first computation is large enough for it. `GRADTAPE_ONEDNN=0` in the environment leaves it
alone. The modules here put their kernels into the table of `accelerated`.
"""

from . import convolutions as convolutions
from . import pooling as pooling
from .library import version

__all__ = ["version"]
