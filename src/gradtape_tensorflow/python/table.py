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
    FuncGraph=gradtape_tensorflow.python.framework.func_graph:FuncGraph
    get_name_scope=gradtape_tensorflow.python.framework.ops:get_name_scope
    register_call_context_function=gradtape_tensorflow.python.util.keras_deps:register_call_context_function
    register_clear_session_function=gradtape_tensorflow.python.util.keras_deps:register_clear_session_function
    register_get_session_function=gradtape_tensorflow.python.util.keras_deps:register_get_session_function
    register_load_model_function=gradtape_tensorflow.python.util.keras_deps:register_load_model_function
    execute_fn_for_device=gradtape_tensorflow.python.ops.control_flow_switch_case:execute_fn_for_device
    load_context=gradtape_tensorflow.python.distribute.load_context:load_context
__internal__.autograph tf_convert=gradtape_tensorflow.python.autograph.impl.api:tf_convert
    control_status_ctx=gradtape_tensorflow.python.autograph.core.ag_ctx:control_status_ctx
__internal__.decorator | gradtape_tensorflow.python.util.tf_decorator:
__internal__.dispatch | gradtape_tensorflow.python.util.dispatch:
__internal__.distribute ShardedVariable=gradtape_tensorflow.python.distribute.sharded_variable:ShardedVariable
    strategy_supports_no_merge_call=gradtape_tensorflow.python.distribute.merge_call_interim:strategy_supports_no_merge_call
    variable_sync_on_read_context=gradtape_tensorflow.python.distribute.distribute_lib:variable_sync_on_read_context
__internal__.distribute.interim
    maybe_merge_call=gradtape_tensorflow.python.distribute.merge_call_interim:maybe_merge_call
__internal__.eager_context | gradtape_tensorflow.python.eager.context:
__internal__.function Function=gradtape.graph.function.function:Function
__internal__.mixed_precision | gradtape_tensorflow.python.training.experimental.mixed_precision:
__internal__.monitoring | gradtape_tensorflow.python.eager.monitoring:
__internal__.ops broadcast_weights=gradtape_tensorflow.python.ops.weights_broadcast_ops:broadcast_weights
    is_resource_variable=gradtape_tensorflow.python.ops.resource_variable_ops:is_resource_variable
__operators__ | gradtape_tensorflow.python.util.operators:
__internal__.saved_model load_partial=gradtape_tensorflow.python.saved_model.load:load_partial
    parse_saved_model=gradtape_tensorflow.python.saved_model.load:parse_saved_model
    decode_proto=gradtape_tensorflow.python.saved_model.load:decode_proto
__internal__.saved_model.load | gradtape_tensorflow.python.saved_model.revived_types:
__internal__.smart_cond | gradtape_tensorflow.python.framework.smart_cond:
__internal__.tracking AutoTrackable=gradtape.core.owners:Owner Trackable=gradtape.core.owners:Trackable
    TrackableReference=gradtape.core.owners:TrackableReference
    wrap=gradtape_tensorflow.python.trackable.data_structures:wrap_or_unwrap
    | gradtape_tensorflow.python.trackable.data_structures: gradtape_tensorflow.python.trackable.base:
    gradtape_tensorflow.python.trackable.base_delegate:
    gradtape_tensorflow.python.checkpoint.graph_view: gradtape_tensorflow.python.checkpoint.checkpoint:
__internal__.train
    update_checkpoint_state=gradtape_tensorflow.python.checkpoint.checkpoint_management:update_checkpoint_state_internal
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
framework.ops Tensor Graph RegisterGradient convert_to_tensor control_dependencies device init_scope
    name_scope_v1=compat.v1.name_scope name_scope_v2=name_scope get_default_graph=compat.v1.get_default_graph
    GraphKeys=compat.v1.GraphKeys get_collection=compat.v1.get_collection colocate_with=compat.v1.colocate_with
    register_tensor_conversion_function no_gradient NotDifferentiable=no_gradient executing_eagerly IndexedSlices
    reset_default_graph=compat.v1.reset_default_graph
framework.tensor Tensor TensorSpec
framework.tensor_spec TensorSpec DenseSpec=TensorSpec
framework.tensor_shape TensorShape Dimension=compat.v1.Dimension dimension_value=compat.dimension_value
    as_shape=TensorShape
