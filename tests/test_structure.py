"""The size of the code: limits that no change passes unnoticed."""

import ast
import io
import tokenize
from pathlib import Path

import hdsp
from hdsp import exceptions

SOURCE = Path(hdsp.__file__).parent
MAX_LINES, MAX_FILES, MAX_FUNCTION_LINES, MAX_ARGUMENTS = 18_000, 160, 60, 8
# Kernels take arrays one by one; users call these by name.
PUBLIC = {"__init__", "simulate", "prepare_corpus", "read_counts", "read_folder", "read_table"}
NOT_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


def docstring_lines(node):
    if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
        return set()
    first = node.body[:1]
    if not first or not isinstance(getattr(first[0], "value", None), ast.Constant):
        return set()
    return set(range(first[0].lineno, first[0].end_lineno + 1))


def test_the_package_stays_small():
    files = list(SOURCE.rglob("*.py"))
    n_lines = 0
    for path in files:
        text = path.read_text(encoding="utf-8")
        lines = set()
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in NOT_CODE:
                lines.update(range(token.start[0], token.end[0] + 1))
        n_lines += len(lines.difference(*map(docstring_lines, ast.walk(ast.parse(text)))))
    assert len(files) <= MAX_FILES
    assert n_lines <= MAX_LINES


def test_functions_are_short_and_take_few_arguments():
    wrong = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or "kernels" in path.parts:
                continue
            n_lines = node.end_lineno - node.lineno + 1 - len(docstring_lines(node))
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            named = [one.arg for one in arguments if one.arg not in ("self", "cls")]
            many = len(named) > MAX_ARGUMENTS and node.name not in PUBLIC
            if n_lines > MAX_FUNCTION_LINES or many:
                wrong.append(f"{path.name}: {node.name}, {n_lines} lines, {len(named)} arguments")
    assert not wrong


def test_the_public_face_stays_small():
    assert len(hdsp.__all__) <= 46
    kinds = [value for value in vars(exceptions).values() if isinstance(value, type)]
    assert sum(issubclass(kind, Warning) for kind in kinds) <= 7
