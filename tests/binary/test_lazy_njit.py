"""Functions that are compiled on their first call, and the loading of the compiler with them."""

import pickle
import subprocess
import sys

import numba
import pytest

from kafkaviz.binary.lazy_njit import njit


@njit(boundscheck=True)
def doubled(values, at):
    """Twice a value."""
    return 2 * values[at]


@numba.njit
def doubled_and_one(values, at):
    """Another compiled function uses it."""
    return doubled(values, at) + 1


def test_it_is_the_compiled_function():
    """From Python and from another compiled function, with its options."""
    import numpy as np

    values = np.arange(5)
    assert doubled(values, 3) == 6 and doubled_and_one(values, 3) == 7
    assert doubled.py_func(values, 4) == 8 and doubled.__doc__ == "Twice a value."
    with pytest.raises(IndexError):
        doubled(values, 5)


def test_it_is_sent_by_name():
    """A worker finds it in its module."""
    assert pickle.loads(pickle.dumps(doubled)) is doubled


def test_importing_a_module_of_compiled_functions_loads_no_compiler():
    """The modules that a lookup imports."""
    names = (
        "kafkaviz.binary.varint, kafkaviz.format.walk, kafkaviz.format.batch_records, "
        "kafkaviz.log.broker, kafkaviz.search.lookup"
    )
    code = f"import sys, {names}\nprint('numba' in sys.modules)"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "False\n"
    )
