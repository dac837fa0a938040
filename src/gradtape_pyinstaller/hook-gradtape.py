"""What a frozen program needs of gradtape: everything but its command line."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules


def _is_used(module: str) -> bool:
    return not f"{module}.".startswith(("gradtape.__main__.", "gradtape.cli."))


hiddenimports = collect_submodules("gradtape", _is_used)
datas = collect_data_files("gradtape", includes=["**/*.txt", "**/viewer/*"])
