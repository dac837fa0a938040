"""oneDNN, if installed, for float32 convolutions and max pooling: two to five times as fast as NumPy.

`pip install gradtape[onednn]` installs the library; conda's or the system's works as well. It is called through its C
API and loaded when the first computation is large enough for it. `GRADTAPE_ONEDNN=0` in the environment disables it.
The modules here register their kernels in the table of `accelerated`.
"""

from . import convolutions as convolutions
from . import pooling as pooling
from .library import version

__all__ = ["version"]
