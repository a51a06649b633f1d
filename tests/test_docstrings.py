"""What the docstring linter does not check: attributes, defaults, and public names in full."""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple

from numpydoc.docscrape import NumpyDocString

import hdsp
import hdsp_studies

PUBLIC = ["hdsp", "hdsp.datasets", "hdsp.metrics", "hdsp.plots", "hdsp.testing"]


def module_names() -> list[str]:
    """The modules of hdsp and hdsp-studies."""
    packages = (hdsp, hdsp_studies)
    found = [pkgutil.walk_packages(p.__path__, f"{p.__name__}.") for p in packages]
    return sorted(info.name for modules in found for info in modules)


def documented_objects(module: str) -> Iterator[Any]:
    """The functions, classes and methods that a module defines."""
    for member in vars(importlib.import_module(module)).values():
        member = getattr(member, "py_func", member)  # a compiled function
        if getattr(member, "__module__", None) != module:
            continue
        if inspect.isfunction(member) or inspect.isclass(member):
            yield member
        if inspect.isclass(member):
            yield from methods(member)


def methods(cls: type) -> Iterator[Callable[..., Any]]:
    """The methods that a class defines itself."""
    for member in vars(cls).values():
        member = getattr(member, "__func__", member)
        if inspect.isfunction(member):
            yield member


def faults(member: Any) -> list[str]:
    """What is wrong with the docstring of a function or class."""
    docstring = NumpyDocString(inspect.getdoc(member) or "")
    found = attribute_faults(member, docstring) if inspect.isclass(member) else []
    if not docstring["Parameters"]:
        return found
    signature = inspect.signature(member).parameters
    for entry in docstring["Parameters"]:
        for name in entry.name.split(", "):
            if (parameter := signature.get(name.lstrip("*"))) is None:
                found.append(f"parameter {name} does not exist")
            else:
                found += default_faults(name, entry.type, parameter.default)
    return found


def attribute_faults(cls: type, docstring: NumpyDocString) -> list[str]:
    """Attributes without a type or a sentence, and fields of a dataclass that are not there."""
    entries = docstring["Attributes"]
    found = [f"attribute {entry.name} has no type" for entry in entries if not entry.type]
    for entry in entries:
        text = "\n".join(entry.desc)
        if not text.endswith(".") or text[0].islower():
            found.append(f"the description of attribute {entry.name} is no sentence")
    names = [name for entry in entries for name in entry.name.split(", ")]
    if names and is_dataclass(cls):
        own = [f.name for f in fields(cls) if f.name in vars(cls)["__annotations__"]]
        own = [name for name in own if not name.startswith("_")]
        if [name for name in names if name in own] != own:
            found.append(f"attributes are {names}, and the fields are {own}")
        others = [name for name in names if name not in own and not hasattr(cls, name)]
        found += [f"attribute {name} does not exist" for name in others]
    return found


def default_faults(name: str, type_: str, default: Any) -> list[str]:
    """A default that the signature has and the docstring lacks, the reverse, or another value."""
    stated = re.search(r"\bdefault=(.+)$", type_, flags=re.DOTALL)
    if default is inspect.Parameter.empty:
        return [f"parameter {name} has no default"] if stated else []
    if stated is None:
        return [f"the type of parameter {name} must end in default={default!r}"]
    try:
        value = ast.literal_eval(stated[1])
    except (ValueError, SyntaxError):
        return []  # a name, such as that of a constant
    return [] if value == default else [f"the default of {name} is {default!r}, not {value!r}"]


def is_contract(cls: type) -> bool:
    """Whether a class is abstract or made from one, which describes its methods' arguments once."""
    return any(map(inspect.isabstract, cls.__mro__))


def undocumented_parameters(member: Any) -> bool:
    """Whether a function or class has parameters, and its docstring none."""
    docstring = NumpyDocString(inspect.getdoc(member) or "")
    if inspect.isclass(member) and (is_dataclass(member) or issubclass(member, BaseException)):
        return is_dataclass(member) and not docstring["Attributes"]
    names = [name for name in inspect.signature(member).parameters if name not in ("self", "cls")]
    return bool(names) and not docstring["Parameters"]


def test_docstrings() -> None:
    found = [
        f"{module}.{member.__qualname__}: {fault}"
        for module in module_names()
        for member in documented_objects(module)
        for fault in faults(member)
    ]
    assert not found, "\n".join(found)


def public_members() -> Iterator[tuple[str, Any]]:
    """Public functions and classes with their public methods, unless inherited."""
    included = set(module_names())
    for module in map(importlib.import_module, PUBLIC):
        for name in module.__all__:
            member = getattr(module, name)
            if not callable(member) or member.__module__ not in included:
                continue
            yield f"{module.__name__}.{name}", member
            if not inspect.isclass(member) or is_contract(member):
                continue
            for method in methods(member):
                if not method.__name__.startswith("_"):
                    yield f"{module.__name__}.{method.__qualname__}", method


def test_public_names_document_their_parameters() -> None:
    found = [name for name, member in public_members() if undocumented_parameters(member)]
    assert not found, "\n".join(found)


class Plain:
    """A class.

    Parameters
    ----------
    length : int, default=3
        How long.
    name : str
        What it is called.
    kind : str
        Of what kind.
    size : int
        How large.
    """

    def __init__(self, length: int = 4, name: str = "", *, kind: str) -> None:
        pass


@dataclass
class Record:
    """A record.

    Attributes
    ----------
    second : int
        how many
    third
        A number.
    """

    first: int
    second: int


class Undocumented(NamedTuple):
    """A tuple."""

    first: int


def test_faults_are_found() -> None:
    assert faults(Plain) == [
        "the default of length is 4, not 3",
        "the type of parameter name must end in default=''",
        "parameter size does not exist",
    ]
    assert faults(Record) == [
        "attribute third has no type",
        "the description of attribute second is no sentence",
        "attributes are ['second', 'third'], and the fields are ['first', 'second']",
        "attribute third does not exist",
    ]
    assert default_faults("n", "int, default=3", inspect.Parameter.empty) == [
        "parameter n has no default"
    ]
    assert undocumented_parameters(Undocumented)
    assert not undocumented_parameters(Plain)
    assert {"hdsp.datasets", "hdsp.metrics"} <= set(module_names())
