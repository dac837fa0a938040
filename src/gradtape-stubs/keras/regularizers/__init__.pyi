# Written by tools/write_stubs.py for Keras 3.15.1.
from typing import Any
from gradtape.core.type_hints import MYPY
if MYPY:
    from keras._tf_keras.keras.regularizers import Regularizer as _Regularizer
    from keras._tf_keras.keras.regularizers import (
        deserialize as deserialize,
        get as get,
        serialize as serialize,
    )
    class L1(Regularizer):
        def __init__(self, l1: Any = ...) -> None: ...
    class L1L2(Regularizer):
        def __init__(self, l1: Any = ..., l2: Any = ...) -> None: ...
    class L2(Regularizer):
        def __init__(self, l2: Any = ...) -> None: ...
    class OrthogonalRegularizer(Regularizer):
        def __init__(self, factor: Any = ..., mode: Any = ...) -> None: ...
    class Regularizer(_Regularizer):
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    l1 = L1
    l1_l2 = L1L2
    l2 = L2
    orthogonal_regularizer = OrthogonalRegularizer
else:
    from keras._tf_keras.keras.regularizers import *
