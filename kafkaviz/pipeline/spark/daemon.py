"""Spark's daemon of Python workers, with the imports of a worker done.

They are done before the first worker is forked.

Workers share these modules' memory and start at once; each by itself would import them for a
second.
"""

import gc
import os
import sys

from kafkaviz.pipeline.spark.python_path import without_archives

if __name__ == "__main__":  # before pyspark, numpy and numba are imported
    gc.disable()  # modules are no garbage
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
from kafkaviz.pipeline.ingest import ingest_checks, scan  # noqa: F401  what tasks run


def preload() -> None:
    """Loads what numba has compiled, and keeps the collector off all of this.

    A worker of pyspark collects garbage after each task, which would take 30 ms.
    """
    walk(b"")
    empty = np.zeros(1, HEADER)
    empty["magic"], empty["batch_length_bytes"] = 2, HEADER.itemsize - LENGTH_END
    with in_memory("", empty.tobytes()).open_reader() as read:
        list(DeepScan(read, 0, HEADER.itemsize))
    sweep.sweep(np.ones(1, BATCH))
    gc.freeze()


def print_fault() -> None:
    """A worker's traceback; nothing of one whose JVM is gone, as after Ctrl-C: nobody waits."""
    if not isinstance(sys.exc_info()[1], ConnectionError | EOFError):
        traceback.print_exc()


if __name__ == "__main__":
    preload()
    gc.enable()
    vars(daemon)["traceback"] = SimpleNamespace(
        print_exc=print_fault, format_exc=traceback.format_exc
    )
    daemon.manager()
