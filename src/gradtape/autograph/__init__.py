"""`tf.autograph`: stages Python's `if`, `while` and `for` on tensors into the graph of a traced function.

diastatic-malt, imported on first use, rewrites a function so that every statement whose meaning may depend on a tensor
calls an operator of this package. While tracing, an operator on a tensor becomes `tf.cond` or `tf.while_loop`;
everything else, and all eager code, runs as plain Python. Depends on `api` and the layers below; the tracer knows it
only as the extension point `convert_function`.
"""
