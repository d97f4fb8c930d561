"""Functions that are compiled on their first call, and the loading of the compiler with them."""

import ast
import io
import os
import pickle
import subprocess
import sys
from contextlib import redirect_stdout
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


def compiled_functions(source: str) -> list[ast.FunctionDef]:
    return [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
        and any(
            isinstance(name, ast.Name) and name.id == "njit"
            for decorator in node.decorator_list
            for name in ast.walk(decorator)
        )
    ]


def compiled_sources() -> list[tuple[str, str]]:
    """Returns the name and the text of each module with compiled functions."""
    files = sorted((ROOT / "kafkaviz").rglob("*.py"))
    assert len(files) > 100
    texts = [(str(file.relative_to(ROOT)), file.read_text()) for file in files]
    return [(name, text) for name, text in texts if "njit" in text]


def unannotated(source: str) -> list[str]:
    """Returns the compiled functions without complete annotations."""
    return [
        function.name
        for function in compiled_functions(source)
        if function.returns is None
        or any(argument.annotation is None for argument in function.args.args)
    ]


@pytest.mark.parametrize(
    "source", ["@njit\ndef f(a: int): ...", "@njit(cache=True)\ndef f(a: int, b) -> int: ..."]
)
def test_a_function_that_does_not_say_what_it_takes_is_named(source):
    assert unannotated(source) == ["f"]


def test_every_compiled_function_says_what_it_takes_and_gives():
    """A type checker cannot see through njit, and only the annotation says what an array holds."""
    faults = [
        f"{name}: {fault}" for name, text in compiled_sources() for fault in unannotated(text)
    ]
    assert faults == []


def rows_of_unnamed_arrays(source: str) -> list[str]:
    """Returns the expressions of compiled functions that take one element of a new array.

    A compiled row does not keep its array alive: the memory is freed while the row is in use.
    """
    return [
        ast.unparse(node)
        for function in compiled_functions(source)
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func).startswith("np.")
        and not isinstance(node.slice, ast.Slice)
    ]


def test_a_row_of_an_unnamed_array_is_named():
    source = "@njit\ndef f(): return np.zeros(1, ROW)[0], np.array(f)[1:], g(1)[0]"
    assert rows_of_unnamed_arrays(source) == ["np.zeros(1, ROW)[0]"]


def test_no_compiled_function_uses_a_row_of_an_unnamed_array():
    faults = [
        f"{name}: {fault}"
        for name, text in compiled_sources()
        for fault in rows_of_unnamed_arrays(text)
    ]
    assert faults == []


# The allocator of glibc keeps freed memory aside for a while. Without that, memory that is used
# after it was freed is overwritten at once.
REUSED_AT_ONCE = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
CLEANINGS = """
from kafkaviz.workshop.figures import customer_log
for story in (customer_log.PROFILES, customer_log.TRANSACTIONS):
    for day in (14, 28, 42):
        for segment in customer_log.check(story, day).segments:
            print(story, day, segment.base_offset, segment.log.content().hex())
"""


def test_a_cleaning_uses_no_freed_memory():
    with redirect_stdout(io.StringIO()) as expected:
        exec(CLEANINGS)
    command = [sys.executable, "-c", CLEANINGS]
    environment = os.environ | REUSED_AT_ONCE
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == expected.getvalue() != ""


SEALS = """
import numpy as np
from kafkaviz.format.batch import BATCH
from kafkaviz.simulate.producers.batch_encoder import seal
data = np.zeros(61, np.uint8)
for dtype in (BATCH, np.dtype([*BATCH.descr, ("more", "i8")])):
    rows = np.zeros(1, dtype)
    rows["size_bytes"] = 61
    seal(rows, data)
print(data[17:21].any())
"""


def test_a_row_with_more_fields_is_compiled_silently(tmp_path):
    """numba takes the code for the row with fewer fields, and would warn of it."""
    done = subprocess.run(
        [sys.executable, "-c", SEALS],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


TOTAL = """
from kafkaviz.binary.lazy_njit import njit

@njit(cache=True)
def total(values: "np.ndarray") -> "float":
    result = values[0]
    for value in values[1:]:
        result += value
    return result
"""
# Each process waits with its index for the other's: one of them saves its code last.
SAVE_AT_ONCE = """
import sys, time
from pathlib import Path
import numpy as np
from numba.core.caching import IndexDataCacheFile
from total import total

kind, save_index = sys.argv[1], IndexDataCacheFile._save_index

def save_later(self, overloads):
    Path(kind).touch()
    end_s = time.monotonic() + 1
    while time.monotonic() < end_s and not all(map(Path.exists, map(Path, ("int64", "float64")))):
        time.sleep(0.01)
    time.sleep(0.2 * (kind == "float64"))
    save_index(self, overloads)
    time.sleep(0.4 * (kind == "int64"))

if sys.argv[2:]:
    IndexDataCacheFile._save_index = save_later
print(total(np.array([1, 2, 3], kind)))
"""


@pytest.mark.slow
def test_processes_that_compile_at_once_keep_their_own_code(tmp_path):
    """numba names a file of code by its number, and two processes could take the same one."""
    (tmp_path / "total.py").write_text(TOTAL)
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}

    def start(kind: str, *arguments: str) -> subprocess.Popen:
        command = [sys.executable, "-c", SAVE_AT_ONCE, kind, *arguments]
        return subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE)

    for arguments in (["at once"], []):
        processes = [start(kind, *arguments) for kind in ("int64", "float64")]
        results = [process.communicate()[0].decode().strip() for process in processes]
        assert results == ["6", "6.0"]
