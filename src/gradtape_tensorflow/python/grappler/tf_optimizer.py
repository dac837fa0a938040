"""`tensorflow.python.grappler.tf_optimizer`: the optimizer of graphs in the form of messages."""

from __future__ import annotations

from typing import Any

from gradtape_tensorflow.graph_defs.importing import sub_graph


def OptimizeGraph(config_proto: Any, metagraph: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns the part of a graph that the nodes of the collection `train_op` need.

    A graph that gradtape has written was simplified when it was traced; nothing else is rewritten.
    """
    wanted = [name.partition(":")[0] for name in metagraph.collection_def["train_op"].node_list.value]
    there = {node.name for node in metagraph.graph_def.node}
    return sub_graph(metagraph.graph_def, [name for name in wanted if name in there])
