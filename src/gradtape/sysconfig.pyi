# Written by tools/write_stubs.py.
from gradtape.api.runtime.sysconfig import (
    get_build_info as get_build_info,
)
