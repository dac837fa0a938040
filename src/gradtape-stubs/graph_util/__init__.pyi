# Written by tools/write_stubs.py.
from gradtape_tensorflow.graph_defs.importing import (
    import_graph_def as import_graph_def,
)
