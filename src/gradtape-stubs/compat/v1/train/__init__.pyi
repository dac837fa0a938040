# Written by tools/write_stubs.py.
from gradtape.api.io.examples import (
    BytesList as BytesList,
    Example as Example,
    Feature as Feature,
    FeatureList as FeatureList,
    FeatureLists as FeatureLists,
    Features as Features,
    FloatList as FloatList,
    Int64List as Int64List,
    SequenceExample as SequenceExample,
)
from gradtape.api.train.threads import (
    ClusterSpec as ClusterSpec,
    Coordinator as Coordinator,
)
from gradtape.checkpoint.train import (
    CheckpointManager as CheckpointManager,
    CheckpointOptions as CheckpointOptions,
    ExponentialMovingAverage as ExponentialMovingAverage,
    checkpoints_iterator as checkpoints_iterator,
    get_checkpoint_state as get_checkpoint_state,
    latest_checkpoint as latest_checkpoint,
    list_variables as list_variables,
    load_checkpoint as load_checkpoint,
    load_variable as load_variable,
)
from gradtape.checkpoint.views import (
    CheckpointView as CheckpointView,
    TrackableView as TrackableView,
)
from gradtape_tensorflow.protos.train import (
    ClusterDef as ClusterDef,
    JobDef as JobDef,
    ServerDef as ServerDef,
)
from gradtape_tensorflow.v1.summary.files import (
    summary_iterator as summary_iterator,
)
from gradtape_tensorflow.v1.train.optimizers import (
    AdadeltaOptimizer as AdadeltaOptimizer,
    AdagradDAOptimizer as AdagradDAOptimizer,
    AdagradOptimizer as AdagradOptimizer,
    AdamOptimizer as AdamOptimizer,
    FtrlOptimizer as FtrlOptimizer,
    GradientDescentOptimizer as GradientDescentOptimizer,
    MomentumOptimizer as MomentumOptimizer,
    Optimizer as Optimizer,
    ProximalAdagradOptimizer as ProximalAdagradOptimizer,
    ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer,
    RMSPropOptimizer as RMSPropOptimizer,
)
from gradtape_tensorflow.v1.train.saver import (
    Saver as Saver,
    SaverDef as SaverDef,
    checkpoint_exists as checkpoint_exists,
    export_meta_graph as export_meta_graph,
    get_checkpoint_mtimes as get_checkpoint_mtimes,
    remove_checkpoint as remove_checkpoint,
    update_checkpoint_state as update_checkpoint_state,
)
from gradtape_tensorflow.v1.train.steps import (
    NewCheckpointReader as NewCheckpointReader,
    cosine_decay as cosine_decay,
    cosine_decay_restarts as cosine_decay_restarts,
    create_global_step as create_global_step,
    exponential_decay as exponential_decay,
    get_global_step as get_global_step,
    get_or_create_global_step as get_or_create_global_step,
    inverse_time_decay as inverse_time_decay,
    linear_cosine_decay as linear_cosine_decay,
    natural_exp_decay as natural_exp_decay,
    noisy_linear_cosine_decay as noisy_linear_cosine_decay,
    piecewise_constant as piecewise_constant,
    piecewise_constant_decay as piecewise_constant_decay,
    polynomial_decay as polynomial_decay,
)
