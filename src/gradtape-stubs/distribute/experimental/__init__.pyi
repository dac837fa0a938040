# Written by tools/write_stubs.py.
from gradtape.distribute.experimental import coordinator as coordinator
from gradtape.distribute.cluster.preemption import (
    PreemptionCheckpointHandler as PreemptionCheckpointHandler,
    TerminationConfig as TerminationConfig,
)
from gradtape.distribute.deprecated import (
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
    TPUStrategy as TPUStrategy,
)
from gradtape.distribute.options import (
    CommunicationImplementation as CommunicationImplementation,
    CommunicationImplementation as _CollectiveCommunication,
    CommunicationOptions as CommunicationOptions,
    ValueContext as ValueContext,
)
from gradtape.distribute.other_strategies import (
    CentralStorageStrategy as CentralStorageStrategy,
    ParameterServerStrategy as ParameterServerStrategy,
)
CollectiveCommunication = _CollectiveCommunication
