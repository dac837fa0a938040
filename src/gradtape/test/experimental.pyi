# Written by tools/write_stubs.py.
from gradtape.api.runtime.execution import (
    sync_devices as sync_devices,
)
