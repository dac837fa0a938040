# Written by tools/write_stubs.py.
from gradtape.api.config.execution import (
    sync_devices as sync_devices,
)
