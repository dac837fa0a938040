"""`tf.experimental`: extension types, dispatch by type, DLPack, small floats; NumPy's functions in `numpy`."""
