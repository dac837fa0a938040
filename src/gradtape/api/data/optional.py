"""`tf.experimental.Optional`, its spec, and the spec of None."""

from __future__ import annotations

from ...datasets.iterators import Optional
from ...datasets.specs import NoneTensorSpec, OptionalSpec

NAMESPACES = ("experimental", "")
__all__ = ["NoneTensorSpec", "Optional", "OptionalSpec"]
