# Written by tools/write_stubs.py.
from gradtape.data.datasets import (
    ThreadingOptions as ThreadingOptions,
)
from gradtape.data.deprecated import (
    RandomDataset as RandomDataset,
    Reducer as Reducer,
    at as at,
    bucket_by_sequence_length as bucket_by_sequence_length,
    copy_to_device as copy_to_device,
    enable_debug_mode as enable_debug_mode,
    from_list as from_list,
    group_by_reducer as group_by_reducer,
    group_by_window as group_by_window,
    map_and_batch as map_and_batch,
    parallel_interleave as parallel_interleave,
    prefetch_to_device as prefetch_to_device,
    rejection_resample as rejection_resample,
    shuffle_and_repeat as shuffle_and_repeat,
)
from gradtape.data.files.csv_files import (
    CsvDataset as CsvDataset,
    make_csv_dataset as make_csv_dataset,
)
from gradtape.data.files.example_files import (
    SqlDataset as SqlDataset,
    TFRecordWriter as TFRecordWriter,
    from_variant as from_variant,
    make_batched_features_dataset as make_batched_features_dataset,
    pad_to_cardinality as pad_to_cardinality,
    parse_example_dataset as parse_example_dataset,
    to_variant as to_variant,
)
from gradtape.data.lookup_tables import (
    DatasetInitializer as DatasetInitializer,
    index_table_from_dataset as index_table_from_dataset,
    table_from_dataset as table_from_dataset,
)
from gradtape.data.optional import (
    Optional as Optional,
)
from gradtape.data.policies import (
    AutoShardPolicy as AutoShardPolicy,
    AutotuneAlgorithm as AutotuneAlgorithm,
    AutotuneOptions as AutotuneOptions,
    DistributeOptions as DistributeOptions,
    ExternalStatePolicy as ExternalStatePolicy,
    OptimizationOptions as OptimizationOptions,
    SHARD_HINT as SHARD_HINT,
    ServiceOptions as ServiceOptions,
)
from gradtape.data.transformations import (
    AUTOTUNE as AUTOTUNE,
    Counter as Counter,
    INFINITE_CARDINALITY as INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY,
    assert_cardinality as assert_cardinality,
    cardinality as cardinality,
    choose_from_datasets as choose_from_datasets,
    dense_to_ragged_batch as dense_to_ragged_batch,
    dense_to_sparse_batch as dense_to_sparse_batch,
    enumerate_dataset as enumerate_dataset,
    get_next_as_optional as get_next_as_optional,
    get_single_element as get_single_element,
    get_structure as get_structure,
    ignore_errors as ignore_errors,
    load as load,
    sample_from_datasets as sample_from_datasets,
    save as save,
    scan as scan,
    snapshot as snapshot,
    take_while as take_while,
    unbatch as unbatch,
    unique as unique,
)
