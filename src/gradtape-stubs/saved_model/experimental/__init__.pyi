# Written by tools/write_stubs.py.
from gradtape.saved_model.fingerprints import (
    Fingerprint as Fingerprint,
    VariablePolicy as VariablePolicy,
    read_fingerprint as read_fingerprint,
)
from gradtape.saved_model.resources import (
    TrackableResource as TrackableResource,
)
