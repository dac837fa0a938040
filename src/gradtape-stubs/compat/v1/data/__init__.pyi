# Written by tools/write_stubs.py.
from gradtape.data.datasets import (
    AUTOTUNE as AUTOTUNE,
    Dataset as Dataset,
    DatasetSpec as DatasetSpec,
    INFINITE_CARDINALITY as INFINITE_CARDINALITY,
    Iterator as Iterator,
    IteratorSpec as IteratorSpec,
    NumpyIterator as NumpyIterator,
    Options as Options,
    TextLineDataset as TextLineDataset,
    ThreadingOptions as ThreadingOptions,
    UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY,
)
from gradtape.data.files.record_files import (
    FixedLengthRecordDataset as FixedLengthRecordDataset,
    TFRecordDataset as TFRecordDataset,
)
from gradtape_tensorflow.v1.data import (
    get_output_classes as get_output_classes,
    get_output_shapes as get_output_shapes,
    get_output_types as get_output_types,
    make_initializable_iterator as make_initializable_iterator,
    make_one_shot_iterator as make_one_shot_iterator,
)
