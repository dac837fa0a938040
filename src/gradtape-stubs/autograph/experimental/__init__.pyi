# Written by tools/write_stubs.py.
from gradtape.autograph.functions import (
    Feature as Feature,
    do_not_convert as do_not_convert,
    set_loop_options as set_loop_options,
)
