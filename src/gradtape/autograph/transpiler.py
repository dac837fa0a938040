"""Rewrites functions into functions made of operators.

The result is compiled from memory under the file name and the line numbers of the user's function: debuggers stop in
it, coverage is measured, and tracebacks show the user's lines. What AutoGraph adds has the line of the statement it
was added for, and the functions that it adds have the name of the user's.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import itertools
import linecache
import os
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from malt.converters import (
    asserts,
    break_statements,
    call_trees,
    conditional_expressions,
    continue_statements,
    control_flow,
    directives,
    functions,
    lists,
    logical_expressions,
    return_statements,
    slices,
    variables,
)
from malt.core import converter, unsupported_features_checker
from malt.impl import api as malt_api
from malt.lang import directives as marks
from malt.pyct import anno, cache, errors, inspect_utils, naming, parser, transformer

from ..core.locks import fork_safe_rlock
from ..core.tracebacks import CONVERTED
from .loop_options import set_loop_options


class _Directives(directives.DirectivesTransformer):
    """Makes malt recognize `tf.autograph.experimental.set_loop_options` as its directive."""

    def visit_Attribute(self, node: Any) -> Any:
        return self._named(super().visit_Attribute(node))

    def visit_Name(self, node: Any) -> Any:
        return self._named(super().visit_Name(node))

    def _named(self, node: Any) -> Any:
        static = anno.getanno(node, directives.STATIC_VALUE, default=None)
        if getattr(static, "__wrapped__", static) is set_loop_options:
            anno.setanno(node, directives.STATIC_VALUE, marks.set_loop_options)
        return node


class _Ranges(converter.Base):
    """Turns `for i in f(...)` into `for i in ag__.replace_iterated(f)(...)`, which does not materialize ranges."""

    def visit_For(self, node: Any) -> Any:
        node = self.generic_visit(node)
        if isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name | ast.Attribute):
            name = parser.parse_expression("ag__.replace_iterated")
            node.iter.func = ast.Call(func=name, args=[node.iter.func], keywords=[])
        return node


class _Breakpoints(converter.Base):
    """Leaves breakpoints as they are: they stop in the function that calls them.

    malt does so, too, and warns that its code is not made for debuggers.
    """

    def visit_Call(self, node: Any) -> Any:
        if str(anno.getanno(node.func, anno.Basic.QN, default="")) in ("breakpoint", "pdb.set_trace", "ipdb.set_trace"):
            anno.setanno(node, anno.Basic.SKIP_PROCESSING, True)
            return node
        return self.generic_visit(node)


class _Plainer(ast.NodeTransformer):
    """Rewrites syntax that malt's static analysis does not understand.

    `except E as name:` becomes `except E:` with `name = ag__.caught()` as its first statement: the name is a string in
    the syntax tree, which the analysis does not treat as a symbol. `name: T`, which does nothing, is removed: it would
    count as an assignment. `{**x for x in xs}` becomes `{item[0]: item[1] for x in xs for item in {**x}.items()}`.
    """

    def visit_ExceptHandler(self, node: Any) -> Any:
        self.generic_visit(node)
        if node.name is None:
            return node
        caught = ast.Call(func=parser.parse_expression("ag__.caught"), args=[], keywords=[])
        first: Any = ast.Assign(targets=[ast.Name(id=node.name, ctx=ast.Store())], value=caught)
        _take_origin(first, node)
        node.name, node.body = None, [first, *node.body]
        return node

    def visit_AnnAssign(self, node: Any) -> Any:
        self.generic_visit(node)
        if node.value is not None or not isinstance(node.target, ast.Name):
            return node
        nothing = ast.Pass()
        _take_origin(nothing, node)
        return nothing

    def visit_DictComp(self, node: Any) -> Any:
        self.generic_visit(node)
        if node.value is not None:
            return node
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        item = next(name for name in map("item_{}".format, itertools.count()) if name not in names)
        plain: Any = parser.parse_expression(f"{{{item}[0]: {item}[1] for {item} in {{**mapping}}.items()}}")
        _take_origin(plain, node)
        plain.generators[0].iter.func.value.values = [node.key]
        plain.generators = [*node.generators, *plain.generators]
        return plain


def _take_origin(tree: ast.AST, node: ast.AST) -> None:
    """Sets the positions and the origins of a tree's nodes to those of the node that the tree replaces."""
    for part in ast.walk(tree):
        ast.copy_location(part, node)
        anno.copyanno(node, part, anno.Basic.ORIGIN)


