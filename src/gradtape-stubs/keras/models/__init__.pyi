# Written by tools/write_stubs.py for Keras 3.15.1.
from typing import Any
from gradtape.core.type_hints import MYPY
if MYPY:
    from keras._tf_keras.keras.models import Model as _Model
    from keras._tf_keras.keras.models import (
        clone_model as clone_model,
        load_model as load_model,
        model_from_json as model_from_json,
        save_model as save_model,
    )
    class Model(_Model):
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    class Sequential(Model):
        def __init__(self, layers: Any = ..., trainable: Any = ..., name: Any = ...) -> None: ...
else:
    from keras._tf_keras.keras.models import *
