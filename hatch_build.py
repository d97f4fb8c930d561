"""Adds the app's pages and samples to the wheel; an editable install finds them in the checkout."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BESIDE = ("app.py", "pages", ".streamlit", "sample_data")


class FilesBesidePackage(BuildHookInterface):
    """Puts them where kafkaviz/environment.py looks, and Spark's modules at the top."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the files to a wheel that is to be installed elsewhere."""
        if version != "standard":
            return
        files = {name: f"kafkaviz/checkout/{name}" for name in BESIDE}
        # Spark looks for data sources in top-level modules whose names begin with pyspark_
        modules = Path(self.root, "distributions", "spark").glob("pyspark_kafka_*.py")
        files |= {f"distributions/spark/{path.name}": path.name for path in modules}
        build_data["force_include"].update(files)