framework.tensor_util is_symbolic_tensor
framework.tensor_conversion
framework.tensor_conversion_registry register_tensor_conversion_function
framework.constant_op constant
framework.dtypes DType as_dtype | tf
framework.errors | tf.errors
framework.errors_impl | tf.errors
framework.indexed_slices IndexedSlices IndexedSlicesSpec
framework.sparse_tensor SparseTensor SparseTensorSpec
framework.composite_tensor CompositeTensor=gradtape.core.composites:CompositeTensor
framework.composite_tensor_gradient CompositeTensorGradient=gradtape.core.composites:CompositeTensorGradient
    CompositeTensorGradientProtocol=gradtape.core.composites:CompositeTensorGradientProtocol
    WithValuesCompositeTensorGradient=gradtape.core.composites:WithValuesCompositeTensorGradient
framework.type_spec TypeSpec type_spec_from_value | gradtape.state.type_spec:
framework.type_spec_registry
framework.extension_type ExtensionType=experimental.ExtensionType
    BatchableExtensionType=experimental.BatchableExtensionType
framework.random_seed set_seed=random.set_seed set_random_seed=random.set_seed
framework.config | tf.config
framework.test_util TensorFlowTestCase=test.TestCase
framework.versions VERSION=version.VERSION __version__=version.VERSION
framework.device_spec DeviceSpecV2=DeviceSpec
framework.func_graph
framework.c_api_util
framework.convert_to_constants | gradtape_tensorflow.graph_defs.freezing:
framework.function_def_to_graph
framework.graph_util | tf.compat.v1.graph_util
grappler.tf_optimizer
framework.smart_cond
eager.context
eager.monitoring
eager.test TestCase=test.TestCase main=test.main | tf.test
eager.record
eager.tape
eager.backprop
eager.def_function function Function=gradtape.graph.function.function:Function
eager.polymorphic_function.polymorphic_function function Function=gradtape.graph.function.function:Function
eager.forwardprop ForwardAccumulator=autodiff.ForwardAccumulator
module.module Module
types.core TensorLike=types.experimental.TensorLike
types.trace TraceType=types.experimental.TraceType
util.dispatch
util.keras_deps
util.nest
util.tf_export
util.tf_inspect
util.tf_decorator
util.deprecation
util.object_identity
util.all_util
util.tf_contextlib
util.variable_utils
util.compat as_bytes=compat.as_bytes as_text=compat.as_text as_str=compat.as_str as_str_any=compat.as_str_any
platform.tf_logging | tf.compat.v1.logging
platform.test TestCase=test.TestCase main=test.main | tf.test
platform.gfile GFile=io.gfile.GFile | tf.compat.v1.gfile
lib.io.file_io | tf.io.gfile
data.experimental.ops.distribute
lib.io.tf_record TFRecordWriter=io.TFRecordWriter TFRecordOptions=io.TFRecordOptions
    tf_record_iterator=gradtape.state.record_files:records
ops.array_ops reverse_v2=reverse diag=linalg.tensor_diag diag_part=linalg.tensor_diag_part
    where_v2=where gather_v2=gather batch_gather=compat.v1.batch_gather expand_dims_v2=expand_dims
    squeeze_v2=squeeze size_v2=size shape_v2=shape zeros_like_v2=zeros_like ones_like_v2=ones_like
    placeholder_with_default=compat.v1.placeholder_with_default placeholder=compat.v1.placeholder
    matrix_transpose=linalg.matrix_transpose matrix_diag=linalg.diag matrix_diag_part=linalg.diag_part
    matrix_set_diag=linalg.set_diag matrix_band_part=linalg.band_part invert_permutation=math.invert_permutation
    reverse_v2=reverse diag=linalg.tensor_diag diag_part=linalg.tensor_diag_part
    tensor_scatter_update=tensor_scatter_nd_update tensor_scatter_add=tensor_scatter_nd_add
    check_numerics=debugging.check_numerics stop_gradient rank shape size | tf
