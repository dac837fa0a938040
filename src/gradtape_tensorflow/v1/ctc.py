"""`tf.compat.v1.nn`: connectionist temporal classification with the options of TensorFlow 1."""

from __future__ import annotations

from typing import Any

from gradtape.api.debugging.checks import assert_less_equal, assert_non_negative, assert_positive
from gradtape.api.namespace import resolve
from gradtape.api.nn.ctc import alignment_loss, label_rows
from gradtape.api.nn.ctc_decoders import beam_search
from gradtape.core import dtypes
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import TensorLike
from gradtape.engine.run.convert import to_tensor
from gradtape.sparse.tensor import SparseTensor

from .expressions import either

NAMESPACES = ("compat.v1.nn",)
__all__ = ["ctc_beam_search_decoder", "ctc_loss"]


def ctc_loss(
    labels: SparseTensor, inputs: TensorLike | None = None, sequence_length: TensorLike | None = None,
    preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False, time_major: bool = True, logits: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """`-log` of the probability of each row of sparse labels under logits, whose last class is the blank.

    Args:
      preprocess_collapse_repeated: whether to merge runs of a label in `labels` before.
      ctc_merge_repeated: whether a label may last several frames; otherwise, each of them is a label of its own.
      ignore_longer_outputs_than_inputs: whether rows with more labels than frames have the loss 0 and no gradient; they
        are an error otherwise.
      time_major: False if the logits have shape `(batch, frames, classes)`.

    >>> labels = tf.SparseTensor([[0, 0], [0, 1]], [0, 1], [1, 2])
    >>> tf.compat.v1.nn.ctc_loss(labels, tf.zeros([3, 1, 3]), [3]).numpy().round(4)
    array([1.6864], dtype=float32)
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError(
            f"Expected argument `labels` to be a SparseTensor. Received labels={labels} of type: {type(labels)}"
        )
    x = to_tensor(either(logits, inputs))
    if not time_major:
        x = resolve("transpose")(x, [1, 0, 2])
    frames, batch, classes = x.dims
    ends = resolve("cast")(sequence_length, dtypes.int32)
    assert_less_equal(ends, frames, f"sequence_length must be at most {frames}, the frames of the logits")
    given = label_rows(labels, batch)[1]  # repeated labels count here even if they are merged
    assert_positive(given, "Labels length is zero in a row")
    if preprocess_collapse_repeated:
        labels = resolve("sparse.retain")(labels, _starts_of_runs(labels))
    rows, lengths = label_rows(_without_null_labels(labels, classes - 1), batch)
    loss = alignment_loss(x, rows, lengths, ends, classes - 1, infinite=True, merges=ctc_merge_repeated)
    if ignore_longer_outputs_than_inputs:
        return resolve("where")(given > ends, resolve("zeros_like")(loss), loss)
    assert_less_equal(
        given, ends,
        "Not enough time for target transition sequence: more labels than frames. You can turn this error into a "
        "warning by using the flag ignore_longer_outputs_than_inputs",
    )  # fmt: skip
    return loss


def _pairs(labels: SparseTensor) -> tuple[Any, Any, Any]:
    """Returns each label but the last, the one after it, and whether both are of one row."""
    rows, values = labels.indices[:, 0], labels.values
    return values[:-1], values[1:], rows[1:] == rows[:-1]


def _starts_of_runs(labels: SparseTensor) -> Any:
    """Returns which labels differ from the one before in their row."""
    first, second, same_row = _pairs(labels)
    start = resolve("ones_like")(labels.values[:1], dtypes.bool)
    return resolve("concat")([start, (first != second) | ~same_row], 0)


def _without_null_labels(labels: SparseTensor, blank: int) -> SparseTensor:
    """Removes null labels (the blank and above), which may only stand at the ends of rows."""
    assert_non_negative(labels.values, "All labels must be nonnegative integers")
    first, second, same_row = _pairs(labels)
    resolve("debugging.assert_equal")(
        resolve("reduce_any")((first >= blank) & (second < blank) & same_row), False,
        f"Saw a non-null label (index >= {blank}) following a null label",
    )  # fmt: skip
    return resolve("sparse.retain")(labels, labels.values < blank)


def ctc_beam_search_decoder(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100, top_paths: int = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Tensor]:  # fmt: skip
    """`tf.nn.ctc_beam_search_decoder`, which with `merge_repeated` keeps one label of each run of a label.

    >>> logits = tf.math.log([[[0.6, 0.4]], [[0.1, 0.9]], [[0.6, 0.4]]])
    >>> (decoded,), _ = tf.compat.v1.nn.ctc_beam_search_decoder(logits, [3])
    >>> decoded.values.numpy()
    array([0])
    """
    return beam_search(inputs, sequence_length, beam_width, top_paths, merge_repeated)
