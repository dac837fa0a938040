# Written by tools/write_stubs.py.
from gradtape_tensorflow.graph_defs.importing import (
    import_graph_def as import_graph_def,
)
from gradtape_tensorflow.v1.graph_util import (
    convert_variables_to_constants as convert_variables_to_constants,
    extract_sub_graph as extract_sub_graph,
    must_run_on_cpu as must_run_on_cpu,
    remove_training_nodes as remove_training_nodes,
    tensor_shape_from_node_def_name as tensor_shape_from_node_def_name,
)
