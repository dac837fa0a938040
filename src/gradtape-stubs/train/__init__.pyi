# Written by tools/write_stubs.py.
from gradtape.train import experimental as experimental
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
    Checkpoint as Checkpoint,
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
