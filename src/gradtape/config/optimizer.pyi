# Written by tools/write_stubs.py.
from gradtape.api.runtime.config import (
    get_jit as get_jit,
    set_jit as set_jit,
)
from gradtape.api.runtime.execution import (
    get_experimental_options as get_experimental_options,
    set_experimental_options as set_experimental_options,
)
