"""`gradtape run`: runs a program as `python` does, with gradtape as its TensorFlow.

The program becomes the module `__main__`, so that pickling of its classes and spawning of processes work as usual; its
exceptions propagate unchanged, so that exit codes and signals are Python's own.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib.util
import io
import linecache
import os
import pkgutil
import sys
import types
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, SourceFileLoader
from typing import Any, NamedTuple, NoReturn

from gradtape.core.extension_points import tensorflow_hook
from gradtape.core.extras import keras2_advice


class UserProgram(NamedTuple):
    """A program to run: its code and the module attributes that Python sets."""

    code: types.CodeType
    name: str  # sys.argv[0]
    file: str | None = None
    spec: ModuleSpec | None = None
    loader: Any = None


def run(target: str, arguments: list[str], *, kind: str = "script", trace: bool = False, exit_code: int = 0) -> None:
    """Runs `target`, a script, folder or archive, or of `kind` "module" or "command", with `arguments`.

    With `trace`, gradients are explained; if anything was explained and the program succeeds, the process exits with
    `exit_code`.
    """
    hook = tensorflow_hook()
    hook.serve()
    hook.let_children_inherit()
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    sys.modules["__mp_main__"] = main  # the name under which multiprocessing unpickles classes of the program
    try:
        program = {"script": _script, "module": _module, "command": _command}[kind](target)
        sys.argv = [program.name, *arguments]
        about: dict[str, Any] = {"__builtins__": builtins, "__loader__": program.loader, "__spec__": program.spec}
        about["__package__"] = program.spec.parent if program.spec else None
        if program.file is not None:
            about |= {"__file__": program.file, "__cached__": program.spec.cached if program.spec else None}
        if sys.version_info < (3, 14):
            about["__annotations__"] = {}
        vars(main).update(about)
        found: list[Any] = []
        try:
            with _explanations() if trace else contextlib.nullcontext(found) as found:
                exec(program.code, vars(main))
        except SystemExit as error:
            if error.code or not (exit_code and found):
                raise
        if exit_code and found:
            raise SystemExit(exit_code)
    except BaseException as error:
        _add_advice(error)
        _leave_out_this_file(error)
        raise


def _script(path: str) -> UserProgram:
    if path == "-":
        return _command(sys.stdin.buffer.read(), "-", "<stdin>")
    finder = pkgutil.get_importer(path)
    if finder is not None:  # a folder or an archive
        sys.path[0] = path
        return _require_program(finder.find_spec("__main__"), f"can't find '__main__' module in {path!r}")
    file = os.path.abspath(path)
    if path.endswith(".ipynb"):
        _give_up(f"{path!r} is a notebook. `jupyter nbconvert --to script` makes a program of it", 2)
    try:
        with io.open_code(file) as opened:
            source = opened.read()
    except OSError as error:
        _give_up(f"can't open file {file!r}: [Errno {error.errno}] {error.strerror}", 2)
    _search_first(os.path.dirname(os.path.realpath(file)))
    code = compile(source, file, "exec", dont_inherit=True)
    return UserProgram(code, path, file, loader=SourceFileLoader("__main__", file))


def _module(name: str) -> UserProgram:
    _search_first(os.getcwd())
    missing = f"No module named {name}"
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            missing = f"No module named {name}.__main__; {name!r} is a package and cannot be directly executed"
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        spec = None
    return _require_program(spec, missing)


def _command(source: str | bytes, name: str = "-c", file: str = "<string>") -> UserProgram:
    _search_first("")
    if isinstance(source, str) and sys.version_info >= (3, 13):  # from 3.13 on, tracebacks show the lines of a command
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    return UserProgram(compile(source, file, "exec", dont_inherit=True), name)


def _require_program(spec: ModuleSpec | None, otherwise: str) -> UserProgram:
    """Returns the program of `spec`; exits with the message `otherwise` if there is none."""
    loader: Any = spec and spec.loader
    code = loader.get_code(spec.name) if spec and hasattr(loader, "get_code") else None
    if spec is None or spec.origin is None or code is None:
        _give_up(otherwise, 1)
    name = sys.path[0] if spec.name == "__main__" else spec.origin
    return UserProgram(code, name, spec.origin, spec, spec.loader)


def _search_first(folder: str) -> None:
    """Sets the program's folder as the first entry of `sys.path`, unless Python runs with `-P`."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _give_up(reason: str, code: int) -> NoReturn:
    print(f"gradtape run: {reason}", file=sys.stderr)
    raise SystemExit(code)


@contextlib.contextmanager
def _explanations() -> Iterator[Any]:
    """Context manager: explains on stderr each gradient that is None, zero or not finite."""
    from gradtape.inspect import tracing

    with tracing() as found:
        yield found


def _add_advice(error: BaseException) -> None:
    """Adds a note to an error that a library without tf-keras has caused: pip would install TensorFlow with it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ModuleNotFoundError) and (cause.name or "").partition(".")[0] == "tf_keras":
            error.add_note(f"The module tf_keras is Keras 2. {keras2_advice()}")
            return
        cause = cause.__cause__ or cause.__context__


def _leave_out_this_file(error: BaseException) -> None:
    """Removes the frames of this file from the traceback when Python shows `error`."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals is globals():
        trace = trace.tb_next
    shown = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, _: Any) -> None:
        shown(kind, error.with_traceback(trace), trace)

    sys.excepthook = show
