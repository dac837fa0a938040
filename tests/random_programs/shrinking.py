"""Shrinks a program that fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .program import Program, Statement


def shrunk(program: Program, fails: Callable[[Program], bool]) -> Program:
    """Removes the statements, outputs, calls and tapes that the failure does not need."""
    changed = True
    while changed:
        changed = False
        for smaller in _smaller(program):
            if fails(smaller):
                program, changed = smaller, True
                break
    return program


def _smaller(program: Program):
    """Yields smaller programs, the smallest first."""
    statements = list(program.statements)
    size = len(statements) // 2
    while size:
        for i in range(0, len(statements), size):
            yield from _sound(program, program.with_statements(statements[:i] + statements[i + size :]))
        size //= 2
    for y in program.outputs:
        if len(program.outputs) > 1:
            yield replace(program, outputs=tuple(z for z in program.outputs if z != y))
    for i in reversed(range(len(program.calls))):
        if len(program.calls) > 1:
            yield replace(program, calls=program.calls[:i] + program.calls[i + 1 :])
    if program.mode != "value":
        simpler = "gradient inside" if "inside" in program.mode else "gradient around"
        yield from [replace(program, mode=mode) for mode in ("value", simpler) if mode != program.mode]
    yield from _shortcuts(program)
    used = set().union(*[s.uses for s in statements], program.outputs)
    for name in (*program.inputs, *program.variables):
        if name not in used and len(program.inputs) > 1:
            rest = {x: known for x, known in program.inputs.items() if x != name}
            others = {x: known for x, known in program.variables.items() if x != name}
            yield replace(program, inputs=rest, variables=others)


def _sound(program: Program, smaller: Program):
    if len(smaller.statements) == len(program.statements):
        return
    if not smaller.outputs:
        if not smaller.statements:
            return
        smaller = replace(smaller, outputs=(smaller.statements[-1].defines[-1],))
    yield smaller


def _shortcuts(program: Program):
    """Replaces an intermediate value by an earlier one of the same shape and dtype."""
    for i, s in enumerate(program.statements):
        name = s.defines[-1]
        earlier = [*program.inputs, *(t.defines[-1] for t in program.statements[:i])]
        for other in earlier:
            known, its = program.known.get(name), program.known.get(other)
            if known is None or its is None or (known.shape, known.dtype) != (its.shape, its.dtype):
                continue
            short = Statement(f"{name} = {other}", (name,))
            if s.text not in [f"{name} = {x}" for x in earlier]:
                yield replace(program, statements=(*program.statements[:i], short, *program.statements[i + 1 :]))
