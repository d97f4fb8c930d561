"""Functions that are compiled on their first call, and the loading of the compiler with them."""

import ast
import pickle
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from kafkaviz.binary.lazy_njit import njit

ROOT = Path(__file__).parents[2]


@njit(boundscheck=True)
def doubled(values, at):
    """Twice a value."""
    return 2 * values[at]


@numba.njit
def doubled_and_one(values, at):
    return doubled(values, at) + 1


def test_it_is_the_compiled_function():
    import numpy as np

    values = np.arange(5)
    assert doubled(values, 3) == 6 and doubled_and_one(values, 3) == 7
    assert doubled.py_func(values, 4) == 8 and doubled.__doc__ == "Twice a value."
    with pytest.raises(IndexError):
        doubled(values, 5)


def test_it_is_sent_by_name():
    assert pickle.loads(pickle.dumps(doubled)) is doubled


def test_importing_a_module_of_compiled_functions_loads_no_compiler():
    """The modules that a lookup imports, and those of an ingest's driver."""
    names = (
        "kafkaviz.binary.varint, kafkaviz.format.walk, kafkaviz.format.batch_records, "
        "kafkaviz.log.broker, kafkaviz.search.lookup, kafkaviz.pipeline.ingest.job"
    )
    code = f"import sys, {names}\nprint('numba' in sys.modules)"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "False\n"
    )


def unannotated(source: str) -> list[str]:
    """Returns the compiled functions without complete annotations."""
    functions = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
        and any(
            isinstance(name, ast.Name) and name.id == "njit"
            for decorator in node.decorator_list
            for name in ast.walk(decorator)
        )
    ]
    return [
        function.name
        for function in functions
        if function.returns is None
        or any(argument.annotation is None for argument in function.args.args)
    ]


@pytest.mark.parametrize(
    "source",
    ["@njit\ndef f(a: int): ...", "@njit(cache=True)\ndef f(a: int, b) -> int: ..."],
)
def test_a_function_that_does_not_say_what_it_takes_is_named(source):
    assert unannotated(source) == ["f"]


def test_every_compiled_function_says_what_it_takes_and_gives():
    """A type checker cannot see through njit, and only the annotation says what an array holds."""
    files = sorted((ROOT / "kafkaviz").rglob("*.py"))
    assert len(files) > 100
    assert [
        f"{file.relative_to(ROOT)}: {name}"
        for file in files
        if "njit" in (source := file.read_text())
        for name in unannotated(source)
    ] == []
