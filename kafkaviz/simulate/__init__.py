"""Simulates what Kafka writes, byte for byte, from settings, batches and a release.

Only directory/folder.py writes files, and only new ones. Each package uses only the ones before it:

- producers/: the batches that producers send
- recovery/: the part of a segment that a recovery keeps
- startup/: what a broker does when it starts
- writer/: a log that is appended to
- directory/: whole logs and broker directories
- lessons/: logs for lessons

The package can be called: kafkaviz.simulate(workload, settings, seed) is simulation.simulate.
"""

import sys
from types import ModuleType


class _Callable(ModuleType):
    """A module that can be called.

    The function kv.simulate has the same name as this package, and the import system puts the
    package in its place.
    """

    def __call__(self, *args, **kwargs):
        from kafkaviz.simulate.directory.simulation import simulate

        return simulate(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
