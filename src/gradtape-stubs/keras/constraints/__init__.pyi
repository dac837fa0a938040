# Written by tools/write_stubs.py for Keras 3.15.1.
from typing import Any
from gradtape.core.type_hints import MYPY
if MYPY:
    from keras._tf_keras.keras.constraints import Constraint as _Constraint
    from keras._tf_keras.keras.constraints import (
        deserialize as deserialize,
        get as get,
        serialize as serialize,
    )
    class Constraint(_Constraint):
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    class MaxNorm(Constraint):
        def __init__(self, max_value: Any = ..., axis: Any = ...) -> None: ...
    class MinMaxNorm(Constraint):
        def __init__(self, min_value: Any = ..., max_value: Any = ..., rate: Any = ..., axis: Any = ...) -> None: ...
    class NonNeg(Constraint):
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    class UnitNorm(Constraint):
        def __init__(self, axis: Any = ...) -> None: ...
    max_norm = MaxNorm
    min_max_norm = MinMaxNorm
    non_neg = NonNeg
    unit_norm = UnitNorm
else:
    from keras._tf_keras.keras.constraints import *
