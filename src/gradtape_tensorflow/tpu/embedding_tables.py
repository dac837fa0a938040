"""Embedding tables and the features that are looked up in them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from gradtape.api.random.draws import truncated_normal
from gradtape.core import dtypes
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import Tensor
from gradtape.engine.run.convert import to_tensor

from .embedding_optimizers import EmbeddingOptimizer

NAMESPACES = ("tpu.experimental.embedding",)
__all__ = [
    "CustomCombiner", "FeatureConfig", "QuantizationConfig", "RowIdInitializer", "SparseCoreEmbeddingConfig",
    "TableConfig",
]  # fmt: skip

_COMBINERS = ("mean", "sum", "sqrtn")


class RowIdInitializer:
    """An initializer that fills each row with its number.

    >>> tf.tpu.experimental.embedding.RowIdInitializer(10)([2, 2], tf.float32).numpy().tolist()
    [[10.0, 10.0], [11.0, 11.0]]
    """

    __module__ = "gradtape.tpu.experimental.embedding"

    def __init__(self, offset: int = 0) -> None:
        self.offset = offset

    def __call__(self, shape: Any, dtype: Any, **kwargs: Any) -> Tensor:
        rows, columns = (int(size or 0) for size in TensorShape(shape).as_list())
        numbers = [[row + self.offset] * columns for row in range(rows)]
        return to_tensor(numbers, dtype=dtypes.as_dtype(dtype))


class QuantizationConfig(NamedTuple):
    """How embeddings are quantized on their way to a TPU core.

    >>> tf.tpu.experimental.embedding.QuantizationConfig(256, -1.0, 1.0).num_buckets
    256
    """

    num_buckets: int
    lower: float
    upper: float


QuantizationConfig.__module__ = "gradtape.tpu.experimental.embedding"


class CustomCombiner:
    """A combiner that the program defines.

    >>> tf.tpu.experimental.embedding.CustomCombiner(tf.function(lambda x: x), max_valency=4).max_valency
    4
    """

    __module__ = "gradtape.tpu.experimental.embedding"

    CUSTOM_COMBINER_SLOT_NAME = "custom_combiner_weights"

    def __init__(
        self,
        combiner_computation: Any,
        max_valency: int,
        num_weights: int = 0,
        initializer: Any = None,
        combiner_weights_learning_rate: float | Callable[[], float] = 0.01,
    ) -> None:
        if max_valency <= 0:
            raise ValueError(f"max_valency must be a positive integer, but got {max_valency}.")
        self.combiner_computation, self.max_valency, self.num_weights = combiner_computation, max_valency, num_weights
        self.initializer, self.combiner_weights_learning_rate = initializer, combiner_weights_learning_rate


def _draw_table(stddev: float, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
    """The default initializer."""
    return truncated_normal(shape, 0.0, stddev, dtype)


class TableConfig:
    """An embedding table.

    >>> tf.tpu.experimental.embedding.TableConfig(10, 4, combiner="sum").dim
    4

    Args:
      vocabulary_size: the number of rows.
      dim: the size of an embedding.
      initializer: a function of a shape and a dtype; by default truncated normal.
      optimizer: an optimizer of this table.
      combiner: `mean`, `sum` or `sqrtn`: how the embeddings of an example are combined.
      name: the name of the variable.
      dtype: the dtype.
    """

    __module__ = "gradtape.tpu.experimental.embedding"

    def __init__(
        self,
        vocabulary_size: int,
        dim: int,
        initializer: Callable[..., Any] | None = None,
        optimizer: EmbeddingOptimizer | None = None,
        combiner: Any = "mean",
        name: str | None = None,
        quantization_config: QuantizationConfig | None = None,
        layout: Any = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        if not isinstance(vocabulary_size, int) or vocabulary_size < 1:
            raise ValueError(f"Argument `vocabulary_size` must be an int and must be >= 1. Received: {vocabulary_size}")
        if not isinstance(dim, int) or dim < 1:
            raise ValueError(f"Argument `dim` (embedding dimension) must be an int and must be >= 1. Received: {dim}")
        if initializer is not None and not callable(initializer):
            raise ValueError(f"Argument `initializer` must be a callable (or None). Received: {initializer}")
        if isinstance(combiner, str) and combiner not in _COMBINERS:
            raise ValueError(f"String argument `combiner` must be in {_COMBINERS}. Received: {combiner}")
        self.vocabulary_size, self.dim, self.optimizer, self.combiner = vocabulary_size, dim, optimizer, combiner
        self.initializer = initializer or partial(_draw_table, 1 / math.sqrt(dim))
        self.name, self.quantization_config, self.layout = name, quantization_config, layout
        self.dtype = dtypes.as_dtype(dtype)

    def __repr__(self) -> str:
        return (
            f"TableConfig(vocabulary_size={self.vocabulary_size}, dim={self.dim}, initializer={self.initializer!r}, "
            f"optimizer={self.optimizer!r}, combiner={self.combiner!r}, name={self.name!r}, "
            f"quantization_config={self.quantization_config!r})"
        )


class FeatureConfig:
    """A feature that is looked up in a table.

    >>> embedding = tf.tpu.experimental.embedding
    >>> embedding.FeatureConfig(table=embedding.TableConfig(10, 4), max_sequence_length=3).max_sequence_length
    3

    Args:
      table: the table.
      max_sequence_length: if it is not 0, embeddings are not combined, and an example has that many.
      validate_weights_and_indices: whether rows without values are looked up as zeros.
      output_shape: the shape of the result without its last axis.
      name: a name for messages.
    """

    __module__ = "gradtape.tpu.experimental.embedding"

    def __init__(
        self,
        table: TableConfig,
        max_sequence_length: int = 0,
        validate_weights_and_indices: bool = True,
        output_shape: Any = None,
        name: str | None = None,
    ) -> None:
        self.table, self.max_sequence_length, self.name = table, max_sequence_length, name
        self.validate_weights_and_indices = validate_weights_and_indices
        self.output_shape = TensorShape(output_shape)

    def __repr__(self) -> str:
        return (
            f"FeatureConfig(table={self.table!r}, max_sequence_length={self.max_sequence_length}, "
            f"validate_weights_and_indices={self.validate_weights_and_indices}, output_shape={self.output_shape!r}, "
            f"name={self.name!r})"
        )


@dataclasses.dataclass
class SparseCoreEmbeddingConfig:
    """Settings of embeddings on the sparse cores of a TPU.

    >>> tf.tpu.experimental.embedding.SparseCoreEmbeddingConfig().max_ids_per_chip_per_sample
    64
    """

    __module__ = "gradtape.tpu.experimental.embedding"

    disable_table_stacking: bool = False
    max_ids_per_chip_per_sample: int = 64
    max_ids_per_table: dict[str, int] | None = None
    max_unique_ids_per_table: dict[str, int] | None = None
    allow_id_dropping: bool = False
    initialize_tables_on_host: bool = True
    enable_fast_table_initialization: bool = False
