"""The protocol of feature columns: column classes, transformation caches and state managers.

A column transforms features, which a dictionary names, into tensors. A transformation is computed once for every cache,
and the variables and tables of a column belong to the state manager that the caller, usually a layer, passes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from gradtape.api.arrays.casting import cast
from gradtape.api.arrays.creation import zeros
from gradtape.api.arrays.indexing import gather_nd
from gradtape.api.arrays.shaping import expand_dims, shape
from gradtape.api.math.elementwise import where
from gradtape.api.math.segments import segment_max
from gradtape.api.namespace import resolve
from gradtape.core import dtypes
from gradtape.core.dtypes import DType
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import Tensor
from gradtape.engine.run.convert import to_tensor
from gradtape.sparse.shaping import reshape as sparse_reshape
from gradtape.sparse.tensor import SparseTensor, made_sparse

from . import serialization


class StateManager:
    """Holds the variables and other resources of columns; a layer creates the variables."""

    def __init__(self, layer: Any, trainable: bool) -> None:
        self._trainable = trainable
        self._layer = layer
        if layer is not None and not hasattr(layer, "_resources"):
            layer._resources = {}
        self._cols_to_vars_map: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self._cols_to_resources_map: defaultdict[Any, dict[str, Any]] = defaultdict(dict)

    def create_variable(
        self, feature_column: Any, name: str, shape: Any, dtype: Any = None, trainable: bool = True,
        use_resource: bool = True, initializer: Any = None,
    ) -> Any:  # fmt: skip
        """Creates a variable of a column as a weight of the layer."""
        if name in self._cols_to_vars_map[feature_column]:
            raise ValueError("Variable already exists.")
        variable = self._layer.add_weight(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=self._trainable and trainable,
            use_resource=use_resource,
            getter=resolve("compat.v1.get_variable"),
        )
        track = getattr(self._layer, "_track_trackable", None)
        if track is not None:
            track(variable, f"{feature_column.name}/{name}")
        self._cols_to_vars_map[feature_column][name] = variable
        return variable

    def add_variable(self, feature_column: Any, var: Any) -> None:
        """Adds an existing variable to a column; layers create their variables instead."""
        raise NotImplementedError("StateManager.add_variable")

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """Returns a variable of a column."""
        if name in self._cols_to_vars_map[feature_column]:
            return self._cols_to_vars_map[feature_column][name]
        raise ValueError("Variable does not exist.")

    def add_resource(self, feature_column: Any, resource_name: str, resource: Any) -> None:
        """Adds a resource, such as a lookup table, to a column; checkpoints and SavedModels of the layer contain it."""
        self._cols_to_resources_map[feature_column][resource_name] = resource
        if self._layer is not None:
            self._layer._resources.setdefault(feature_column.name, {}).setdefault(resource_name, resource)

    def has_resource(self, feature_column: Any, resource_name: str) -> bool:
        """Returns whether a column has a resource of this name."""
        return resource_name in self._cols_to_resources_map[feature_column]

    def get_resource(self, feature_column: Any, resource_name: str) -> Any:
        """Returns a resource of a column."""
        if resource_name not in self._cols_to_resources_map[feature_column]:
            raise ValueError("Resource does not exist.")
        return self._cols_to_resources_map[feature_column][resource_name]


class FeatureColumn(ABC):
    """A column: a named tuple of its parameters, and the transformation that they describe."""

    _fields: ClassVar[tuple[str, ...]]  # of the named tuple

    @property
    def _is_v2_column(self) -> bool:
        return all(isinstance(parent, str) or getattr(parent, "_is_v2_column", False) for parent in self.parents)

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the column, from the keys of its features."""

    @property
    @abstractmethod
    def parents(self) -> list[Any]:
        """The columns and the keys of features that the column reads directly."""

    @property
    @abstractmethod
    def parse_example_spec(self) -> dict[str, Any]:
        """The features that the column reads from an `Example`, for `tf.io.parse_example`."""

    @abstractmethod
    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        """Returns the intermediate representation that the cache keeps."""

    def create_state(self, state_manager: Any) -> None:  # noqa: B027  (most columns have no variables)
        """Creates the variables of the column."""

    def __lt__(self, other: Any) -> bool:
        return str(self) < str(other)

    def __gt__(self, other: Any) -> bool:
        return str(self) > str(other)

    def get_config(self) -> dict[str, Any]:
        """Returns the parameters as plain data."""
        return {name: serialization.serialize_parameter(getattr(self, name)) for name in self._fields}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: Any = None, columns_by_name: dict[str, Any] | None = None
    ) -> Any:
        """Creates a column from the parameters that `get_config` returned."""
        if set(config) != set(cls._fields):
            raise ValueError(f"Invalid config: {config}, expected keys: {cls._fields}")
        restored = {
            name: serialization.deserialize_parameter(name, value, custom_objects, columns_by_name)
            for name, value in config.items()
        }
        return cls(**restored)


class KeyedColumn(FeatureColumn):
    """A column of one feature, whose key is its name."""

    key: str

    @property
    def name(self) -> str:
        """The key of the feature."""
        return self.key

    @property
    def parents(self) -> list[Any]:
        """The key of the feature."""
        return [self.key]


