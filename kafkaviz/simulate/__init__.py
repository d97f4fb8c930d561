"""Floor 5: what Kafka writes, byte for byte, from settings, batches and a release; only folder.py writes files, and makes new ones.

The package can be called: kafkaviz.simulate(workload, settings, seed) is simulation.simulate.
"""

import sys
from types import ModuleType


class _Callable(ModuleType):
    """The library's kv.simulate has the name of this package, which is what the import system puts there."""

    def __call__(self, *args, **kwargs):
        from kafkaviz.simulate.simulation import simulate

        return simulate(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
