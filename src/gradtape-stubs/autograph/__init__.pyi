# Written by tools/write_stubs.py.
from gradtape.autograph import experimental as experimental
from gradtape.autograph.functions import (
    set_verbosity as set_verbosity,
    to_code as to_code,
    to_graph as to_graph,
    trace as trace,
)
import sys
if sys.platform == "jedi":
    del (
        builtin_functions,
        checks,
        control_flow,
        conversion,
        error_messages,
        functions,
        loop_options,
        on_demand,
        operators,
        staging,
        transpiler,
    )
