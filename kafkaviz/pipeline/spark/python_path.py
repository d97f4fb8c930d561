"""The import path of Spark's Python workers."""

import os
from collections.abc import Sequence


def without_archives(path: Sequence[str], spark_home: str) -> list[str]:
    """Removes Spark's archives from sys.path if pip has installed its pyspark unpacked there.

    Spark puts its archives first. Each process compiles modules from archives again, and searches
    the archives for every other module. Together, this takes 0.9 s of CPU time per start.

    Args:
        spark_home: Spark's folder, or "" if it is unknown; then the path stays unchanged.
    """
    if not spark_home:
        return list(path)
    home = os.path.realpath(spark_home)
    if not any(os.path.realpath(os.path.join(folder, "pyspark")) == home for folder in path):
        return list(path)
    return [entry for entry in path if not os.path.realpath(entry).startswith(home + os.sep)]
