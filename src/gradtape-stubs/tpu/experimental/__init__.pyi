# Written by tools/write_stubs.py.
from gradtape.tpu.experimental import embedding as embedding
from gradtape_tensorflow.tpu.system import (
    DeviceAssignment as DeviceAssignment,
    DeviceOrderMode as DeviceOrderMode,
    HardwareFeature as HardwareFeature,
    initialize_tpu_system as initialize_tpu_system,
)
