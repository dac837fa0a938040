"""What a frozen program needs of gradtape: everything but its command line and the import hook of `tensorflow`."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules

_UNUSED = (
    "gradtape.__main__.", "gradtape.cli.", "gradtape_tensorflow.package_metadata.", "gradtape_tensorflow.python.",
    "gradtape_tensorflow.stand_in.",
)  # fmt: skip


def _is_used(module: str) -> bool:
    return not f"{module}.".startswith(_UNUSED)


hiddenimports = collect_submodules("gradtape", _is_used) + collect_submodules("gradtape_tensorflow", _is_used)
datas = collect_data_files("gradtape", includes=["**/*.txt", "**/viewer/*"])
