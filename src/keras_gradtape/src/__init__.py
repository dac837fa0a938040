"""The backend itself; `backend` is what Keras takes from it. All of it needs Keras, on this backend."""

import sys

from ..loader import load

if "keras" not in sys.modules:  # usually it is Keras that imports this
    load()
