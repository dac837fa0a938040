# Written by tools/write_stubs.py.
from gradtape.api.xla import (
    compile as compile,
    jit_scope as jit_scope,
)
