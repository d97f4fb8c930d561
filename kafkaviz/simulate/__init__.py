"""What Kafka writes, byte for byte, from settings, batches and a release.

Only directory/folder.py writes files, and only new ones. Its packages, each of which uses only
those before it: producers/, what producers send; recovery/, what is kept of one segment; startup/,
what a broker's start does; writer/, the log that is appended to; directory/, logs from beginning to
end; lessons/, logs to be looked at.

The package can be called: kafkaviz.simulate(workload, settings, seed) is simulation.simulate.
"""

import sys
from types import ModuleType


class _Callable(ModuleType):
    """A module that can be called.

    The library's kv.simulate has the name of this package, and the import system puts the module
    there.
    """

    def __call__(self, *args, **kwargs):
        from kafkaviz.simulate.directory.simulation import simulate

        return simulate(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
