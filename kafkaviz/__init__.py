"""kafkaviz: open a Kafka broker directory and see how .log, .index and .timeindex find a record.

Start with `open_broker(path)`. `check`, `lookup`, `compare`, `compaction` and `sweep` answer
questions about it, `simulate` writes a directory as a broker would, and `plot` draws the results.
`records`, `batches` and `segments` give rows for Arrow, pandas, Polars and DuckDB. Errors meant for
the user are KafkavizError; CannotOpen and CorruptFile name the file.

docs/architecture.md lists the packages, and says which may import which.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkaviz.analysis.broker_health import Health, check
    from kafkaviz.analysis.compaction.compaction import Compaction, compaction
    from kafkaviz.analysis.comparison.comparator import compare
    from kafkaviz.analysis.comparison.comparison import BrokerComparison
    from kafkaviz.analysis.findings import Finding
    from kafkaviz.analysis.lookup import lookup
    from kafkaviz.analysis.sweep import sweep
    from kafkaviz.environment import SAMPLES
    from kafkaviz.errors import CannotOpen, CorruptFile, KafkavizError
    from kafkaviz.figures import plot
    from kafkaviz.log.broker import Broker, open_broker
    from kafkaviz.log.partition import Partition
    from kafkaviz.log.segment import Segment
    from kafkaviz.pipeline import batches, records, segments
    from kafkaviz.simulate.directory.simulation import Simulated, simulate

__version__ = "0.1.0"
__all__ = [
    "SAMPLES",
    "Broker",
    "BrokerComparison",
    "CannotOpen",
    "Compaction",
    "CorruptFile",
    "Finding",
    "Health",
    "KafkavizError",
    "Partition",
    "Segment",
    "Simulated",
    "batches",
    "check",
    "compaction",
    "compare",
    "lookup",
    "open_broker",
    "plot",
    "records",
    "segments",
    "simulate",
    "sweep",
]

_MODULE_BY_NAME = {
    "CannotOpen": "errors",
    "CorruptFile": "errors",
    "KafkavizError": "errors",
    "Broker": "log.broker",
    "open_broker": "log.broker",
    "Partition": "log.partition",
    "Segment": "log.segment",
    "SAMPLES": "environment",
    "Finding": "analysis.findings",
    "Health": "analysis.broker_health",
    "check": "analysis.broker_health",
    "Compaction": "analysis.compaction.compaction",
    "compaction": "analysis.compaction.compaction",
    "BrokerComparison": "analysis.comparison.comparison",
    "compare": "analysis.comparison.comparator",
    "lookup": "analysis.lookup",
    "sweep": "analysis.sweep",
    "batches": "pipeline",
    "records": "pipeline",
    "segments": "pipeline",
    "Simulated": "simulate.directory.simulation",
    "simulate": "simulate",
}


def __getattr__(name: str) -> object:
    """Imports a public name on its first use, so that `import kafkaviz` alone loads no numpy."""
    if name == "plot":
        return import_module(f"{__name__}.figures.plot")
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_MODULE_BY_NAME[name]}")
    return module if _MODULE_BY_NAME[name] == name else getattr(module, name)
