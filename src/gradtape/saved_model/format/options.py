"""Options for saving and loading, and files that belong to a SavedModel."""

from __future__ import annotations

import os
from typing import Any

from ...core.dtypes import string
from ...core.owners import Owner
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor

NAMESPACES = ("saved_model",)
__all__ = ["Asset", "LoadOptions", "SaveOptions"]


class Asset(Owner):
    """A file that is saved with its object, such as a vocabulary: its path is `asset_path`, a tensor.

    In a function, `asset_path` is the current path of the file, also after saving and loading.

    >>> tf.saved_model.Asset("words.txt").asset_path.numpy()
    b'words.txt'
    """

    __module__ = "gradtape.saved_model"

    def __init__(self, path: Any) -> None:
        if isinstance(path, Tensor):
            self._path = path
        else:
            path = os.fspath(path)
            self._path = to_tensor(path if isinstance(path, bytes) else str(path), string)

    @property
    def asset_path(self) -> Tensor:
        """The path of the file."""
        return self._path


class SaveOptions:
    """Options of `tf.saved_model.save`; only `function_aliases` and `extra_tags` have an effect.

    >>> tf.saved_model.SaveOptions(extra_tags=["fast"]).extra_tags
    ['fast']
    """

    __module__ = "gradtape.saved_model"

    __slots__ = (
        "experimental_custom_gradients", "experimental_debug_stripper", "experimental_image_format",
        "experimental_io_device", "experimental_sharding_callback", "experimental_skip_saver",
        "experimental_variable_policy", "extra_tags", "function_aliases", "namespace_whitelist", "save_debug_info",
    )  # fmt: skip

    def __init__(
        self, namespace_whitelist: Any = None, save_debug_info: bool = False, function_aliases: Any = None,
        experimental_debug_stripper: bool = False, experimental_io_device: str | None = None,
        experimental_variable_policy: Any = None, experimental_custom_gradients: bool = True,
        experimental_image_format: bool = False, experimental_skip_saver: bool = False,
        experimental_sharding_callback: Any = None, extra_tags: Any = None,
    ) -> None:  # fmt: skip
        if experimental_image_format:
            raise NotImplementedError("gradtape writes a SavedModel as folder: leave experimental_image_format False")
        self.namespace_whitelist = list(namespace_whitelist or ())
        self.save_debug_info = save_debug_info
        self.function_aliases = dict(function_aliases or {})
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = experimental_variable_policy
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = experimental_sharding_callback
        self.extra_tags = extra_tags


class LoadOptions:
    """Options of `tf.saved_model.load`: whether values of variables may be missing, or are not read at all.

    `allow_file_access`, which TensorFlow does not have, lets the functions of the model read and write files anywhere
    through TensorFlow's ops `ReadFile`, `WriteFile` and `InitializeTableFromTextFileV2`: only for a model that you
    trust. Without it, they can read files of the model's own folder only.

    >>> tf.saved_model.LoadOptions(allow_partial_checkpoint=True).allow_partial_checkpoint
    True
    """

    __module__ = "gradtape.saved_model"

    __slots__ = (
        "allow_file_access", "allow_partial_checkpoint", "experimental_io_device", "experimental_load_function_aliases",
        "experimental_skip_checkpoint", "experimental_variable_policy",
    )  # fmt: skip

    def __init__(
        self, allow_partial_checkpoint: bool = False, experimental_io_device: str | None = None,
        experimental_skip_checkpoint: bool = False, experimental_variable_policy: Any = None,
        experimental_load_function_aliases: bool = False, *, allow_file_access: bool = False,
    ) -> None:  # fmt: skip
        self.allow_file_access = allow_file_access
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = experimental_variable_policy
        self.experimental_load_function_aliases = experimental_load_function_aliases
