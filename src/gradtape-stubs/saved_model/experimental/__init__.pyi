# Written by tools/write_stubs.py.
from gradtape.saved_model.fingerprints import (
    Fingerprint as Fingerprint,
    TrackableResource as TrackableResource,
    VariablePolicy as VariablePolicy,
    read_fingerprint as read_fingerprint,
)