ops.array_ops_stack stack unstack
ops.math_ops reduce_sum_v1=reduce_sum cast lin_space=linspace | tf.math tf
ops.nn_ops | tf.nn
ops.nn_impl | tf.nn
ops.nn fused_batch_norm=compat.v1.nn.fused_batch_norm moments=compat.v1.nn.moments | tf.nn tf.compat.v1.nn
ops.linalg_ops cholesky=linalg.cholesky matrix_triangular_solve=linalg.triangular_solve matrix_solve=linalg.solve
    matrix_inverse=linalg.inv matrix_determinant=linalg.det self_adjoint_eig=linalg.eigh
    self_adjoint_eigvals=linalg.eigvalsh | tf.linalg tf
ops.linalg.linalg_impl | tf.linalg
ops.linalg.linalg | tf.linalg
ops.linalg.sparse.sparse
ops.linalg.sparse.sparse_csr_matrix_ops
ops.linalg.linear_operator LinearOperator=linalg.LinearOperator
    make_composite_tensor=gradtape.api.linalg.operators.basis.base:make_composite_tensor
ops.linalg.linear_operator_addition add_operators=gradtape.api.linalg.operators.addition:add_operators
ops.random_ops random_uniform=random.uniform random_normal=random.normal truncated_normal=random.truncated_normal
    random_gamma=random.gamma random_shuffle=random.shuffle | tf.random
ops.stateless_random_ops stateless_random_uniform=random.stateless_uniform
    stateless_random_normal=random.stateless_normal | tf.random
ops.stateful_random_ops | tf.random
ops.control_flow_ops cond=cond while_loop=while_loop group=group no_op=no_op tuple=tuple switch_case=switch_case
    case=case get_enclosing_xla_context=gradtape_tensorflow.python.ops.control_flow_util:get_enclosing_xla_context | tf
ops.cond cond
ops.while_loop while_loop
ops.control_flow_case case
ops.control_flow_assert Assert=debugging.Assert
ops.control_flow_util
ops.control_flow_switch_case
ops.weights_broadcast_ops
ops.ragged.ragged_util
ops.parallel_for.control_flow_ops vectorized_map
ops.custom_gradient custom_gradient recompute_grad
ops.gradients_impl gradients=compat.v1.gradients
ops.gradients gradients=compat.v1.gradients GradientTape
ops.variables
ops.tensor_getitem_override _slice_helper=gradtape_tensorflow.python.ops.array_ops:_slice_helper
    _slice_helper_var=gradtape_tensorflow.python.ops.array_ops:_SliceHelperVar
ops.variable_scope variable_scope=compat.v1.variable_scope get_variable=compat.v1.get_variable variable_creator_scope
ops.resource_variable_ops ResourceVariable=Variable BaseResourceVariable=Variable Variable
    VariableSpec=gradtape.state.specs:VariableSpec
ops.confusion_matrix confusion_matrix=math.confusion_matrix
ops.check_ops | tf.debugging tf.compat.v1
ops.clustering_ops
ops.clip_ops clip_by_value clip_by_norm clip_by_global_norm global_norm=linalg.global_norm
ops.embedding_ops embedding_lookup=nn.embedding_lookup embedding_lookup_sparse=nn.embedding_lookup_sparse
ops.init_ops | tf.compat.v1 tf
ops.init_ops_v2 | tf
ops.image_ops | tf.image
ops.string_ops string_lower=strings.lower string_upper=strings.upper | tf.strings
ops.sparse_ops sparse_concat=sparse.concat | tf.sparse
ops.signal.signal | tf.signal
ops.special_math_ops _einsum_v1=einsum einsum | tf.math.special tf.math
ops.bitwise_ops | tf.bitwise
ops.functional_ops foldl foldr scan map_fn
ops.map_fn map_fn
ops.tensor_array_ops TensorArray
ops.script_ops py_function numpy_function py_func=compat.v1.py_func
ops.logging_ops print_v2=print Print=compat.v1.Print
ops.lookup_ops LookupInterface=gradtape.api.lookup.tables:LookupTable HashTable=lookup.StaticHashTable
    InitializableLookupTableBase=gradtape.api.lookup.tables:LookupTable | tf.lookup
