"""`tf.experimental.Optional`, its spec, and the spec of None."""

from __future__ import annotations

from .elements.specs import NoneTensorSpec, OptionalSpec
from .iterators import Optional

NAMESPACES = ("experimental", "")
__all__ = ["NoneTensorSpec", "Optional", "OptionalSpec"]
