# Written by tools/write_stubs.py.
from gradtape.data import experimental as experimental
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
import sys
if sys.platform == "jedi":
    del (
        background,
        batching,
        caching,
        calls,
        dataset,
        datasets,
        deprecated,
        elements,
        files,
        fingerprints,
        grouping,
        iterators,
        lookup_tables,
        options,
        order,
        pipeline,
        resampling,
        resumable,
        sharding,
        sources,
        storing,
        transformations,
    )
