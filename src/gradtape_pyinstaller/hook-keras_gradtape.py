"""What a frozen program needs of gradtape's backend of Keras: all of it."""

from PyInstaller.utils.hooks import collect_submodules

hiddenimports = collect_submodules("keras_gradtape")
