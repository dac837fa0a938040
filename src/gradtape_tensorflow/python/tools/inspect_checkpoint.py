"""`tensorflow.python.tools.inspect_checkpoint`: prints the values of a checkpoint."""

from __future__ import annotations

from typing import Any

import gradtape


def print_tensors_in_checkpoint_file(
    file_name: Any, tensor_name: str | None, all_tensors: bool, all_tensor_names: bool = False,
    count_exclude_pattern: str = "",
) -> None:  # fmt: skip
    """Prints one tensor of a checkpoint, or all, or their names."""
    reader = gradtape.train.load_checkpoint(file_name)
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    if not (all_tensors or all_tensor_names or tensor_name):
        for name in sorted(shapes):
            print(f"{name} ({dtypes[name].name}) {shapes[name]}")
    elif tensor_name and not all_tensors:
        print("tensor_name: ", tensor_name)
        print(reader.get_tensor(tensor_name))
    else:
        for name in sorted(shapes):
            print(f"tensor: {name} ({dtypes[name].name}) {shapes[name]}")
            if all_tensors:
                print(reader.get_tensor(name))