ops.summary_ops_v2 | tf.summary
ops.template make_template=compat.v1.make_template
ops.numpy_ops | tf.experimental.numpy
ops.numpy_ops.np_dtypes
ops.parsing_ops | tf.io tf.compat.v1
ops.ragged.ragged_ops | tf.ragged tf
ops.ragged.ragged_conversion_ops from_tensor=RaggedTensor.from_tensor
ops.ragged.ragged_tensor RaggedTensor RaggedTensorSpec is_ragged=gradtape_tensorflow.v1.ragged:is_ragged
    convert_to_tensor_or_ragged_tensor=gradtape.ragged.arrays:values_of
ops.ragged.ragged_factory_ops constant=ragged.constant
ops.ragged.ragged_array_ops boolean_mask=ragged.boolean_mask tile expand_dims size rank reverse one_hot split
    stack_dynamic_partitions=ragged.stack_dynamic_partitions cross=ragged.cross cross_hashed=ragged.cross_hashed
ops.ragged.ragged_concat_ops concat stack=ragged.stack
ops.ragged.ragged_functional_ops map_flat_values=ragged.map_flat_values
ops.ragged.ragged_gather_ops gather gather_nd
ops.ragged.ragged_map_ops map_fn
ops.ragged.ragged_math_ops range=ragged.range softmax=nn.softmax segment_sum=math.unsorted_segment_sum | tf.math
ops.ragged.ragged_squeeze_op squeeze
ops.ragged.ragged_string_ops string_split_v2=strings.split string_bytes_split=strings.bytes_split | tf.strings
ops.ragged.ragged_where_op where where_v2=where
ops.ragged.row_partition RowPartition=experimental.RowPartition
    RowPartitionSpec=gradtape.ragged.partition:RowPartitionSpec
ops.ragged.dynamic_ragged_shape DynamicRaggedShape=experimental.DynamicRaggedShape
ops.ragged.segment_id_ops row_splits_to_segment_ids=ragged.row_splits_to_segment_ids
    segment_ids_to_row_splits=ragged.segment_ids_to_row_splits
ops.losses.losses_impl | tf.compat.v1.losses
ops.state_ops | tf.compat.v1
data.ops.dataset_ops Dataset=data.Dataset DatasetV2=data.Dataset DatasetSpec=data.DatasetSpec Options=data.Options
    | tf.compat.v1.data
data.ops.iterator_ops OwnedIterator=data.Iterator IteratorBase=data.Iterator
data.ops.options Options=data.Options
data.ops.range_op _RangeDataset=gradtape_tensorflow.python.data.ops.sources:_RangeDataset
data.ops.from_generator_op _GeneratorDataset=gradtape_tensorflow.python.data.ops.sources:_GeneratorDataset
data.ops.from_tensors_op _TensorDataset=gradtape_tensorflow.python.data.ops.sources:_TensorDataset
data.ops.from_tensor_slices_op _TensorSliceDataset=gradtape_tensorflow.python.data.ops.sources:_TensorSliceDataset
data.util.structure NoneTensorSpec=gradtape.data.elements.specs:NoneTensorSpec
data.experimental | tf.data.experimental
trackable.base Trackable=gradtape.core.owners:Trackable TrackableReference=gradtape.core.owners:TrackableReference
trackable.autotrackable AutoTrackable=gradtape.core.owners:Owner
trackable.data_structures
training.moving_averages ExponentialMovingAverage=train.ExponentialMovingAverage
training.optimizer Optimizer=compat.v1.train.Optimizer
training.checkpoint_utils | tf.train
checkpoint.checkpoint Checkpoint=train.Checkpoint
checkpoint.checkpoint_management CheckpointManager=train.CheckpointManager latest_checkpoint=train.latest_checkpoint
distribute.distribution_strategy_context | tf.distribute
distribute.distribute_lib | tf.distribute
distribute.distribute_utils
distribute.input_lib DistributedDataset=distribute.DistributedDataset
    DistributedDatasetsFromFunction=distribute.DistributedDataset