class DenseColumn(FeatureColumn):
    """A column with a dense tensor of shape `[batch] + variable_shape`."""

    @property
    @abstractmethod
    def variable_shape(self) -> TensorShape:
        """The shape of the dense tensor, without the batch dimension."""

    @abstractmethod
    def get_dense_tensor(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Tensor:
        """Returns the dense tensor."""


class IdWeightPair(NamedTuple):
    """Category ids, and their weights or None: sparse tensors with the same indices."""

    id_tensor: SparseTensor
    weight_tensor: SparseTensor | None


class CategoricalColumn(FeatureColumn):
    """A column with a sparse tensor of category ids."""

    IdWeightPair = IdWeightPair

    @property
    @abstractmethod
    def num_buckets(self) -> int:
        """The number of categories."""

    @abstractmethod
    def get_sparse_tensors(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        """Returns the ids and their weights."""


class TensorSequenceLengthPair(NamedTuple):
    """A dense tensor of shape `[batch, steps, ...]`, and the number of steps of each example."""

    dense_tensor: Tensor
    sequence_length: Tensor


class SequenceDenseColumn(FeatureColumn):
    """A column with a dense tensor for each step of a sequence."""

    TensorSequenceLengthPair = TensorSequenceLengthPair

    @abstractmethod
    def get_sequence_dense_tensor(
        self, transformation_cache: FeatureTransformationCache, state_manager: Any
    ) -> Any:
        """Returns the dense tensor and the sequence lengths."""


class FeatureTransformationCache:
    """The features of one batch, and what columns made of them; a column that several others read is computed once."""

    def __init__(self, features: Mapping[Any, Any]) -> None:
        self._features = dict(features)
        self._feature_tensors: dict[Any, Any] = {}

    def get(self, key: Any, state_manager: Any, training: bool | None = None) -> Any:
        """Returns a feature as a tensor, or a column's transformation of features."""
        if key not in self._feature_tensors:
            self._feature_tensors[key] = self._computed(key, state_manager)
        return self._feature_tensors[key]

    def _computed(self, key: Any, state_manager: Any) -> Any:
        if key in self._features:
            return self._raw_feature(key)
        if isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary.")
        if not isinstance(key, FeatureColumn):
            raise TypeError(f'"key" must be either a "str" or "FeatureColumn". Provided: {key}')
        transformed = key.transform_feature(self, state_manager)
        if transformed is None:
            raise ValueError(f"Column {key.name} is not supported.")
        return transformed

    def _raw_feature(self, key: Any) -> Tensor | SparseTensor:
        value = made_sparse(self._features[key])
        feature: Any = value if isinstance(value, SparseTensor) else to_tensor(value)
        rank = feature.shape.rank
        if rank == 0:
            raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {feature}")
        if rank != 1:
            return feature
        if isinstance(feature, SparseTensor):
            return sparse_reshape(feature, [-1, 1])
        return expand_dims(feature, -1)


def normalize_feature_columns(feature_columns: Any) -> list[Any]:
    """Returns the columns sorted by name; raises ValueError if two have the same name."""
    if isinstance(feature_columns, FeatureColumn):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, Iterator):
        feature_columns = list(feature_columns)
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    by_name: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(
                f"Items of feature_columns must be a FeatureColumn. Given (type {type(column)}): {column}."
            )
        if column.name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and {by_name[column.name]}. This usually "
                "means that these columns refer to same base feature. Either one must be discarded or a duplicated "
                "but renamed item must be inserted in features dict."
            )
        by_name[column.name] = column
    if not by_name:
        raise ValueError("feature_columns must not be empty.")
    return sorted(feature_columns, key=lambda column: column.name)


def transform_features(
    features: Mapping[str, Any], feature_columns: Iterable[Any], state_manager: Any = None
) -> dict[Any, Any]:
    """Returns the transformation of every column."""
    cache = FeatureTransformationCache(features)
    return {column: cache.get(column, state_manager) for column in normalize_feature_columns(feature_columns)}


def to_sparse(feature: Any, ignore_value: Any = None) -> SparseTensor:
    """Returns a dense feature as a sparse tensor without its empty entries: `""`, -1, or 0.0 for floats."""
    if isinstance(feature, SparseTensor):
        return feature
    if ignore_value is None:
        ignore_value = "" if feature.dtype == dtypes.string else -1 if feature.dtype.is_integer else 0.0
    places = where(resolve("math.not_equal")(feature, to_tensor(ignore_value, feature.dtype)))
    return SparseTensor(places, gather_nd(feature, places), shape(feature, dtypes.int64))


def sequence_length_from_sparse_tensor(sp_tensor: SparseTensor, num_elements: int = 1) -> Tensor:
    """Returns the number of steps of each row: the last entry's column over `num_elements`, rounded up."""
    rows, columns = sp_tensor.indices[:, 0], sp_tensor.indices[:, 1]
    last = segment_max(columns + 1, rows)
    steps = (last + (num_elements - 1)) // num_elements
    padding = zeros([sp_tensor.dims[0] - steps.dims[0]], dtypes.int64)
    return resolve("concat")([cast(steps, dtypes.int64), padding], 0)


def check_key(key: Any) -> None:
    """Raises ValueError unless the key of a feature is a string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def check_string_or_integer(dtype: DType, prefix: str) -> None:
    """Raises ValueError unless the dtype is that of strings or integers."""
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")


def checked_shape(given: Any, key: Any) -> tuple[int, ...]:
    """Returns the shape of a numeric feature as a tuple of positive integers."""
    dims = tuple(given) if isinstance(given, list | tuple | TensorShape) else (given,)
    for size in dims:
        if not isinstance(size, int):
            raise TypeError(f"shape dimensions must be integer. shape: {dims}, key: {key}")
        if size < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {dims}, key: {key}")
    return dims