class Transpiler(malt_api.PyToPy):
    """Rewrites functions to functions that use the names of `namespace`, and caches the result for each code object."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._cells = {name: types.CellType(value) for name, value in namespace.items()}
        self._codes = cache.CodeObjectCache()
        self._lock = fork_safe_rlock()

    def convert(self, function: types.FunctionType, options: Any) -> types.FunctionType:
        """Returns the converted function."""
        code = self._converted_code(function, options)
        cells = {**self._cells, **dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))}
        closure = tuple(cells[name] for name in code.co_freevars)
        result = types.FunctionType(code, function.__globals__, _name(function), function.__defaults__, closure)
        result.__kwdefaults__ = function.__kwdefaults__
        return result

    def source(self, function: types.FunctionType, options: Any) -> str:
        """Returns the source code of the converted function."""
        node = self._converted_tree(function, options)
        if isinstance(node, ast.Lambda):
            node = ast.Assign(targets=[ast.Name(_name(function), ast.Store())], value=node)
        return ast.unparse(ast.fix_missing_locations(node)) + "\n"

    def _converted_code(self, function: types.FunctionType, options: Any) -> types.CodeType:
        key = options, function.__code__.co_filename  # code objects that differ only in their files are equal
        with self._lock:
            known = self._codes[function]
            if key not in known:
                tree = self._converted_tree(function, options)
                known[key] = _compiled(tree, function.__code__, [*self._cells, *function.__code__.co_freevars])
            return known[key]

    def _converted_tree(self, function: types.FunctionType, options: Any) -> Any:
        """Returns the syntax tree of the converted function, a definition or a lambda."""
        node = self._erase_arg_defaults(_syntax_tree(function))
        namespace = inspect_utils.getnamespace(function)
        namer = naming.Namer(namespace)
        name = namer.new_symbol(_name(function), ())
        info = transformer.EntityInfo(name, "", function.__code__.co_filename, (), namespace)
        node = self.transform_ast(node, transformer.Context(info, namer, converter.ProgramContext(options)))
        if not isinstance(node, ast.Lambda):
            node.name = name
        return node

    def transform_ast(self, node: Any, ctx: Any) -> Any:
        """Converts the syntax tree of a function."""
        unsupported_features_checker.verify(node)
        node = _Plainer().visit(node)
        node = self.initial_analysis(node, ctx)
        uses = ctx.user.options.uses
        steps: list[Any] = [functions.transform, lambda n, c: _Directives(c).visit(n), break_statements.transform]
        if uses(converter.Feature.ASSERT_STATEMENTS):
            steps.append(asserts.transform)
        steps += [continue_statements.transform, return_statements.transform]
        if uses(converter.Feature.LISTS):
            steps += [lists.transform, slices.transform]
        steps += [lambda n, c: _Ranges(c).visit(n), lambda n, c: _Breakpoints(c).visit(n)]
        steps += [call_trees.transform, control_flow.transform]
        steps += [conditional_expressions.transform, logical_expressions.transform, variables.transform]
        for step in steps:
            node = step(node, ctx)
        return node


def _name(function: types.FunctionType) -> str:
    name = function.__code__.co_name
    return "tf__lam" if name == "<lambda>" else f"tf__{name}"


class _Span(NamedTuple):
    """The origin of a node: where it begins and ends in the user's file; columns of -1 are unknown."""

    lineno: int
    end_lineno: int
    col_offset: int
    end_col_offset: int


def _span(node: Any) -> _Span:
    """Returns the origin of a node in the user's program; of a compound statement, its first line."""
    if isinstance(node, ast.stmt | ast.excepthandler) and hasattr(node, "body"):
        return _Span(node.lineno, node.lineno, -1, -1)
    return _Span(node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)


def _syntax_tree(function: types.FunctionType) -> Any:
    """Returns the syntax tree of a function, a definition or a lambda; each node is annotated with its origin."""
    code = function.__code__
    frozen = getattr(sys, "_MEIPASS", "")  # the folder of a program frozen by PyInstaller, whose names are relative
    file = os.path.join(frozen, code.co_filename)
    linecache.checkcache(file)
    text = linecache.getlines(file, function.__globals__)
    if not text:
        raise errors.InaccessibleSourceCodeError(
            f"Unable to locate the source code of {function}. Note that functions defined in certain environments, "
            "like the interactive Python shell, do not expose their source code. If that is the case, you should "
            "define them in a .py source file. If you are certain the code is graph-compatible, wrap the call using "
            f"@tf.autograph.experimental.do_not_convert.{_how_to_freeze(code.co_filename) if frozen else ''}"
        )
    node = _lambda(code, text) if code.co_name == "<lambda>" else _definition(code, text)
    if node is None:
        raise errors.UnsupportedLanguageElementError(
            f"Line {code.co_firstlineno} of {code.co_filename} does not define {function}: the file has changed since "
            "it was imported, or several lambdas on the line have the same parameters."
        )
    for part in ast.walk(node):
        if hasattr(part, "lineno"):
            anno.setanno(part, anno.Basic.ORIGIN, _span(part))
    return node


def _how_to_freeze(file: str) -> str:
    folder = os.path.dirname(file) or "."
    return (
        f" This program was frozen without the source: add the option --add-data={file}:{folder} to the "
        "command line of PyInstaller."
    )


