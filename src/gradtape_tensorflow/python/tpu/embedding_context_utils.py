"""`tensorflow.python.tpu.embedding_context_utils`: a context that only matters on TPUs."""

from __future__ import annotations

import threading


class _EmbeddingPipeliningState(threading.local):
    """Whether this thread's lookups in embeddings may be pipelined."""

    enabled = True


embedding_pipelining_state = _EmbeddingPipeliningState()


class SequentialEmbeddingContext:
    """Context manager: switches the pipelining of embeddings off. Without TPUs, there is none."""

    def __enter__(self) -> None:
        self._enclosing = embedding_pipelining_state.enabled
        embedding_pipelining_state.enabled = False

    def __exit__(self, *error: object) -> None:
        embedding_pipelining_state.enabled = self._enclosing
