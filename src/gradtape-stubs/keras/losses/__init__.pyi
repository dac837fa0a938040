# Written by tools/write_stubs.py for Keras 3.15.1.
from typing import Any
from gradtape.core.type_hints import MYPY
if MYPY:
    from keras._tf_keras.keras.losses import Loss as _Loss
    from keras._tf_keras.keras.losses import Reduction as _Reduction
    from keras._tf_keras.keras.losses import (
        KLD as KLD,
        MAE as MAE,
        MAPE as MAPE,
        MSE as MSE,
        MSLE as MSLE,
        binary_crossentropy as binary_crossentropy,
        binary_focal_crossentropy as binary_focal_crossentropy,
        categorical_crossentropy as categorical_crossentropy,
        categorical_focal_crossentropy as categorical_focal_crossentropy,
        categorical_generalized_cross_entropy as categorical_generalized_cross_entropy,
        categorical_hinge as categorical_hinge,
        circle as circle,
        cosine_similarity as cosine_similarity,
        ctc as ctc,
        deserialize as deserialize,
        dice as dice,
        get as get,
        hinge as hinge,
        huber as huber,
        kld as kld,
        kullback_leibler_divergence as kullback_leibler_divergence,
        logcosh as logcosh,
        mae as mae,
        mape as mape,
        mse as mse,
        msle as msle,
        poisson as poisson,
        serialize as serialize,
        sparse_categorical_crossentropy as sparse_categorical_crossentropy,
        squared_hinge as squared_hinge,
        tversky as tversky,
    )
    class BinaryCrossentropy(Loss):
        def __init__(self, from_logits: Any = ..., label_smoothing: Any = ..., axis: Any = ..., reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class BinaryFocalCrossentropy(Loss):
        def __init__(self, apply_class_balancing: Any = ..., alpha: Any = ..., gamma: Any = ..., from_logits: Any = ..., label_smoothing: Any = ..., axis: Any = ..., reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class CTC(Loss):
        def __init__(self, reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class CategoricalCrossentropy(Loss):
        def __init__(self, from_logits: Any = ..., label_smoothing: Any = ..., axis: Any = ..., reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class CategoricalFocalCrossentropy(Loss):
        def __init__(self, alpha: Any = ..., gamma: Any = ..., from_logits: Any = ..., label_smoothing: Any = ..., axis: Any = ..., reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class CategoricalGeneralizedCrossEntropy(Loss):
        def __init__(self, q: Any = ..., reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class CategoricalHinge(Loss):
        def __init__(self, reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class Circle(Loss):
        def __init__(self, gamma: Any = ..., margin: Any = ..., remove_diagonal: Any = ..., reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class CosineSimilarity(Loss):
        def __init__(self, axis: Any = ..., reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class Dice(Loss):
        def __init__(self, reduction: Any = ..., name: Any = ..., axis: Any = ..., dtype: Any = ...) -> None: ...
    class Hinge(Loss):
        def __init__(self, reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class Huber(Loss):
        def __init__(self, delta: Any = ..., reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class KLDivergence(Loss):
        def __init__(self, reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class LogCosh(Loss):
        def __init__(self, reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class Loss(_Loss):
        def __init__(self, name: Any = ..., reduction: Any = ..., dtype: Any = ...) -> None: ...
    class MeanAbsoluteError(Loss):
        def __init__(self, reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class MeanAbsolutePercentageError(Loss):
        def __init__(self, reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class MeanSquaredError(Loss):
        def __init__(self, reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class MeanSquaredLogarithmicError(Loss):
        def __init__(self, reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class Poisson(Loss):
        def __init__(self, reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class Reduction(_Reduction):
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    class SparseCategoricalCrossentropy(Loss):
        def __init__(self, from_logits: Any = ..., ignore_class: Any = ..., reduction: Any = ..., axis: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class SquaredHinge(Loss):
        def __init__(self, reduction: Any = ..., name: Any = ..., dtype: Any = ...) -> None: ...
    class Tversky(Loss):
        def __init__(self, alpha: Any = ..., beta: Any = ..., reduction: Any = ..., name: Any = ..., axis: Any = ..., dtype: Any = ...) -> None: ...
else:
    from keras._tf_keras.keras.losses import *
