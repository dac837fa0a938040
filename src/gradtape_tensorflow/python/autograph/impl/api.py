"""`tensorflow.python.autograph.impl.api`: the conversion of Python control flow."""

from __future__ import annotations

import functools
from typing import Any

import gradtape
from gradtape.autograph.error_messages import of_the_user
from gradtape.autograph.on_demand import convert  # type: ignore[attr-defined]  # the stub has public names only
from gradtape.core.errors import NeedsExamples
from gradtape.engine.run import dispatch
from gradtape.graph.trace import conversion_status
from gradtape.graph.trace.scratch import ScratchTrace


def tf_convert(f: Any, ctx: Any, convert_by_default: bool = True, user_requested: bool = False) -> Any:
    """Returns a function whose Python control flow on tensors becomes part of graphs.

    Libraries are not converted themselves, and pass a user's functions, such as the `call` of a layer, through this
    one. While the trace of a `tf.function` finds out whether it needs conversion, the function is returned unchanged.
    In a scratch graph, a function that reads values is called with the examples.
    """
    around = dispatch.thread.trace
    if around is not None and not isinstance(around, ScratchTrace):
        return f if conversion_status.thread.waiting or conversion_status.thread.off else convert(f)

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return f(*args, **kwargs)
        except NeedsExamples:
            trace = dispatch.thread.trace
            if not isinstance(trace, ScratchTrace):
                raise
            return trace.call_for_examples(f, args, kwargs)
        except Exception as error:
            explained = of_the_user(error)
            if explained is error:
                raise
        raise explained

    return call


do_not_convert = gradtape.autograph.experimental.do_not_convert
