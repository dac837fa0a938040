# Written by tools/write_stubs.py for Keras 3.15.1.
from typing import Any
from gradtape.core.type_hints import MYPY
if MYPY:
    from keras._tf_keras.keras.initializers import Initializer as _Initializer
    from keras._tf_keras.keras.initializers import (
        deserialize as deserialize,
        get as get,
        serialize as serialize,
    )
    class Constant(Initializer):
        def __init__(self, value: Any = ...) -> None: ...
    class GlorotNormal(VarianceScaling):
        def __init__(self, seed: Any = ..., input_axes: Any = ..., output_axes: Any = ...) -> None: ...
    class GlorotUniform(VarianceScaling):
        def __init__(self, seed: Any = ..., input_axes: Any = ..., output_axes: Any = ...) -> None: ...
    class HeNormal(VarianceScaling):
        def __init__(self, seed: Any = ..., input_axes: Any = ..., output_axes: Any = ...) -> None: ...
    class HeUniform(VarianceScaling):
        def __init__(self, seed: Any = ..., input_axes: Any = ..., output_axes: Any = ...) -> None: ...
    class Identity(Initializer):
        def __init__(self, gain: Any = ...) -> None: ...
    IdentityInitializer = Identity
    class Initializer(_Initializer):
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    class LecunNormal(VarianceScaling):
        def __init__(self, seed: Any = ..., input_axes: Any = ..., output_axes: Any = ...) -> None: ...
    class LecunUniform(VarianceScaling):
        def __init__(self, seed: Any = ..., input_axes: Any = ..., output_axes: Any = ...) -> None: ...
    class Ones(Initializer):
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    class Orthogonal(Initializer):
        def __init__(self, gain: Any = ..., seed: Any = ...) -> None: ...
    OrthogonalInitializer = Orthogonal
    class RandomNormal(Initializer):
        def __init__(self, mean: Any = ..., stddev: Any = ..., seed: Any = ...) -> None: ...
    class RandomUniform(Initializer):
        def __init__(self, minval: Any = ..., maxval: Any = ..., seed: Any = ...) -> None: ...
    class STFT(Initializer):
        def __init__(self, side: Any = ..., window: Any = ..., scaling: Any = ..., periodic: Any = ...) -> None: ...
    STFTInitializer = STFT
    class TruncatedNormal(Initializer):
        def __init__(self, mean: Any = ..., stddev: Any = ..., seed: Any = ...) -> None: ...
    class VarianceScaling(Initializer):
        def __init__(self, scale: Any = ..., mode: Any = ..., distribution: Any = ..., seed: Any = ..., input_axes: Any = ..., output_axes: Any = ...) -> None: ...
    class Zeros(Initializer):
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    constant = Constant
    glorot_normal = GlorotNormal
    glorot_uniform = GlorotUniform
    he_normal = HeNormal
    he_uniform = HeUniform
    identity = Identity
    lecun_normal = LecunNormal
    lecun_uniform = LecunUniform
    ones = Ones
    orthogonal = Orthogonal
    random_normal = RandomNormal
    random_uniform = RandomUniform
    stft = STFT
    truncated_normal = TruncatedNormal
    variance_scaling = VarianceScaling
    zeros = Zeros
else:
    from keras._tf_keras.keras.initializers import *
