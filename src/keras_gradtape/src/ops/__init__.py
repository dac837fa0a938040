"""Keras' tensor functions, by subject; those of `core` are names of this package, too."""

from . import core as core
from . import image as image
from . import linalg as linalg
from . import math as math
from . import nn as nn
from . import numpy as numpy
from .core import *  # noqa: F403
