"""The ops, a file a subject; the kernel and the calculus of one op stand side by side."""