def _definition(code: types.CodeType, text: list[str]) -> ast.FunctionDef | None:
    """Returns the syntax tree of a function that is defined by `def`, or None if the text is not that of the code."""
    lines = inspect.getblock(text[code.co_firstlineno - 1 :])
    head = "if True:\n" if lines and lines[0][:1].isspace() else "\n"  # keeps the columns of an indented definition
    try:
        body: Any = ast.parse(head + "".join(lines)).body
    except SyntaxError:
        return None
    node = body[0].body[0] if head.strip() else body[0] if body else None
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return None
    ast.increment_lineno(node, code.co_firstlineno - 2)
    first: ast.stmt | ast.expr = node.decorator_list[0] if node.decorator_list else node
    return node if first.lineno == code.co_firstlineno else None


def _lambda(code: types.CodeType, text: list[str]) -> ast.Lambda | None:
    """Returns the syntax tree of a lambda, or None if it cannot be told which of the text's it is."""
    line = code.co_firstlineno
    try:
        nodes = _nodes_on(line, ast.parse("".join(text)))
    except SyntaxError:
        return None
    found = [node for node in nodes if isinstance(node, ast.Lambda) and node.lineno == line]
    if len(found) > 1:
        positions = [position for position in code.co_positions() if position[3]]  # of instructions with columns
        if positions:
            found = [node for node in found if all(_contains(node.body, position) for position in positions)][-1:]
        else:
            found = [node for node in found if _has_parameters(node, code)]
    return found[0] if len(found) == 1 else None


def _nodes_on(line: int, node: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes below `node` that have a part on a line."""
    for child in ast.iter_child_nodes(node):
        span: Any = child
        if not hasattr(child, "lineno") or span.lineno <= line <= span.end_lineno:
            yield child
            yield from _nodes_on(line, child)


def _contains(node: Any, position: Any) -> bool:
    """Whether a node contains an instruction's position, given as `co_positions` does."""
    line, end_line, column, end_column = position
    begins, ends = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return bool(begins <= (line, column) and (end_line, end_column) <= ends)


def _has_parameters(node: ast.Lambda, code: types.CodeType) -> bool:
    names = [part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)]
    flags = inspect.CO_VARARGS, inspect.CO_VARKEYWORDS
    count = code.co_argcount + code.co_kwonlyargcount + sum(bool(code.co_flags & flag) for flag in flags)
    return sorted(names) == sorted(code.co_varnames[:count])


_FUTURE_FLAGS = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def _compiled(node: Any, original: types.CodeType, names: list[str]) -> types.CodeType:
    """Returns the code of the converted function, whose free variables are `names` or some of them."""
    scope: Any = ast.parse(f"def scope({', '.join(names)}): pass").body[0]
    if isinstance(node, ast.Lambda):
        scope.body = [ast.Return(node)]
    else:
        node.returns = None  # like the default values, annotations have been evaluated with the user's function
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        node.type_params = []  # likewise; those that the function uses are free variables of its code
        scope.body = [node]
    line = original.co_firstlineno  # of the first decorator
    _locate(scope, _Span(line, line, -1, -1))
    node.lineno = line
    flags = original.co_flags & _FUTURE_FLAGS
    module = compile(ast.Module([scope], []), original.co_filename, "exec", flags, dont_inherit=True)
    (code,) = _nested(module)
    (code,) = _nested(code)
    return _named_as_users(code, original.co_name, original.co_qualname, _names(original))


def _locate(node: Any, span: _Span) -> None:
    """Sets the positions of a tree's nodes to their origins, or to `span` where AutoGraph has added them."""
    span = anno.getanno(node, anno.Basic.ORIGIN, default=span)
    if "lineno" in node._attributes:
        node.lineno, node.end_lineno, node.col_offset, node.end_col_offset = span
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            _locate(value, span)
        elif isinstance(value, list | tuple) and not isinstance(node, ast.Constant):
            setattr(node, name, [*value])  # malt makes tuples, too
            for child in value:
                if isinstance(child, ast.AST):
                    _locate(child, span)


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yields the code of the functions that a function defines."""
    return (constant for constant in code.co_consts if isinstance(constant, types.CodeType))


def _names(code: types.CodeType) -> set[str]:
    """Returns the names of the functions in a function, at any depth."""
    return {code.co_name}.union(*map(_names, _nested(code)))


def _named_as_users(code: types.CodeType, name: str, path: str, users: set[str]) -> types.CodeType:
    """Marks code as converted, and names it: a function that AutoGraph has added is named as the user's around it."""
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = constant.co_name if constant.co_name in users else name
            constant = _named_as_users(constant, inner, f"{path}.<locals>.{inner}", users)
        constants.append(constant)
    return code.replace(co_name=name, co_qualname=path, co_consts=(*constants, CONVERTED))
