# Written by tools/write_stubs.py for Keras 3.15.1.
from typing import Any
from gradtape.core.type_hints import MYPY
if MYPY:
    from keras._tf_keras.keras.optimizers.schedules import LearningRateSchedule as _LearningRateSchedule
    from keras._tf_keras.keras.optimizers.schedules import (
        deserialize as deserialize,
        serialize as serialize,
    )
    class CosineDecay(LearningRateSchedule):
        def __init__(self, initial_learning_rate: Any, decay_steps: Any, alpha: Any = ..., name: Any = ..., warmup_target: Any = ..., warmup_steps: Any = ...) -> None: ...
    class CosineDecayRestarts(LearningRateSchedule):
        def __init__(self, initial_learning_rate: Any, first_decay_steps: Any, t_mul: Any = ..., m_mul: Any = ..., alpha: Any = ..., name: Any = ...) -> None: ...
    class ExponentialDecay(LearningRateSchedule):
        def __init__(self, initial_learning_rate: Any, decay_steps: Any, decay_rate: Any, staircase: Any = ..., name: Any = ...) -> None: ...
    class InverseTimeDecay(LearningRateSchedule):
        def __init__(self, initial_learning_rate: Any, decay_steps: Any, decay_rate: Any, staircase: Any = ..., name: Any = ...) -> None: ...
    class LearningRateSchedule(_LearningRateSchedule):
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    class PiecewiseConstantDecay(LearningRateSchedule):
        def __init__(self, boundaries: Any, values: Any, name: Any = ...) -> None: ...
    class PolynomialDecay(LearningRateSchedule):
        def __init__(self, initial_learning_rate: Any, decay_steps: Any, end_learning_rate: Any = ..., power: Any = ..., cycle: Any = ..., name: Any = ...) -> None: ...
else:
    from keras._tf_keras.keras.optimizers.schedules import *
