"""The health of a topic-partition and of a broker directory: all findings, the worst first."""

from kafkaviz.analyse.finding import CODES, FAMILIES, SEVERITIES, Code, Evidence, Finding, counts, in_order

__all__ = ["CODES", "FAMILIES", "SEVERITIES", "Code", "Evidence", "Finding", "counts", "in_order"]