distribute.input_ops
distribute.load_context
distribute.merge_call_interim
distribute.ps_values
distribute.values DistributedValues=distribute.DistributedValues PerReplica=gradtape.distribute.values:PerReplica
    Mirrored=gradtape.distribute.values:Mirrored PerReplicaSpec=gradtape.distribute.values:PerReplicaSpec
    DistributedVariable=gradtape.distribute.variables:DistributedVariable
    MirroredVariable=gradtape.distribute.variables:MirroredVariable
    SyncOnReadVariable=gradtape.distribute.variables:SyncOnReadVariable
    AggregatingVariable=gradtape_tensorflow.python.distribute.ps_values:AggregatingVariable
autograph.impl.api do_not_convert=autograph.experimental.do_not_convert
feature_column.feature_column_lib | tf.feature_column gradtape_tensorflow.feature_column.serialization:
    gradtape_tensorflow.feature_column.columns: gradtape_tensorflow.feature_column.dense:
    gradtape_tensorflow.feature_column.categorical: gradtape_tensorflow.feature_column.sequence_categorical:
    gradtape_tensorflow.feature_column.sequence_numeric:
feature_column.feature_column_v2 StateManager=gradtape_tensorflow.feature_column.columns:StateManager
    _StateManagerImpl=gradtape_tensorflow.feature_column.columns:StateManager
    _transform_features_v2=gradtape_tensorflow.feature_column.columns:transform_features
    make_parse_example_spec_v2=feature_column.make_parse_example_spec
    shared_embedding_columns_v2=feature_column.shared_embeddings
    categorical_column_with_vocabulary_file_v2=feature_column.categorical_column_with_vocabulary_file
    _normalize_feature_columns=gradtape_tensorflow.feature_column.columns:normalize_feature_columns
    | tf.feature_column gradtape_tensorflow.feature_column.columns: gradtape_tensorflow.feature_column.dense:
    gradtape_tensorflow.feature_column.categorical:
    gradtape_tensorflow.feature_column.sequence_categorical:
feature_column.feature_column_v2_types FeatureColumn=gradtape_tensorflow.feature_column.columns:FeatureColumn
feature_column.sequence_feature_column | tf.feature_column gradtape_tensorflow.feature_column.sequence_numeric:
feature_column.serialization | gradtape_tensorflow.feature_column.serialization:
feature_column.utils assert_key_is_string=gradtape_tensorflow.feature_column.columns:check_key
    assert_string_or_int=gradtape_tensorflow.feature_column.columns:check_string_or_integer
    sequence_length_from_sparse_tensor=gradtape_tensorflow.feature_column.columns:sequence_length_from_sparse_tensor
client.session Session=compat.v1.Session
saved_model.save
saved_model.load
saved_model.model_utils.mode_keys
saved_model.revived_types
trackable.resource
training.server_lib ClusterSpec=train.ClusterSpec
distribute.cluster_resolver SimpleClusterResolver=distribute.cluster_resolver.SimpleClusterResolver
data.ops.from_sparse_tensor_slices_op
    _SparseTensorSliceDataset=gradtape_tensorflow.python.data.ops.sources:_SparseTensorSliceDataset
pywrap_tfe
pywrap_tensorflow NewCheckpointReader=gradtape_tensorflow.python.training.py_checkpoint_reader:NewCheckpointReader
tf2
client.device_lib
client.timeline
data AUTOTUNE=data.AUTOTUNE Dataset=data.Dataset Iterator=data.Iterator TFRecordDataset=data.TFRecordDataset
    TextLineDataset=data.TextLineDataset FixedLengthRecordDataset=data.FixedLengthRecordDataset Options=data.Options
    experimental=data.experimental
data.util.nest
distribute.mirrored_strategy MirroredStrategy=distribute.MirroredStrategy
distribute.parameter_server_strategy_v2
    ParameterServerStrategyV2=distribute.experimental.ParameterServerStrategy
distribute.ps_values AggregatingVariable=gradtape_tensorflow.python.distribute.ps_values:AggregatingVariable
distribute.reduce_util ReduceOp=distribute.ReduceOp
distribute.sharded_variable
distribute.tpu_strategy TPUStrategyV2=distribute.TPUStrategy TPUStrategy=distribute.TPUStrategy
eager.function
eager.polymorphic_function.concrete_function
    ConcreteFunction=gradtape.graph.function.concrete_function:ConcreteFunction
