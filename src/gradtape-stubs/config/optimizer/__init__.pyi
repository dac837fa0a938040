# Written by tools/write_stubs.py.
from gradtape.api.config.execution import (
    get_experimental_options as get_experimental_options,
    set_experimental_options as set_experimental_options,
)
from gradtape.api.config.settings import (
    get_jit as get_jit,
    set_jit as set_jit,
)
