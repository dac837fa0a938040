"""`keras.ops.numpy` on gradtape's ops: one file per subject, dtype promotion in `promotion`."""

from .creation import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .indexing import *  # noqa: F403
from .logic import *  # noqa: F403
from .order import *  # noqa: F403
from .padding import *  # noqa: F403
from .products import *  # noqa: F403
from .reductions import *  # noqa: F403
from .shaping import *  # noqa: F403
from .shared import *  # noqa: F403