framework.auto_control_deps
framework.function
framework.registry
lib.io.python_io | tf.io
ops.array_grad
ops.math_grad
ops.nn_grad
ops.random_grad
ops.losses.losses | tf.compat.v1.losses
ops.losses.loss_reduction
ops.sets | tf.sets
ops.spectral_ops | tf.signal
ops.standard_ops | tf tf.math tf.linalg tf.compat.v1
ops.while_v2 while_loop
ops.cond_v2 cond_v2=cond
platform.app
platform.build_info
platform.flags
tools.inspect_checkpoint
tools.module_util
training.checkpoint_management CheckpointManager=train.CheckpointManager latest_checkpoint=train.latest_checkpoint
    | tf.compat.v1.train
training.learning_rate_decay | tf.compat.v1.train
training.py_checkpoint_reader
training.session_run_hook
training.basic_session_run_hooks
training.slot_creator
training.experimental.loss_scale
training.experimental.loss_scale_optimizer
training.experimental.mixed_precision
training.tracking.autotrackable AutoTrackable=gradtape.core.owners:Owner
training.tracking.base Trackable=gradtape.core.owners:Trackable
    TrackableReference=gradtape.core.owners:TrackableReference
    | gradtape_tensorflow.python.trackable.base:
training.tracking.data_structures | gradtape_tensorflow.python.trackable.data_structures:
training.tracking.tracking AutoTrackable=gradtape.core.owners:Owner | gradtape_tensorflow.python.trackable.resource:
training.tracking.util Checkpoint=train.Checkpoint | tf.train
training.training | tf.compat.v1.train tf.train
types.internal
util.function_utils
util.is_in_graph_mode
util.keyword_args
util.lazy_loader
util.module_wrapper
util.numpy_compat
util.serialization
util.tf_should_use
util.tf_stack
ops.metrics | gradtape_tensorflow.python.ops.metrics_impl:
ops.metrics_impl
summary.summary | tf.compat.v1.summary
summary.writer.writer
compiler.tf2xla.python.xla
platform.resource_loader
saved_model.nested_structure_coder
tpu.tpu_function on_device_training_loop=gradtape_tensorflow.python.tpu.unavailable:on_device_training_loop
tpu.datasets | gradtape_tensorflow.python.tpu.unavailable:
tpu.device_assignment | gradtape_tensorflow.python.tpu.unavailable:
tpu.functional | gradtape_tensorflow.python.tpu.unavailable:
tpu.ops.tpu_ops | gradtape_tensorflow.python.tpu.unavailable:
tpu.tensor_tracer | gradtape_tensorflow.python.tpu.unavailable:
tpu.topology | gradtape_tensorflow.python.tpu.unavailable:
tpu.tpu | gradtape_tensorflow.python.tpu.unavailable:
tpu.tpu_embedding | gradtape_tensorflow.python.tpu.unavailable:
tpu.tpu_feed | gradtape_tensorflow.python.tpu.unavailable:
tpu.training_loop | gradtape_tensorflow.python.tpu.unavailable:
ops.rnn
summary.summary_iterator
training.evaluation
training.monitored_session
training.queue_runner
training.supervisor | gradtape_tensorflow.python.training.monitored_session:
training.session_manager | gradtape_tensorflow.python.training.monitored_session:
ops.io_ops | tf.io
training.queue_runner_impl | gradtape_tensorflow.python.training.queue_runner:
training.tracking.graph_view | gradtape_tensorflow.python.checkpoint.graph_view:
util.traceback_utils
tools.docs.doc_controls
dtensor.python.api | tf.experimental.dtensor
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
        "training.basic_session_run_hooks",
        "CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook GlobalStepWaiterHook LoggingTensorHook "
        "NanLossDuringTrainingError NanTensorHook ProfilerHook SessionRunArgs SessionRunContext SessionRunHook "
        "SessionRunValues StepCounterHook StopAtStepHook SummarySaverHook",
    ),
    (
        "train",
        "training.monitored_session",
        "ChiefSessionCreator MonitoredSession MonitoredTrainingSession Scaffold SessionManager "
        "SingularMonitoredSession Supervisor WorkerSessionCreator",
    ),
    ("train", "training.queue_runner", "QueueRunner add_queue_runner start_queue_runners"),
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
