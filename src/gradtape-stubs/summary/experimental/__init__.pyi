# Written by tools/write_stubs.py.
from gradtape.api.summary.experimental import (
    get_step as get_step,
    set_step as set_step,
    summary_scope as summary_scope,
    write_raw_pb as write_raw_pb,
)
