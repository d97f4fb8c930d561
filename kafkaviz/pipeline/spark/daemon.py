"""Spark's daemon for Python workers, which imports modules before it forks a worker.

Forked workers share the memory of the imported modules and start at once. Otherwise each worker
would spend a second on imports.
"""

import gc
import os
import sys
from collections.abc import Sequence


def without_archives(path: Sequence[str], spark_home: str) -> list[str]:
    """Returns an import path without Spark's archives of pyspark and py4j.

    The archives are removed only if pip has installed the same modules unpacked. Spark puts the
    archives first in sys.path. So every process would compile the modules in the archives again,
    and search the archives for every other module. This takes 0.9 s of CPU time. If `spark_home` is
    "", the folder is unknown and nothing is removed.
    """
    if not spark_home:
        return list(path)
    home = os.path.realpath(spark_home)
    if not any(os.path.realpath(os.path.join(folder, "pyspark")) == home for folder in path):
        return list(path)
    return [entry for entry in path if not os.path.realpath(entry).startswith(home + os.sep)]


if __name__ == "__main__":  # must run before pyspark, numpy and numba are imported
    gc.disable()  # imports create no garbage, so the collector is off
    sys.path[:] = without_archives(sys.path, os.environ.get("SPARK_HOME", ""))

import traceback
from types import SimpleNamespace

import numpy as np
from pyspark import daemon, worker  # noqa: F401  a worker imports the latter first

from kafkaviz.analysis import sweep
from kafkaviz.binary.file_view import in_memory
from kafkaviz.format.batch import BATCH, HEADER, LENGTH_END
from kafkaviz.format.deep_scan import DeepScan
from kafkaviz.format.walk import walk
from kafkaviz.pipeline.ingest import check_reuse, split_scan  # noqa: F401  used by tasks


def preload() -> None:
    """Loads numba's compiled functions, and freezes all objects for the garbage collector.

    A pyspark worker collects garbage after each task, which would take 30 ms without freezing.
    """
    walk(b"")
    empty = np.zeros(1, HEADER)
    empty["magic"] = 2
    empty["batch_length_bytes"] = HEADER.itemsize - LENGTH_END
    with in_memory("", empty.tobytes()).open_reader() as read:
        list(DeepScan(read, 0, HEADER.itemsize))
    sweep.sweep(np.ones(1, BATCH))
    gc.freeze()


def print_fault() -> None:
    """Prints a worker's traceback, except after the JVM has ended, such as by Ctrl-C."""
    if not isinstance(sys.exc_info()[1], ConnectionError | EOFError):
        traceback.print_exc()


if __name__ == "__main__":
    preload()
    gc.enable()
    vars(daemon)["traceback"] = SimpleNamespace(
        print_exc=print_fault, format_exc=traceback.format_exc
    )
    daemon.manager()
