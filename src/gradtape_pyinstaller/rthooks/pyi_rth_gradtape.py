"""Runs when a frozen program starts: PyInstaller leaves out the startup file that makes Keras' backend known."""

import _gradtape_keras  # noqa: F401
