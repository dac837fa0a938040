# Written by tools/write_stubs.py.
from gradtape.api.graph_defs.importing import (
    import_graph_def as import_graph_def,
)
