"""The backend implementation; Keras uses `backend`. All modules require Keras on this backend."""

import sys

from ..loader import load

if "keras" not in sys.modules:  # usually Keras imports this package
    load()
