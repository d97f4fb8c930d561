"""Simulates what Kafka writes, byte for byte, from settings, batches and a release.

Only directory/folder.py writes files, and only new ones. Each part in this list uses only the parts
above it:

- producers/: the batches that producers send
- recovery, segment_check: the recovery of a segment
- startup/: broker start-up
- writer/: a log during appends
- cleaner/: the log cleaner
- directory/: whole logs and broker directories
- lesson_logs, lesson_growth: logs for lessons

The package can be called: kafkaviz.simulate(workload, settings, seed) calls simulation.simulate.
"""

import sys
from types import ModuleType


class _Callable(ModuleType):
    """Makes this package callable: kv.simulate is both the package and a function."""

    def __call__(self, *args, **kwargs):
        from kafkaviz.simulate.directory.simulation import simulate

        return simulate(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
