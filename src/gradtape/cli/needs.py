"""What a program needs besides gradtape: extras, by the names that it uses, and the backend that its Keras gets."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from gradtape.api.namespace import KERAS
from gradtape.core.extension_points import tensorflow_hook
from gradtape.core.extras import is_installed
from keras_gradtape.loader import NAME, chosen_backend


class Extra(NamedTuple):
    """An extra, a module that it installs, and the names that need it."""

    name: str
    module: str
    names: re.Pattern[str]  # matches a whole path, without `tf.`


JIT_COMPILE = "jit_compile=True"  # the name under which calls with this argument are listed

_KERAS = Extra("keras", "keras", re.compile(rf"({'|'.join(KERAS)})\b.*"))
EXTRAS = (
    Extra("xla", "jax", re.compile(rf"{JIT_COMPILE}|xla\.experimental\.compile")),
    Extra(
        "jpeg", "PIL",
        re.compile(
            r"(io|image)\.(decode|encode|extract|decode_and_crop)_(jpeg|png|gif|bmp|image|jpeg_shape)"
            r"|image\.(stateless_random|random|adjust)_jpeg_quality"
            r"|keras\.(utils|preprocessing|preprocessing\.image)\."
            r"(load_img|save_img|array_to_img|image_dataset_from_directory|ImageDataGenerator)"
        ),
    ),
    Extra(
        "summary", "tensorboardX",
        re.compile(r"summary\.create_file_writer|compat\.v1\.summary\.FileWriter|keras\.callbacks\.TensorBoard"),
    ),
    Extra(
        "protobuf", "google.protobuf",
        re.compile(
            r"make_tensor_proto|(compat\.v1\.|graph_util\.)?import_graph_def|train\.(ClusterDef|ServerDef|JobDef)"
            r"|io\.write_graph|.*\.as_(graph_def|proto)"
            r"|compat\.v1\.(\w+Def|\w*Proto|\w*Options|Event|Summary|SummaryMetadata|summary\.FileWriter)"
        ),
    ),
)  # fmt: skip


@dataclass
class Need:
    """An extra that a program needs, the names that need it and their lines, and whether it is installed."""

    extra: str
    installed: bool
    names: list[str]
    lines: list[str]


def needs_of(uses: Mapping[str, list[str]]) -> list[Need]:
    """Returns the extras that a program with these names and lines needs."""
    keras = Extra("legacy-keras", "tf_keras", _KERAS.names) if tensorflow_hook().serves_keras2() else _KERAS
    found = []
    for extra in (keras, *EXTRAS):
        names = [path for path in uses if extra.names.fullmatch(path.replace("()", "").removeprefix("tf."))]
        if names:
            lines = list(dict.fromkeys(line for name in names for line in uses[name]))
            found.append(Need(extra.name, is_installed(extra.module), sorted(names), lines))
    return found


def keras_backend() -> str:
    """Returns the backend of the Keras of a program that `gradtape run` runs, and what has chosen it."""
    if tensorflow_hook().serves_keras2():
        return "gradtape, with Keras 2, as TF_USE_LEGACY_KERAS says"
    backend = chosen_backend()
    if backend in (NAME, "tensorflow"):  # `gradtape run` is TensorFlow
        return NAME
    return f"{backend}, as {'KERAS_BACKEND' if os.environ.get('KERAS_BACKEND') else 'keras.json'} says"
