"""Finds the parameters of public functions that are never used: not read, or only passed on to where nobody reads them.

A parameter that is stored in an attribute is unused if nothing in the source reads an attribute of that name.
"""

import ast
import dis
import functools
import inspect
import types
from pathlib import Path

import gradtape
from gradtape.api.names import NAMES
from gradtape.api.namespace import resolve

PACKAGES = Path(gradtape.__file__).parents[1]  # the files that are imported, which need not be those of this checkout


@functools.cache
def sources():
    """The text of each file."""
    return {str(path): path.read_text() for path in PACKAGES.glob("*gradtape*/**/*.py")}


@functools.cache
def lines_of(file):
    return sources()[file].splitlines()


@functools.cache
def facts(file):
    """The attributes that a file reads, and the lines of its functions; a string may be a `getattr`'s name."""
    read, lines = set(), {}
    for node in ast.walk(ast.parse(sources()[file])):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            read.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            read.add(node.value)
        elif isinstance(node, ast.FunctionDef):
            lines[min([node.lineno, *(d.lineno for d in node.decorator_list)])] = node.end_lineno
    return read, lines


@functools.cache
def is_read(attribute):
    """Whether a file reads an attribute of that name."""
    return any(attribute in text and attribute in facts(file)[0] for file, text in sources().items())


def is_ours(function):
    if not isinstance(function, types.FunctionType):
        return False
    module = function.__module__ or ""  # None for functions of the catalogue, whose code is generated
    return module.startswith(("gradtape", "keras_gradtape")) or "<gradtape" in function.__code__.co_filename


def parameters(code):
    count = code.co_argcount + code.co_kwonlyargcount
    return [name for name in code.co_varnames[:count] if name not in ("self", "cls")]


@functools.cache
def tree_of(function):
    """The syntax tree of a function, or None if it was not written but generated."""
    file, first = function.__code__.co_filename, function.__code__.co_firstlineno
    last = facts(file)[1].get(first) if file in sources() else None
    if last is None:
        return None
    lines = lines_of(file)[first - 1 : last]
    if not lines[0][0].isspace():
        return ast.parse("\n".join(lines)).body[0]
    return ast.parse("\n".join(["if True:", *lines])).body[0].body[0]


def only_raises(function):
    """Whether the function has no body but a docstring and an error."""
    tree = tree_of(function)
    return tree is not None and all(
        isinstance(node, ast.Raise | ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in tree.body
    )


@functools.cache
def unused(function, calls=3):
    """The names of the function's unused parameters; values are followed through so many calls."""
    tree, names = tree_of(function), parameters(function.__code__)
    if tree is None:
        read = {name for step in dis.get_instructions(function.__code__) for name in named_by(step)}
        return frozenset(name for name in names if name not in read | set(function.__code__.co_cellvars))
    above, loads = {}, {name: [] for name in names}
    for node in ast.walk(tree):
        above.update(dict.fromkeys(ast.iter_child_nodes(node), node))
        if isinstance(node, ast.Name) and type(node.ctx) is ast.Load:
            loads.get(node.id, []).append(node)
            if node.id == "locals":
                return frozenset()
    return frozenset(n for n in names if all(ends_here(function, load, above, calls) for load in loads[n]))


def named_by(step):
    """The local variables that an instruction reads."""
    if not any(load in step.opname for load in ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")):
        return ()  # a version of Python may join instructions, as in STORE_FAST_LOAD_FAST
    return step.argval if isinstance(step.argval, tuple) else (step.argval,)


def ends_here(function, load, above, calls):
    """Whether a value goes nowhere: into an attribute that nobody reads, or into an unused parameter of ours."""
    user = above[load]
    if isinstance(user, ast.Tuple) and isinstance(above.get(user), ast.Assign):
        targets = above[user].targets[0]
        if isinstance(targets, ast.Tuple) and len(targets.elts) == len(user.elts):
            return is_never_read(targets.elts[user.elts.index(load)])
        return False
    if isinstance(user, ast.Assign):
        return is_never_read(user.targets[0])
    keyword = user.arg if isinstance(user, ast.keyword) else None
    call = above[user] if keyword else user
    if not isinstance(call, ast.Call) or load is call.func:
        return False
    called = called_function(function, call.func)
    if not is_ours(called) or called is function or not calls:
        return False
    if keyword is None:
        if load not in call.args or any(isinstance(argument, ast.Starred) for argument in call.args):
            return False
        names = list(inspect.signature(called).parameters)
        names = names[1:] if names[:1] == ["self"] else names
        index = call.args.index(load)
        keyword = names[index] if index < len(names) else None
    return keyword in parameters(called.__code__) and keyword in unused(called, calls - 1)


def is_never_read(target):
    return isinstance(target, ast.Attribute) and not is_read(target.attr)


def called_function(function, node):
    """The function that a call names, or None if that is not known before it runs."""
    known = function.__globals__
    if isinstance(node, ast.Name):
        found = known.get(node.id)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module = known.get(node.value.id)
        found = vars(module).get(node.attr) if isinstance(module, types.ModuleType) else None
    else:
        found = None
    return vars(found).get("__init__") if isinstance(found, type) else found


def public_functions():
    """The public functions and methods, each with its first public name."""
    found = {}
    for name in NAMES:
        value = resolve(name)
        if inspect.isclass(value):
            members = [(a, inspect.getattr_static(value, a)) for a in dir(value)]
            members = [(a, m) for a, m in members if not a.startswith("_") or a in ("__init__", "__call__", "__new__")]
        else:
            members = [("", value)]
        for member, function in members:
            function = inspect.unwrap(getattr(function, "__func__", function))
            if is_ours(function):
                found.setdefault(function, name if member in ("", "__init__") else f"{name}.{member}")
    return found


def census():
    """The number of public parameters, and the pairs of function and unused parameter."""
    functions = public_functions()
    total = sum(len(parameters(function.__code__)) for function in functions)
    found = {(path, name) for f, path in functions.items() if not only_raises(f) for name in unused(f)}
    return total, found
