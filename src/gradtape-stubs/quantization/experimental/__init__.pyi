# Written by tools/write_stubs.py.
from gradtape_tensorflow.protos.quantization import (
    QuantizationComponentSpec as QuantizationComponentSpec,
    QuantizationMethod as QuantizationMethod,
    QuantizationOptions as QuantizationOptions,
    UnitWiseQuantizationSpec as UnitWiseQuantizationSpec,
)
from gradtape_tensorflow.protos.representative_data import (
    TfRecordRepresentativeDatasetSaver as TfRecordRepresentativeDatasetSaver,
    quantize_saved_model as quantize_saved_model,
)
