"""The mapping from names in TensorFlow's private modules to public names of gradtape.

A row is a module and its names: `name` is the public name `tf.name`, `name=nn.other` is `tf.nn.other`, and
`name=gradtape.core.nest:flatten` is a name of one of our modules; after a bar follow the namespaces in which all other
names are looked up. Before those, a name is looked up in `exported_names.txt`: the names that TensorFlow's modules
define and publish under another name, recorded by tools/record_private_names.py.
"""

from __future__ import annotations

import re
from typing import Any

from gradtape.core import text_beside

_ROWS = """
__internal__ CompositeTensor=gradtape.core.composites:CompositeTensor
    EagerTensor=gradtape_tensorflow.python.framework.ops:EagerTensor
    SymbolicTensor=gradtape_tensorflow.python.framework.ops:SymbolicTensor
    FuncGraph=gradtape_tensorflow.python.framework.graphs:FuncGraph
    get_name_scope=gradtape_tensorflow.python.framework.ops:get_name_scope
    register_call_context_function=gradtape_tensorflow.python.util.keras_deps:register_call_context_function
    register_clear_session_function=gradtape_tensorflow.python.util.keras_deps:register_clear_session_function
    register_get_session_function=gradtape_tensorflow.python.util.keras_deps:register_get_session_function
    register_load_model_function=gradtape_tensorflow.python.util.keras_deps:register_load_model_function
    execute_fn_for_device=gradtape_tensorflow.python.ops.control_flow:execute_fn_for_device
    load_context=gradtape_tensorflow.python.distribute.strategies:load_context
__internal__.autograph tf_convert=gradtape_tensorflow.python.autograph.impl.api:tf_convert
    control_status_ctx=gradtape_tensorflow.python.autograph.core.ag_ctx:control_status_ctx
__internal__.decorator | gradtape_tensorflow.python.util.tf_decorator:
__internal__.dispatch | gradtape_tensorflow.python.util.dispatch:
__internal__.distribute ShardedVariable=gradtape_tensorflow.python.distribute.sharded_variable:ShardedVariable
    strategy_supports_no_merge_call=gradtape_tensorflow.python.distribute.strategies:strategy_supports_no_merge_call
    variable_sync_on_read_context=gradtape_tensorflow.python.distribute.strategies:variable_sync_on_read_context
__internal__.distribute.interim maybe_merge_call=gradtape_tensorflow.python.distribute.strategies:maybe_merge_call
__internal__.eager_context | gradtape_tensorflow.python.eager.context:
__internal__.function Function=gradtape.graph.function.function:Function
__internal__.mixed_precision | gradtape_tensorflow.python.training.experimental.mixed_precision:
__internal__.monitoring | gradtape_tensorflow.python.eager.monitoring:
__internal__.ops broadcast_weights=gradtape_tensorflow.python.ops.arrays:broadcast_weights
    is_resource_variable=gradtape_tensorflow.python.ops.arrays:is_resource_variable
__operators__ | gradtape_tensorflow.python.util.operators:
__internal__.saved_model load_partial=gradtape_tensorflow.python.saved_model.load:load_partial
    parse_saved_model=gradtape_tensorflow.python.saved_model.load:parse_saved_model
    decode_proto=gradtape_tensorflow.python.saved_model.load:decode_proto
__internal__.saved_model.load | gradtape_tensorflow.python.saved_model.revived_types:
__internal__.smart_cond | gradtape_tensorflow.python.framework.smart_cond:
__internal__.tracking AutoTrackable=gradtape.core.owners:Owner Trackable=gradtape.core.owners:Trackable
    TrackableReference=gradtape.core.owners:TrackableReference
    wrap=gradtape_tensorflow.python.trackable.data_structures:wrap_or_unwrap |
    gradtape_tensorflow.python.trackable.data_structures: gradtape_tensorflow.python.trackable.base:
    gradtape_tensorflow.python.trackable.base_delegate:
    gradtape_tensorflow.python.checkpoint.objects:
__internal__.train
    update_checkpoint_state=gradtape_tensorflow.python.checkpoint.objects:update_checkpoint_state_internal
    | gradtape_tensorflow.python.training.experimental.mixed_precision:
    gradtape_tensorflow.python.training.moving_averages:
__internal__.nest | gradtape_tensorflow.python.util.nest:
__internal__.feature_column FeatureColumn=gradtape_tensorflow.feature_column.columns:FeatureColumn
    DenseColumn=gradtape_tensorflow.feature_column.columns:DenseColumn
    StateManager=gradtape_tensorflow.feature_column.columns:StateManager
    SequenceDenseColumn=gradtape_tensorflow.feature_column.columns:SequenceDenseColumn
    FeatureTransformationCache=gradtape_tensorflow.feature_column.columns:FeatureTransformationCache
    serialize_feature_column=gradtape_tensorflow.feature_column.serialization:serialize_feature_column
    deserialize_feature_column=gradtape_tensorflow.feature_column.serialization:deserialize_feature_column
__internal__.types Tensor=gradtape_tensorflow.python.types.core:Tensor
__internal__.tf2 enabled=gradtape_tensorflow.python.tf2:enabled
framework.ops Tensor convert_to_tensor device colocate_with=compat.v1.colocate_with register_tensor_conversion_function
    executing_eagerly IndexedSlices
framework.tensor_spec TensorSpec DenseSpec=TensorSpec
framework.tensor_shape as_shape=TensorShape
framework.tensor_util is_symbolic_tensor
framework.dtypes DType as_dtype | tf
framework.errors | tf.errors
framework.errors_impl | tf.errors
framework.sparse_tensor SparseTensor
framework.composite_tensor CompositeTensor=gradtape.core.composites:CompositeTensor
framework.type_spec | gradtape.state.type_spec:
framework.type_spec_registry
framework.random_seed set_random_seed=random.set_seed
framework.config | tf.config
framework.c_api_util ApiDefMap=gradtape_tensorflow.python.framework.graphs:ApiDefMap
framework.convert_to_constants | gradtape_tensorflow.graph_defs.freezing:
framework.function_def_to_graph function_def_to_graph=gradtape_tensorflow.python.framework.graphs:function_def_to_graph
framework.graph_util | tf.compat.v1.graph_util
grappler.tf_optimizer OptimizeGraph=gradtape_tensorflow.python.framework.graphs:OptimizeGraph
eager.test TestCase=test.TestCase main=test.main | tf.test
eager.record
eager.tape
eager.def_function function Function=gradtape.graph.function.function:Function
util.keras_deps
util.tf_export
util.tf_inspect
util.deprecation
util.object_identity
util.all_util
util.tf_contextlib
util.variable_utils
platform.tf_logging | tf.compat.v1.logging
platform.test TestCase=test.TestCase | tf.test
platform.gfile | tf.compat.v1.gfile
lib.io.file_io | tf.io.gfile
lib.io.tf_record tf_record_iterator=gradtape.state.record_files:records
ops.array_ops reverse_v2=reverse diag=linalg.tensor_diag diag_part=linalg.tensor_diag_part
    matrix_band_part=linalg.band_part invert_permutation=math.invert_permutation reverse_v2=reverse
    diag=linalg.tensor_diag diag_part=linalg.tensor_diag_part tensor_scatter_update=tensor_scatter_nd_update
    tensor_scatter_add=tensor_scatter_nd_add check_numerics=debugging.check_numerics shape size
    prevent_gradient=gradtape_tensorflow.python.ops.arrays:prevent_gradient
    _slice_helper=gradtape_tensorflow.python.ops.arrays:_slice_helper
    _SliceHelperVar=gradtape_tensorflow.python.ops.arrays:_SliceHelperVar
    shape_internal=gradtape_tensorflow.python.ops.arrays:shape_internal | tf
ops.math_ops reduce_sum_v1=reduce_sum lin_space=linspace _bucketize=gradtape_tensorflow.python.ops.arrays:_bucketize |
    tf.math tf
ops.nn_ops Convolution=gradtape_tensorflow.python.ops.arrays:Convolution | tf.nn
ops.nn_impl | tf.nn
ops.nn fused_batch_norm=compat.v1.nn.fused_batch_norm moments=compat.v1.nn.moments | tf.nn tf.compat.v1.nn
ops.linalg_ops cholesky=linalg.cholesky matrix_solve=linalg.solve matrix_inverse=linalg.inv
    matrix_determinant=linalg.det | tf.linalg tf
ops.linalg.linalg | tf.linalg
ops.linalg.sparse.sparse
ops.linalg.sparse.sparse_csr_matrix_ops
ops.linalg.linear_operator make_composite_tensor=gradtape.api.linalg.operators.basis.base:make_composite_tensor
ops.linalg.linear_operator_addition add_operators=gradtape.api.linalg.operators.addition:add_operators
ops.random_ops | tf.random
ops.stateless_random_ops | tf.random
ops.control_flow_ops cond=cond while_loop=while_loop no_op=no_op tuple=tuple switch_case=switch_case case=case
    get_enclosing_xla_context=gradtape_tensorflow.python.ops.control_flow:get_enclosing_xla_context
    with_dependencies=gradtape_tensorflow.python.ops.control_flow:with_dependencies | tf
ops.control_flow_case case _case_helper=gradtape_tensorflow.python.ops.control_flow:_case_helper
ops.control_flow_util ENABLE_CONTROL_FLOW_V2=gradtape_tensorflow.python.ops.control_flow:ENABLE_CONTROL_FLOW_V2
    GraphOrParentsInXlaContext=gradtape_tensorflow.python.ops.control_flow:GraphOrParentsInXlaContext
    get_enclosing_xla_context=gradtape_tensorflow.python.ops.control_flow:get_enclosing_xla_context
ops.ragged.ragged_util
ops.tensor_getitem_override _slice_helper=gradtape_tensorflow.python.ops.arrays:_slice_helper
    _slice_helper_var=gradtape_tensorflow.python.ops.arrays:_SliceHelperVar
ops.resource_variable_ops ResourceVariable=Variable BaseResourceVariable=Variable Variable
    VariableSpec=gradtape.state.specs:VariableSpec
    is_resource_variable=gradtape_tensorflow.python.ops.arrays:is_resource_variable
ops.check_ops | tf.debugging tf.compat.v1
ops.clustering_ops
ops.init_ops | tf.compat.v1 tf
ops.init_ops_v2 | tf
ops.image_ops | tf.image
ops.sparse_ops sparse_concat=sparse.concat | tf.sparse
ops.special_math_ops _einsum_v1=einsum | tf.math.special tf.math
ops.map_fn map_fn
ops.script_ops py_function
ops.lookup_ops LookupInterface=gradtape.api.lookup.tables:LookupTable HashTable=lookup.StaticHashTable
    InitializableLookupTableBase=gradtape.api.lookup.tables:LookupTable | tf.lookup
ops.summary_ops_v2 | tf.summary
ops.parsing_ops | tf.io tf.compat.v1
ops.ragged.ragged_map_ops map_fn
ops.losses.losses_impl | tf.compat.v1.losses
ops.state_ops | tf.compat.v1
data.ops.iterator_ops OwnedIterator=data.Iterator
data.ops.range_op _RangeDataset=gradtape_tensorflow.python.data.ops.sources:_RangeDataset
data.ops.from_generator_op _GeneratorDataset=gradtape_tensorflow.python.data.ops.sources:_GeneratorDataset
data.ops.from_tensors_op _TensorDataset=gradtape_tensorflow.python.data.ops.sources:_TensorDataset
data.ops.from_tensor_slices_op _TensorSliceDataset=gradtape_tensorflow.python.data.ops.sources:_TensorSliceDataset
data.util.structure NoneTensorSpec=gradtape.data.elements.specs:NoneTensorSpec
data.experimental | tf.data.experimental
trackable.base Trackable=gradtape.core.owners:Trackable TrackableReference=gradtape.core.owners:TrackableReference
trackable.autotrackable AutoTrackable=gradtape.core.owners:Owner
distribute.distribute_lib
    variable_sync_on_read_context=gradtape_tensorflow.python.distribute.strategies:variable_sync_on_read_context
    | tf.distribute
distribute.input_lib DistributedDataset=distribute.DistributedDataset
    DistributedDatasetsFromFunction=distribute.DistributedDataset
distribute.input_ops auto_shard_dataset=gradtape_tensorflow.python.distribute.strategies:auto_shard_dataset
distribute.ps_values AggregatingVariable=gradtape_tensorflow.python.distribute.strategies:AggregatingVariable
distribute.values DistributedValues=distribute.DistributedValues PerReplica=gradtape.distribute.values:PerReplica
    Mirrored=gradtape.distribute.values:Mirrored PerReplicaSpec=gradtape.distribute.values:PerReplicaSpec
    DistributedVariable=gradtape.distribute.variables:DistributedVariable
    MirroredVariable=gradtape.distribute.variables:MirroredVariable
    SyncOnReadVariable=gradtape.distribute.variables:SyncOnReadVariable
    AggregatingVariable=gradtape_tensorflow.python.distribute.strategies:AggregatingVariable
autograph.impl.api do_not_convert=autograph.experimental.do_not_convert
feature_column.feature_column_lib | tf.feature_column gradtape_tensorflow.feature_column.serialization:
    gradtape_tensorflow.feature_column.columns:
    gradtape_tensorflow.feature_column.dense: gradtape_tensorflow.feature_column.categorical:
    gradtape_tensorflow.feature_column.sequences:
feature_column.feature_column_v2 StateManager=gradtape_tensorflow.feature_column.columns:StateManager
    _StateManagerImpl=gradtape_tensorflow.feature_column.columns:StateManager
    _transform_features_v2=gradtape_tensorflow.feature_column.columns:transform_features
    _normalize_feature_columns=gradtape_tensorflow.feature_column.columns:normalize_feature_columns | tf.feature_column
    gradtape_tensorflow.feature_column.columns: gradtape_tensorflow.feature_column.dense:
    gradtape_tensorflow.feature_column.categorical:
    gradtape_tensorflow.feature_column.sequences:
saved_model.model_utils.mode_keys
distribute.cluster_resolver SimpleClusterResolver=distribute.cluster_resolver.SimpleClusterResolver
data.ops.from_sparse_tensor_slices_op
    _SparseTensorSliceDataset=gradtape_tensorflow.python.data.ops.sources:_SparseTensorSliceDataset
pywrap_tfe
client.device_lib
client.timeline
data AUTOTUNE=data.AUTOTUNE Dataset=data.Dataset Iterator=data.Iterator TFRecordDataset=data.TFRecordDataset
    TextLineDataset=data.TextLineDataset FixedLengthRecordDataset=data.FixedLengthRecordDataset Options=data.Options
    experimental=data.experimental
data.util.nest
ops.standard_ops | tf tf.math tf.linalg tf.compat.v1
platform.flags
training.checkpoint_management CheckpointManager=train.CheckpointManager latest_checkpoint=train.latest_checkpoint |
    tf.compat.v1.train
training.tracking.base Trackable=gradtape.core.owners:Trackable
    TrackableReference=gradtape.core.owners:TrackableReference |
    gradtape_tensorflow.python.trackable.base:
training.tracking.data_structures | gradtape_tensorflow.python.trackable.data_structures:
training.training | tf.compat.v1.train tf.train
ops.metrics | gradtape_tensorflow.python.ops.metrics_impl:
summary.summary | tf.compat.v1.summary
compiler.tf2xla.python.xla
tpu.tpu_function
tpu.datasets
tpu.embedding_context_utils
framework.test_combinations
distribute.combinations
distribute.strategy_combinations
__internal__.distribute.combinations | gradtape_tensorflow.python.distribute.combinations:
    gradtape_tensorflow.python.distribute.strategy_combinations:
__internal__.test.combinations | gradtape_tensorflow.python.framework.test_combinations:
training.basic_session_run_hooks | gradtape_tensorflow.python.training.sessions:
training.evaluation | gradtape_tensorflow.python.training.sessions:
training.monitored_session | gradtape_tensorflow.python.training.sessions:
training.queue_runner | gradtape_tensorflow.python.training.sessions:
training.session_run_hook | gradtape_tensorflow.python.training.sessions:
training.supervisor | gradtape_tensorflow.python.training.sessions:
ops.io_ops | tf.io
training.queue_runner_impl | gradtape_tensorflow.python.training.sessions:
tools.docs.doc_controls
dtensor.python.api | tf.experimental.dtensor
distribute.distribute_utils cache_variable_reads=gradtape_tensorflow.python.distribute.strategies:cache_variable_reads
distribute.load_context load_context=gradtape_tensorflow.python.distribute.strategies:load_context
distribute.merge_call_interim
    strategy_supports_no_merge_call=gradtape_tensorflow.python.distribute.strategies:strategy_supports_no_merge_call
    maybe_merge_call=gradtape_tensorflow.python.distribute.strategies:maybe_merge_call
ops.control_flow_switch_case execute_fn_for_device=gradtape_tensorflow.python.ops.control_flow:execute_fn_for_device
ops.confusion_matrix remove_squeezable_dimensions=gradtape_tensorflow.python.ops.arrays:remove_squeezable_dimensions
ops.weights_broadcast_ops broadcast_weights=gradtape_tensorflow.python.ops.arrays:broadcast_weights
ops.variable_scope variable=gradtape_tensorflow.python.ops.arrays:variable
checkpoint.checkpoint register_session_provider=gradtape_tensorflow.python.checkpoint.objects:register_session_provider
    streaming_restore=gradtape_tensorflow.python.checkpoint.objects:streaming_restore
    list_objects=gradtape_tensorflow.python.checkpoint.objects:list_objects
    ObjectGraphView=gradtape_tensorflow.python.checkpoint.objects:ObjectGraphView
checkpoint.checkpoint_management
    update_checkpoint_state_internal=gradtape_tensorflow.python.checkpoint.objects:update_checkpoint_state_internal
checkpoint.graph_view ObjectGraphView=gradtape_tensorflow.python.checkpoint.objects:ObjectGraphView
framework.func_graph FuncGraph=gradtape_tensorflow.python.framework.graphs:FuncGraph
"""

