# Written by tools/write_stubs.py.
from gradtape_tensorflow.tpu.embedding_optimizers import (
    Adagrad as Adagrad,
    AdagradMomentum as AdagradMomentum,
    Adam as Adam,
    CustomOptimizer as CustomOptimizer,
    FTRL as FTRL,
    SGD as SGD,
)
from gradtape_tensorflow.tpu.embedding_tables import (
    CustomCombiner as CustomCombiner,
    FeatureConfig as FeatureConfig,
    QuantizationConfig as QuantizationConfig,
    RowIdInitializer as RowIdInitializer,
    SparseCoreEmbeddingConfig as SparseCoreEmbeddingConfig,
    TableConfig as TableConfig,
)
from gradtape_tensorflow.tpu.embeddings import (
    TPUEmbedding as TPUEmbedding,
    TPUEmbeddingForServing as TPUEmbeddingForServing,
    TPUEmbeddingV0 as TPUEmbeddingV0,
    TPUEmbeddingV2 as TPUEmbeddingV2,
    serving_embedding_lookup as serving_embedding_lookup,
)
