# Written by tools/write_stubs.py.
from gradtape_tensorflow.feature_column.categorical import (
    categorical_column_with_hash_bucket as categorical_column_with_hash_bucket,
    categorical_column_with_identity as categorical_column_with_identity,
    categorical_column_with_vocabulary_file as categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list as categorical_column_with_vocabulary_list,
    crossed_column as crossed_column,
    weighted_categorical_column as weighted_categorical_column,
)
from gradtape_tensorflow.feature_column.dense import (
    bucketized_column as bucketized_column,
    embedding_column as embedding_column,
    indicator_column as indicator_column,
    make_parse_example_spec as make_parse_example_spec,
    numeric_column as numeric_column,
    shared_embeddings as shared_embeddings,
)
from gradtape_tensorflow.feature_column.sequences import (
    sequence_categorical_column_with_hash_bucket as sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity as sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file as sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list as sequence_categorical_column_with_vocabulary_list,
    sequence_numeric_column as sequence_numeric_column,
)
