"""`tensorflow.python.summary.writer.writer`: TensorFlow 1's writers of events."""

from gradtape.compat.v1.summary import FileWriter, FileWriterCache

__all__ = ["FileWriter", "FileWriterCache"]
