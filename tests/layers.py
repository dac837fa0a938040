"""The layers of gradtape's modules."""

# From the lowest up. A package that is not listed belongs to the nearest one around it that is.
LAYERS = """
gradtape.backends gradtape.backends.numpy
gradtape.core
gradtape.engine.run gradtape.engine.registry gradtape.engine.memory gradtape.engine.tape
gradtape.engine.derivatives
gradtape.ops
gradtape.sparse
gradtape.state
gradtape.ragged
gradtape.graph.ir gradtape.graph.passes gradtape.graph.executors gradtape.graph.trace gradtape.graph.control_flow
gradtape.graph.function
gradtape.data gradtape.checkpoint gradtape.inspect
gradtape.distribute
gradtape.api
gradtape.saved_model
public
gradtape.autograph
gradtape.extend
gradtape
keras_gradtape
gradtape.keras
gradtape.cli gradtape.__main__
gradtape_tensorflow
gradtape_tensorflow.python
gradtape_tensorflow.stand_in
""".split()

# The public names of a subject, beside what implements them: these files are made of the api, which does not use them.
PUBLIC = {
    "gradtape.checkpoint": "train views",
    "gradtape.data": "datasets deprecated lookup_tables transformations",
    "gradtape.data.files": "csv_files example_files record_files",
    "gradtape.distribute": """
        cluster_coordinator deprecated distributed_tape layouts multi_worker options other_strategies strategies""",
    "gradtape.distribute.cluster": "preemption processes resolvers",
}
# The same for values that functions of the api take and return: these files and the api use one another.
PUBLIC_IN_API = {
    "gradtape.ragged": "arrays crossing factory filling functions gathering reductions shape",
    "gradtape.sparse": "arithmetic conversion crossing segments shaping",
}


def layer_of(module: str) -> str:
    """The layer of a module. The public files of a subject are above what implements them."""
    folder, _, file = module.rpartition(".")
    if file in PUBLIC.get(folder, "").split():
        return "public"
    if file in PUBLIC_IN_API.get(folder, "").split():
        return "gradtape.api"
    while module not in LAYERS:
        assert module
        module = module.rpartition(".")[0]
    return module


def is_below_the_api(module: str) -> bool:
    return LAYERS.index(layer_of(module)) < LAYERS.index("gradtape.api")
