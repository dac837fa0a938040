# Written by tools/write_stubs.py for Keras 3.15.1.
from gradtape.keras import callbacks as callbacks
from gradtape.keras import constraints as constraints
from gradtape.keras import initializers as initializers
from gradtape.keras.initializers import (
    Initializer as Initializer,
)
from gradtape.keras import layers as layers
from gradtape.keras.layers import (
    InputSpec as InputSpec,
    Layer as Layer,
)
from gradtape.keras import losses as losses
from gradtape.keras.losses import (
    Loss as Loss,
)
from gradtape.keras import metrics as metrics
from gradtape.keras.metrics import (
    Metric as Metric,
)
from gradtape.keras import models as models
from gradtape.keras.models import (
    Model as Model,
    Sequential as Sequential,
)
from gradtape.keras import optimizers as optimizers
from gradtape.keras.optimizers import (
    Optimizer as Optimizer,
)
from gradtape.keras import regularizers as regularizers
from gradtape.keras.regularizers import (
    Regularizer as Regularizer,
)
from keras._tf_keras.keras import (
    DTypePolicy as DTypePolicy,
    FloatDTypePolicy as FloatDTypePolicy,
    Function as Function,
    Input as Input,
    KerasTensor as KerasTensor,
    Operation as Operation,
    Quantizer as Quantizer,
    RematScope as RematScope,
    StatelessScope as StatelessScope,
    SymbolicScope as SymbolicScope,
    Variable as Variable,
    activations as activations,
    applications as applications,
    backend as backend,
    config as config,
    datasets as datasets,
    device as device,
    distillation as distillation,
    distribution as distribution,
    dtype_policies as dtype_policies,
    export as export,
    legacy as legacy,
    mixed_precision as mixed_precision,
    name_scope as name_scope,
    ops as ops,
    preprocessing as preprocessing,
    quantizers as quantizers,
    random as random,
    remat as remat,
    tree as tree,
    utils as utils,
    version as version,
    visualization as visualization,
    wrappers as wrappers,
)
import sys
if sys.platform == "jedi":
    del (
        load,
        sys,
    )
