"""`tensorflow.python.trackable.resource`: base classes of objects that hold what is not a tensor, such as a table."""

from __future__ import annotations

from gradtape.saved_model.fingerprints import CapturableResource as CapturableResource
from gradtape.saved_model.fingerprints import TrackableResource as TrackableResource


class RestoredResource(TrackableResource):
    """A resource that a SavedModel has made; loaded tables are tables here."""
