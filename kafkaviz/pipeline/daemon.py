"""Spark's daemon of Python workers, with all that a worker needs imported before the first one is forked.

Workers share these modules' memory and start at once; each by itself would import them for a second.
"""

import gc

from pyspark import daemon

from kafkaviz.format.walk import walk
from kafkaviz.pipeline import scan  # noqa: F401  what tasks run


def ready() -> None:
    """Loads what numba has compiled, and keeps the collector off all of this: pyspark runs it after each task, 30 ms a time."""
    walk(b"")
    gc.freeze()


if __name__ == "__main__":
    ready()
    daemon.manager()
