# Written by tools/write_stubs.py.
from gradtape.distribute.experimental import coordinator as coordinator
from gradtape.api.distribute.communication import (
    CollectiveHints as CollectiveHints,
    CommunicationImplementation as CommunicationImplementation,
    CommunicationImplementation as _CollectiveCommunication,
    CommunicationOptions as CommunicationOptions,
)
from gradtape.api.distribute.deprecated import (
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
)
from gradtape.api.distribute.experimental_strategies import (
    TPUStrategy as TPUStrategy,
)
from gradtape.api.distribute.options import (
    ValueContext as ValueContext,
)
from gradtape.api.distribute.other_strategies import (
    CentralStorageStrategy as CentralStorageStrategy,
    ParameterServerStrategy as ParameterServerStrategy,
)
from gradtape.api.distribute.preemption import (
    PreemptionCheckpointHandler as PreemptionCheckpointHandler,
    PreemptionWatcher as PreemptionWatcher,
    TerminationConfig as TerminationConfig,
)
CollectiveCommunication = _CollectiveCommunication