# Namespaces and names of `tf.compat.v1` for sessions and command lines of TensorFlow 1, and the modules that have them.
COMPAT = {
    "app": "platform.app",
    "flags": "platform.flags",
    "metrics": "ops.metrics_impl",
    "mixed_precision": "training.experimental.mixed_precision",
    "resource_loader": "platform.resource_loader",
}
COMPAT_NAMES = (
    ("", "framework.ops", "device"),
    ("", "ops.variables", "report_uninitialized_variables"),
    ("nn", "ops.rnn", "bidirectional_dynamic_rnn dynamic_rnn static_bidirectional_rnn static_rnn"),
    ("summary", "summary.summary", "merge merge_all"),
    (
        "train",
        "training.sessions",
        "CheckpointSaverHook CheckpointSaverListener ChiefSessionCreator FeedFnHook FinalOpsHook GlobalStepWaiterHook "
        "LoggingTensorHook MonitoredSession MonitoredTrainingSession NanLossDuringTrainingError NanTensorHook "
        "ProfilerHook QueueRunner Scaffold SessionManager SessionRunArgs SessionRunContext SessionRunHook "
        "SessionRunValues SingularMonitoredSession StepCounterHook StopAtStepHook SummarySaverHook Supervisor "
        "WorkerSessionCreator add_queue_runner start_queue_runners",
    ),
)

# AutoGraph is a separate package: submodules of these map to submodules of those.
PACKAGES = {
    "autograph.pyct": "malt.pyct",
    "autograph.converters": "malt.converters",
    "autograph.core.converter": "malt.core.converter",
}


def _read(lines: list[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for line in lines:
        names, _, spaces = line.partition("|")
        module, *entries = names.split()
        row = found[module] = {}
        for entry in entries:
            name, _, path = entry.partition("=")
            row[name] = path or name
        if spaces.strip():
            row["*"] = spaces.strip()
    return found


def _recorded() -> list[str]:
    spec: Any = __spec__
    return text_beside(spec, "exported_names.txt").splitlines()


MODULES = _read(re.split(r"\n(?! )", _ROWS.strip()))
EXPORTED = _read(_recorded())
