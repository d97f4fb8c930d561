"""The command line runs the pipeline: its tests share the way to do without Spark."""

from tests.pipeline.conftest import in_process

__all__ = ["in_process"]
