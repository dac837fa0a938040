"""Keras' backend on gradtape, laid out as Keras expects of a backend that is a package of its own."""

import sys

from gradtape.keras_loader import load

if "keras" not in sys.modules:  # usually it is Keras that imports this
    load()
